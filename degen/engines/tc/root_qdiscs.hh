// The root qdiscs of the router's interfaces: which are there, and the removal of degen's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "degen/engines/tc/netlink.hh"
#include "degen/engines/tc/qdisc_message.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

/// 0 when there is no such interface.
int index_of(const std::string& interface);

/// What became of a removal.
struct Removal {
  enum Outcome {
    removed,
    absent,  ///< nothing of degen's stood there
    failed   ///< it is there still (logged)
  } outcome = absent;
  std::string kind;  ///< of the qdisc that was removed
};

class RootQdiscs {
 public:
  /// Those that are there, by index of their interfaces. Throws std::system_error, as all here.
  using Present = std::map<int, QdiscFacts>;
  Present present();
  static std::optional<QdiscFacts> find(const Present& present, int index);

  /// Refuses an interface that does not exist, and a foreign root qdisc where `plan` needs the root.
  Result<void> check(const ImpairmentPlan& plan);

  /// Removes degen's root qdisc, whichever engine made it.
  Removal remove(const std::string& interface) noexcept;

  /// Which of these interfaces has no root qdisc of degen's any more, and what became of it; empty: all have.
  std::optional<std::string> missing(const std::vector<std::string>& interfaces);

  RouteSocket& socket() { return socket_; }

 private:
  RouteSocket socket_;
};

}  // namespace longhaul::degen
