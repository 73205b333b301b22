#include "degen/engines/tc/root_qdiscs.hh"

#include <fmt/format.h>
#include <net/if.h>

#include <cerrno>

#include "common/log.hh"

namespace longhaul::degen {

int index_of(const std::string& interface) {
  return static_cast<int>(if_nametoindex(interface.c_str()));
}

RootQdiscs::Present RootQdiscs::present() {
  Present present;
  socket_.dump(dump_qdiscs_message(), [&](const nlmsghdr& message) {
    if (auto facts = parse_qdisc(message); facts && facts->root()) present[facts->index] = std::move(*facts);
  });
  return present;
}

std::optional<QdiscFacts> RootQdiscs::find(const Present& present, int index) {
  const auto it = present.find(index);
  return it == present.end() ? std::nullopt : std::optional{it->second};
}

Result<void> RootQdiscs::check(const ImpairmentPlan& plan) {
  const auto roots = present();
  for (const auto& egress : plan.egresses) {
    const int index = index_of(egress.interface);
    if (index == 0) return refuse("{}: there is no such network interface", egress.interface);
    if (auto ok = check_root(egress.interface, find(roots, index)); !ok) return ok;
  }
  return {};
}

Removal RootQdiscs::remove(const std::string& interface) noexcept {
  try {
    const int index = index_of(interface);
    if (index == 0) return {};  // it went, and its qdisc with it
    const auto root = find(present(), index);
    if (judge_root(root) != RootState::ours) return {};
    const int error = socket_.request(delete_root_message(index));
    if (error == 0) return {.outcome = Removal::removed, .kind = root->kind};
    if (error == ENOENT || error == ENODEV) return {};
    log::error("{}: cannot remove degen's qdisc: {}", interface, errno_text(error));
  } catch (const std::exception& e) {
    log::error("{}: cannot remove degen's qdisc: {}", interface, e.what());
  }
  return {.outcome = Removal::failed, .kind = {}};
}

std::optional<std::string> RootQdiscs::missing(const std::vector<std::string>& interfaces) {
  if (interfaces.empty()) return {};
  const auto roots = present();
  for (const auto& interface : interfaces) {
    const int index = index_of(interface);
    if (index == 0) return fmt::format("{}: the interface is gone", interface);
    const auto root = find(roots, index);
    switch (judge_root(root)) {
      case RootState::ours:
        break;
      case RootState::vacant:
        return fmt::format("{}: degen's qdisc is gone: somebody removed it, or made the interface anew", interface);
      case RootState::foreign:
        return fmt::format("{}: a qdisc {} {:x}: stands in the place of degen's", interface, root->kind,
                           root->handle >> 16);
    }
  }
  return {};
}

}  // namespace longhaul::degen
