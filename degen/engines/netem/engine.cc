#include "degen/engines/netem/engine.hh"

#include <net/if.h>

#include <algorithm>
#include <cerrno>

#include "common/log.hh"

namespace longhaul::degen {
namespace {

std::optional<QdiscFacts> find(const std::map<int, QdiscFacts>& roots, int index) {
  const auto it = roots.find(index);
  return it == roots.end() ? std::nullopt : std::optional{it->second};
}

int index_of(const std::string& interface) {
  return static_cast<int>(if_nametoindex(interface.c_str()));
}

}  // namespace

NetemEngine::~NetemEngine() {
  NetemEngine::clear();
}

std::map<int, QdiscFacts> NetemEngine::roots() {
  std::map<int, QdiscFacts> roots;
  socket_.dump(dump_message(), [&](const nlmsghdr& message) {
    if (auto facts = parse_qdisc(message); facts && facts->root()) roots[facts->index] = std::move(*facts);
  });
  return roots;
}

Result<void> NetemEngine::check(const ImpairmentPlan& plan) {
  const auto present = roots();
  for (const auto& egress : plan.egresses) {
    const int index = index_of(egress.interface);
    if (index == 0) return refuse("{}: there is no such network interface", egress.interface);
    if (auto ok = check_root(egress.interface, find(present, index)); !ok) return ok;
  }
  return {};
}

Result<void> NetemEngine::apply(const ImpairmentPlan& plan) {
  if (auto ok = check(plan); !ok) return ok;
  // Objects that the plan no longer names go first; the others are changed in place and keep their packets.
  for (const auto& old : applied_) {
    const bool stays = std::any_of(plan.egresses.begin(), plan.egresses.end(),
                                   [&](const auto& egress) { return egress.interface == old.interface; });
    if (!stays && remove(old.interface) == Removal::failed)
      return fail("{}: degen's qdisc could not be removed (see degen's log)", old.interface);
  }
  const auto qdiscs = netem::qdiscs_of(plan);
  applied_ = qdiscs;
  const auto present = roots();
  for (const auto& qdisc : qdiscs) {
    const int index = index_of(qdisc.interface);
    const bool ours = judge_root(find(present, index)) == RootState::ours;
    const int error = socket_.request(netem_message(index, qdisc, ours ? QdiscRequest::change : QdiscRequest::create));
    if (error == 0) continue;
    clear();
    if (error == ENOENT) return fail("{}: this kernel has no netem (module sch_netem)", qdisc.interface);
    return fail("{}: the kernel refused netem: {}", qdisc.interface, errno_text(error));
  }
  return {};
}

NetemEngine::Removal NetemEngine::remove(const std::string& interface) noexcept {
  try {
    const int index = index_of(interface);
    if (index == 0) return Removal::absent;  // it went, and its qdisc with it
    if (judge_root(find(roots(), index)) != RootState::ours) return Removal::absent;
    const int error = socket_.request(delete_message(index));
    if (error == 0) return Removal::removed;
    if (error == ENOENT || error == ENODEV) return Removal::absent;
    log::error("{}: cannot remove degen's qdisc: {}", interface, errno_text(error));
  } catch (const std::exception& e) {
    log::error("{}: cannot remove degen's qdisc: {}", interface, e.what());
  }
  return Removal::failed;
}

bool NetemEngine::clear() noexcept {
  bool gone = true;
  for (const auto& qdisc : applied_) gone = remove(qdisc.interface) != Removal::failed && gone;
  applied_.clear();
  return gone;
}

std::optional<std::string> NetemEngine::missing() {
  if (applied_.empty()) return {};
  const auto present = roots();
  for (const auto& qdisc : applied_) {
    const int index = index_of(qdisc.interface);
    if (index == 0) return fmt::format("{}: the interface is gone", qdisc.interface);
    const auto root = find(present, index);
    switch (judge_root(root)) {
      case RootState::ours:
        break;
      case RootState::vacant:
        return fmt::format("{}: degen's qdisc is gone: somebody removed it, or made the interface anew",
                           qdisc.interface);
      case RootState::foreign:
        return fmt::format("{}: a qdisc {} {:x}: stands in the place of degen's", qdisc.interface, root->kind,
                           root->handle >> 16);
    }
  }
  return {};
}

Counters NetemEngine::counters(Way way) {
  Counters counters;
  if (applied_.empty()) return counters;
  const auto present = roots();
  for (const auto& qdisc : applied_) {
    if (qdisc.way != way) continue;
    const auto root = find(present, index_of(qdisc.interface));
    if (judge_root(root) == RootState::ours) counters.dropped += root->drops;
  }
  return counters;
}

Swept NetemEngine::sweep(const std::vector<std::string>& interfaces) {
  Swept swept;
  for (const auto& interface : interfaces) {
    const auto removal = remove(interface);
    if (removal == Removal::removed)
      swept.removed.push_back(fmt::format("netem qdisc {:x}: on {}", kOwnHandle, interface));
    if (removal == Removal::failed) swept.clean = false;
  }
  return swept;
}

std::unique_ptr<Engine> netem::make_engine(const EngineOptions&) {
  return std::make_unique<NetemEngine>();
}

}  // namespace longhaul::degen
