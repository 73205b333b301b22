// The root qdiscs of the router's interfaces: which are there, and the removal of degen's own.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "degen/engines/tc/netlink.hh"
#include "degen/engines/tc/qdisc_message.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

/// 0 when there is no such interface.
int index_of(const std::string& interface);

class RootQdiscs {
 public:
  /// Those that are there, by index of their interfaces. Throws std::system_error, as all here.
  using Present = std::map<int, QdiscFacts>;
  Present present();
  static std::optional<QdiscFacts> find(const Present& present, int index);

  /// Refuses an interface that does not exist, and a foreign root qdisc where `plan` needs the root.
  Result<void> check(const ImpairmentPlan& plan);

  /// Removes degen's root qdisc, whichever engine made it; returns its kind. Empty when there is none, or it cannot be
  /// removed (then it is logged).
  std::optional<std::string> remove(const std::string& interface);

  RouteSocket& socket() { return socket_; }

 private:
  RouteSocket socket_;
};

}  // namespace longhaul::degen
