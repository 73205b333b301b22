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
    if (!stays) remove(old.interface);
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

bool NetemEngine::remove(const std::string& interface) {
  const int index = index_of(interface);
  if (index == 0) return false;  // it went, and its qdisc with it
  const auto root = find(roots(), index);
  if (judge_root(root) != RootState::ours) return false;
  const int error = socket_.request(delete_message(index));
  if (error != 0 && error != ENOENT) log::error("{}: cannot remove degen's qdisc: {}", interface, errno_text(error));
  return error == 0;
}

void NetemEngine::clear() noexcept {
  for (const auto& qdisc : applied_) {
    try {
      remove(qdisc.interface);
    } catch (const std::exception& e) {
      log::error("{}: cannot remove degen's qdisc: {}", qdisc.interface, e.what());
    }
  }
  applied_.clear();
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

std::vector<std::string> NetemEngine::sweep(const std::vector<std::string>& interfaces) {
  std::vector<std::string> removed;
  for (const auto& interface : interfaces)
    if (remove(interface)) removed.push_back(fmt::format("netem qdisc {:x}: on {}", kOwnHandle, interface));
  return removed;
}

std::unique_ptr<Engine> netem::make_engine(const EngineOptions&) {
  return std::make_unique<NetemEngine>();
}

}  // namespace longhaul::degen
