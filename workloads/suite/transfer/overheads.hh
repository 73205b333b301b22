// The paper's T1, T2 and T3 on this machine (F2): the times that a conditional write would spare an application.
#pragma once

#include <map>
#include <string>

#include "model/record.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads::transfer {

/// Medians of a few tries, ns: completion_entry (where there are RDMA writes to try), wake_up, system_call. `scratch`:
/// where both ends' memory has a byte that means nothing. Nothing else may be under way on the connection.
std::map<std::string, Metric> measure_overheads(Connection& connection, std::size_t scratch);

}  // namespace longhaul::workloads::transfer
