// The interface of a workload to the harness: the plan of its connections and its two sides; or its local run.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/harness/local.hh"
#include "workloads/harness/session.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/sizing.hh"

namespace longhaul::workloads {

/// A workload of the role local has only `local`, all others the rest.
struct Runner {
  std::string workload;
  const WorkloadSpec* spec = nullptr;  ///< of the catalog: whoever lists the runners sets it
  /// The plan of its connections at either end; unsupported when the combination makes no sense on this
  /// transport. Pure. `parameters` are complete.
  std::function<Attempt<ConnectionPlan>(const WorkloadSpec& spec, const Parameters& parameters,
                                        std::string_view transport, Role role)>
      plan;
  /// Chooses, at the client, the values of parameters that the path decides (their value is 0 then). The server gets
  /// what it returns, and both ends make their plans of it. What it changes of parameter NAME is the record's metric
  /// chosen_NAME. `path` looks at the path: it is asked only where a parameter is chosen. Empty: there are none.
  std::function<Parameters(const WorkloadSpec& spec, Parameters parameters, std::string_view transport,
                           const std::function<PathFacts()>& path)>
      settle = {};
  /// The client's side: measures and returns the metrics. Throws.
  std::function<std::map<std::string, Metric>(ClientSession& session)> client;
  /// The server's side: returns when the client has closed the window, after its own verification, with what it
  /// measured itself. Throws.
  std::function<std::map<std::string, Metric>(ServerSession& session)> server;
  /// The one side of a workload that runs alone: measures and returns the metrics. Throws.
  std::function<std::map<std::string, Metric>(LocalSession& session)> local = {};
};

/// What settle() changed, as metrics.
std::map<std::string, Metric> chosen(const Parameters& asked, const Parameters& settled);

/// The common part of every workload's plan, from its parameters: what the transport must have (the spec's needs), the
/// congestion control, what is left out of the record.
void adapt(ConnectionPlan& plan, const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport);

/// By its workload's name; nullptr when there is none.
const Runner* find_runner(const std::vector<Runner>& runners, std::string_view workload);

}  // namespace longhaul::workloads
