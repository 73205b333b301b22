// Agents that were connected, and described, before the machine was kept: a copy finds them so.
#pragma once

#include <map>
#include <string>

#include "orchestrator/run/control.hh"

namespace longhaul::orchestrator {

/// Connects through another dialer once, and hands out what it has. Its connections do not end with those who have
/// them.
class KeptDialer : public Dialer {
 public:
  explicit KeptDialer(Dialer& dialer) : dialer_(dialer) {}

  /// To all nodes; asks each for its facts, which hold for every copy.
  Awaitable<Result<std::map<std::string, NodeFacts>>> connect_all(Testbed testbed);

  Awaitable<Result<std::unique_ptr<NodeControl>>> connect(Node node) override;
  /// One that is lost is lost: a copy is not repaired.
  std::string hopeless() override;

 private:
  struct Kept {
    std::shared_ptr<NodeControl> control;
    NodeFacts facts;
  };
  class View;
  Dialer& dialer_;
  std::map<std::string, Kept> nodes_;
};

}  // namespace longhaul::orchestrator
