// What a workload gives to the harness: its connections' plan and its two sides.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/harness/session.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

struct Runner {
  std::string workload;
  /// What it needs of its connections; unsupported when the combination makes no sense on this transport ("tcp",
  /// "rdma"). Pure. `parameters` are complete.
  std::function<Attempt<ConnectionPlan>(const WorkloadSpec& spec, const Parameters& parameters,
                                        std::string_view transport)>
      plan;
  /// The client's side: measures and returns the metrics. Throws.
  std::function<std::map<std::string, Metric>(ClientSession& session)> client;
  /// The server's side: returns when the client has closed the window, after its own verification. Throws.
  std::function<void(ServerSession& session)> server;
};

/// Every workload's runner; generated from LONGHAUL_WORKLOADS.
const std::vector<Runner>& runners();
const Runner* find_runner(std::string_view workload);

}  // namespace longhaul::workloads
