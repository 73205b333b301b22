// Parameters and metrics of the latency workload: a ping-pong (or an RDMA read) of one message at a time.
#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::latency {

WorkloadSpec spec();

}  // namespace longhaul::workloads::latency
