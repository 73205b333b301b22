// Agents that were connected, and described, before the machine was kept: a copy finds them so.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "orchestrator/run/control.hh"

namespace longhaul::orchestrator {

/// Connects through another dialer once, and hands out what it has. Its connections do not end with those who have
/// them.
class KeptDialer : public Dialer {
 public:
  explicit KeptDialer(Dialer& dialer) : dialer_(dialer) {}

  /// To all nodes; asks each for its facts, which hold for every copy.
  Awaitable<Result<std::map<std::string, NodeFacts>>> connect_all(Testbed testbed);

  /// From now on one that is lost is connected anew, and `act` is called once, when the run reaches `moment` (one of
  /// run_moments()). Without it a copy is not repaired: one that is lost is lost.
  void interfere(std::string moment, std::function<void()> act);

  Awaitable<Result<std::unique_ptr<NodeControl>>> connect(Node node) override;
  std::string hopeless() override;

 private:
  struct Kept {
    std::shared_ptr<NodeControl> control;
    NodeFacts facts;
  };
  class View;
  void reached(std::string_view moment);

  Dialer& dialer_;
  std::map<std::string, Kept> nodes_;
  bool repaired_ = false;
  std::string moment_;
  std::function<void()> act_;  // empty: done, or nothing to do
  bool closed_ = false;        // the run's window: what comes then comes after it
};

}  // namespace longhaul::orchestrator
