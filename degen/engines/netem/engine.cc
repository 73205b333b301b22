#include "degen/engines/netem/engine.hh"

#include <algorithm>
#include <cerrno>

#include "common/log.hh"

namespace longhaul::degen {

NetemEngine::~NetemEngine() {
  NetemEngine::clear();
}

Result<void> NetemEngine::check(const ImpairmentPlan& plan) {
  return roots_.check(plan);
}

Result<void> NetemEngine::apply(const ImpairmentPlan& plan) {
  if (auto ok = check(plan); !ok) return ok;
  // Objects that the plan no longer names go first; the others are changed in place and keep their packets.
  for (const auto& old : applied_) {
    const bool stays = std::any_of(plan.egresses.begin(), plan.egresses.end(),
                                   [&](const auto& egress) { return egress.interface == old.interface; });
    if (!stays) roots_.remove(old.interface);
  }
  const auto qdiscs = netem::qdiscs_of(plan);
  applied_ = qdiscs;
  const auto present = roots_.present();
  for (const auto& qdisc : qdiscs) {
    const int index = index_of(qdisc.interface);
    const bool ours = judge_root(RootQdiscs::find(present, index)) == RootState::ours;
    const int error =
        roots_.socket().request(netem_message(index, qdisc, ours ? QdiscRequest::change : QdiscRequest::create));
    if (error == 0) continue;
    clear();
    if (error == ENOENT) return fail("{}: this kernel has no netem (module sch_netem)", qdisc.interface);
    return fail("{}: the kernel refused netem: {}", qdisc.interface, errno_text(error));
  }
  return {};
}

void NetemEngine::clear() noexcept {
  for (const auto& qdisc : applied_) {
    try {
      roots_.remove(qdisc.interface);
    } catch (const std::exception& e) {
      log::error("{}: cannot remove degen's qdisc: {}", qdisc.interface, e.what());
    }
  }
  applied_.clear();
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

std::vector<std::string> NetemEngine::sweep(const std::vector<std::string>& interfaces) {
  std::vector<std::string> removed;
  for (const auto& interface : interfaces)
    if (const auto kind = roots_.remove(interface))
      removed.push_back(fmt::format("{} qdisc {:x}: on {}", *kind, kOwnHandle, interface));
  return removed;
}

std::unique_ptr<Engine> netem::make_engine(const EngineOptions&) {
  return std::make_unique<NetemEngine>();
}

}  // namespace longhaul::degen
