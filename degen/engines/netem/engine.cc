#include "degen/engines/netem/engine.hh"

#include <algorithm>
#include <cerrno>

#include "common/log.hh"
#include "degen/engines/clock.hh"
#include "degen/engines/tc/kernel_release.hh"

namespace longhaul::degen {

NetemEngine::~NetemEngine() {
  NetemEngine::clear();
}

NetemEngine::NetemEngine() : release_(kernel_release()) {}

Result<void> NetemEngine::check(const ImpairmentPlan& plan) {
  if (auto ok = netem::check_seed(plan, release_); !ok) return ok;
  return roots_.check(plan);
}

Result<void> NetemEngine::apply(const ImpairmentPlan& plan) {
  if (auto ok = check(plan); !ok) return ok;
  // Objects that the plan no longer names go first; the others are changed in place and keep their packets.
  for (const auto& old : applied_) {
    const bool stays = std::any_of(plan.egresses.begin(), plan.egresses.end(),
                                   [&](const auto& egress) { return egress.interface == old.interface; });
    if (!stays && roots_.remove(old.interface).outcome == Removal::failed)
      return fail("{}: degen's qdisc could not be removed (see degen's log)", old.interface);
  }
  plan_ = plan;
  begin_ = read_clock(CLOCK_MONOTONIC);
  applied_ = netem::qdiscs_of(plan, draws_by_seed());
  auto done = put(applied_);
  if (!done) clear();
  return done;
}

Result<void> NetemEngine::put(const std::vector<NetemQdisc>& qdiscs) {
  const auto present = roots_.present();
  for (const auto& qdisc : qdiscs) {
    const int index = index_of(qdisc.interface);
    const bool ours = judge_root(RootQdiscs::find(present, index)) == RootState::ours;
    const int error =
        roots_.socket().request(netem_message(index, qdisc, ours ? QdiscRequest::change : QdiscRequest::create));
    if (error == 0) continue;
    if (error == ENOENT) return fail("{}: this kernel has no netem (module sch_netem)", qdisc.interface);
    return fail("{}: the kernel refused netem: {}", qdisc.interface, errno_text(error));
  }
  return {};
}

// The next step of a schedule.
std::optional<Nanoseconds> NetemEngine::renew() {
  if (applied_.empty()) return {};
  const auto since = read_clock(CLOCK_MONOTONIC) - begin_;
  auto qdiscs = netem::qdiscs_of(plan_, draws_by_seed(), since);
  std::vector<NetemQdisc> changed;
  for (std::size_t i = 0; i < qdiscs.size(); ++i)
    if (qdiscs[i] != applied_[i]) changed.push_back(qdiscs[i]);
  // What a stranger has removed is not made again: whoever looks for it finds it missing, and the run is refused.
  if (!changed.empty() && !missing()) {
    if (auto done = put(changed); !done) throw std::runtime_error(done.error().message);
    applied_ = std::move(qdiscs);
  }
  const auto next = netem::next_change(plan_, since);
  if (!next) return {};
  return *next - since;
}

bool NetemEngine::clear() noexcept {
  bool gone = true;
  for (const auto& qdisc : applied_) gone = roots_.remove(qdisc.interface).outcome != Removal::failed && gone;
  applied_.clear();
  plan_ = {};
  return gone;
}

std::optional<std::string> NetemEngine::missing() {
  std::vector<std::string> interfaces;
  for (const auto& qdisc : applied_) interfaces.push_back(qdisc.interface);
  return roots_.missing(interfaces);
}

bool NetemEngine::draws_by_seed() const {
  return netem::draws_by_seed(release_);
}

Counters NetemEngine::counters(Way way) {
  Counters counters;
  if (applied_.empty()) return counters;
  const auto present = roots_.present();
  for (const auto& qdisc : applied_) {
    if (qdisc.way != way) continue;
    const auto root = RootQdiscs::find(present, index_of(qdisc.interface));
    if (judge_root(root) == RootState::ours) counters.dropped += root->drops;
  }
  return counters;
}

Swept NetemEngine::sweep(const std::vector<std::string>& interfaces) {
  Swept swept;
  for (const auto& interface : interfaces) {
    const auto removal = roots_.remove(interface);
    if (removal.outcome == Removal::removed)
      swept.removed.push_back(fmt::format("{} qdisc {:x}: on {}", removal.kind, kOwnHandle, interface));
    if (removal.outcome == Removal::failed) swept.clean = false;
  }
  return swept;
}

std::unique_ptr<Engine> netem::make_engine(const EngineOptions&) {
  return std::make_unique<NetemEngine>();
}

}  // namespace longhaul::degen
