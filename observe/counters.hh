// Counters that explain a result: TCP's own (TCP_INFO) and the RDMA device's (sysfs hw_counters).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace longhaul::observe {

using Counters = std::map<std::string, double>;

/// Counters of a TCP connection since its start: segments, retransmissions, bytes, time limited by each window.
/// Throws std::system_error when `fd` is not a TCP socket.
Counters tcp_counters(int fd);

/// Its state now: tcp_rtt_us, tcp_rtt_var_us, tcp_rto_us, tcp_cwnd ...
Counters tcp_gauges(int fd);

/// The hardware counters of an RDMA device's port, by their names in sysfs; empty when the driver has none.
/// One file each: takes up to a millisecond on an emulated processor.
Counters rdma_counters(const std::string& device, int port = 1);

/// The number of times that TCP has run short of memory in this network namespace (tcp_mem, tcp(7)); each time
/// every window shrinks to a few segments, and grows again slowly. 0 where the kernel does not tell.
std::int64_t tcp_memory_pressures();
/// The same from the text of /proc/net/netstat. Pure.
std::int64_t tcp_memory_pressures(std::string_view netstat);

/// after - before, of those that are in both; those that did not move are left out.
Counters difference(const Counters& after, const Counters& before);

}  // namespace longhaul::observe
