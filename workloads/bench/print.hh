// Output of longhaul-bench: a table for people, one JSON document for programs.
#pragma once

#include <string>

#include "model/parameter.hh"
#include "workloads/harness/client.hh"

namespace longhaul::workloads {

/// "RDMA write over rxe_a0 (rxe on a0) 10.10.0.1 -> 10.20.0.1", GID, MTU, queue and time-outs, one line each.
std::string describe_transport(const NodeRecord& record);

/// The percentiles of every metric, limits and CPU use; of a workload with two ends, and of one that runs alone.
std::string table(const WorkloadSpec& spec, const ClientResult& result);
std::string table(const WorkloadSpec& spec, const NodeRecord& alone);

/// {"client": record, "server": record, "summary": {metric: {"p50": ...}}}; {"local": record, ...}.
std::string document(const WorkloadSpec& spec, const ClientResult& result);
std::string document(const WorkloadSpec& spec, const NodeRecord& alone);

/// {"error": ..., "status": "failed" or "unsupported"}
std::string error_document(const RunFailure& failure);

}  // namespace longhaul::workloads
