#pragma once

#include "model/parameter.hh"

namespace longhaul::workloads::packets {

/// Bytes of a datagram that say which one it is.
inline constexpr std::int64_t kHeader = 32;

/// The workload's one declaration.
WorkloadSpec spec();

}  // namespace longhaul::workloads::packets
