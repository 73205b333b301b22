// The connected nodes of a testbed: connected before anything starts, connected again when an agent had died.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/run/control.hh"
#include "orchestrator/run/links.hh"

namespace longhaul::orchestrator {

class Nodes {
 public:
  /// `stopped` is polled while waiting. `token`: of all probes. All references must outlive this.
  Nodes(const Testbed& testbed, Dialer& dialer, std::string token, std::function<bool()> stopped)
      : testbed_(testbed), dialer_(dialer), token_(std::move(token)), stopped_(std::move(stopped)) {}

  /// Connects whoever is not connected, trying again until `timeout`. Newly connected nodes have told their facts and
  /// echo at the addresses given to echo_at(). Returns the names of those that were connected anew.
  Awaitable<Result<std::vector<std::string>>> ensure(Nanoseconds timeout);

  bool all_connected() const;
  bool connected(const std::string& node) const;

  /// The addresses of a node that answer probes, from the next ensure() on.
  void echo_at(const std::string& node, std::set<std::string> addresses) { echoes_[node] = std::move(addresses); }

  /// Connected ones only; throws std::out_of_range for others. Shared, because a task may outlive a reconnection.
  std::shared_ptr<NodeControl> at(const std::string& node) const { return controls_.at(node); }
  const std::map<std::string, NodeFacts>& facts() const { return facts_; }

  /// Has the link's client, a connected one, send probes to where its server echoes.
  Awaitable<Result<agents::ProbeResult>> probe(const Link& link, std::int64_t count, Nanoseconds interval,
                                               Nanoseconds timeout);

  Awaitable<void> close();

 private:
  Awaitable<Result<void>> connect(const Node& node, Nanoseconds timeout);

  const Testbed& testbed_;
  Dialer& dialer_;
  std::string token_;
  std::function<bool()> stopped_;
  std::map<std::string, std::shared_ptr<NodeControl>> controls_;
  std::map<std::string, NodeFacts> facts_;
  std::uint64_t probings_ = 0;  // so that each has times of its own, and a repeated campaign the same ones
  std::map<std::string, std::set<std::string>> echoes_;
};

}  // namespace longhaul::orchestrator
