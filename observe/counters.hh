// Counters that explain a result: TCP's own (TCP_INFO) and the RDMA device's (sysfs hw_counters).
#pragma once

#include <map>
#include <string>

namespace longhaul::observe {

using Counters = std::map<std::string, double>;

/// What a TCP connection has counted since its start: segments, retransmissions, bytes, time limited by each window.
/// Throws std::system_error when `fd` is not a TCP socket.
Counters tcp_counters(int fd);

/// Its state now: tcp_rtt_us, tcp_rtt_var_us, tcp_rto_us, tcp_cwnd ...
Counters tcp_gauges(int fd);

/// The hardware counters of an RDMA device's port, by their names in sysfs; empty when the driver has none.
/// One file each: takes up to a millisecond on an emulated processor.
Counters rdma_counters(const std::string& device, int port = 1);

/// after - before, of those that are in both; those that did not move are left out.
Counters difference(const Counters& after, const Counters& before);

}  // namespace longhaul::observe
