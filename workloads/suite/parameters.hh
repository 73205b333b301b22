// Parameters that several workloads have, each said once. A default never changes once released (cell identity).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/parameter.hh"

namespace longhaul::workloads {

ParameterSpec size_parameter(std::int64_t fallback);
/// RDMA operations of a ping-pong; `choices` of them.
ParameterSpec op_parameter(std::vector<std::string> choices);
ParameterSpec completion_parameter();
ParameterSpec verify_parameter();
/// Which bytes messages have: see payload_of() in protocols/payload.
ParameterSpec payload_parameter();

/// strategy and capacity: how an application's buffers are registered; and what that is measured by.
std::vector<ParameterSpec> strategy_parameters();
std::vector<MetricSpec> strategy_metrics();

/// `own`, then those.
std::vector<MetricSpec> with_strategy(std::vector<MetricSpec> own);

/// reuse, buffers and payload: which of its buffers an application uses next, besides `size`, and what is in them.
std::vector<ParameterSpec> reuse_parameters();

/// duration, warmup, min_samples, timeout and congestion_control: what the harness itself asks for.
std::vector<ParameterSpec> harness_parameters();

/// `own`, then what the application's buffers are and how they are registered, then the harness's.
std::vector<ParameterSpec> with_buffers(std::vector<ParameterSpec> own);

/// The workload's own first, then the harness's.
std::vector<ParameterSpec> with_harness(std::vector<ParameterSpec> own);

/// Capabilities that a ping-pong by the parameters `transport`, `op` and `completion` needs.
std::vector<Capability> ping_pong_needs(const Parameters& parameters);

/// True if the cell's transport is a byte stream; then `op` means nothing.
bool streams(const Parameters& parameters);

/// True if the cell's ends sleep until there is something (`completion`).
bool sleeps(const Parameters& parameters);

/// The operation that moves its messages: "stream", or the parameter `op`.
std::string operation_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport);

/// One-way delays of a cell, ns; `back` is `forward` where it is not given.
struct Delays {
  std::int64_t forward = 0;
  std::int64_t back = 0;
  double round_trip() const { return static_cast<double>(forward + back); }
};
Delays delays_of(const Parameters& parameters);

}  // namespace longhaul::workloads
