#include "observe/counters.hh"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "common/error.hh"
#include "observe/fields.hh"
#include "observe/small_file.hh"

namespace longhaul::observe {
namespace {

tcp_info read_tcp_info(int fd) {
  tcp_info info{};  // an older kernel fills less of it: the rest stays 0
  socklen_t size = sizeof info;
  check(::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), "read TCP_INFO");
  return info;
}

}  // namespace

Counters tcp_counters(int fd) {
  const auto info = read_tcp_info(fd);
  return {
      {"tcp_segments_out", info.tcpi_segs_out},
      {"tcp_segments_in", info.tcpi_segs_in},
      {"tcp_bytes_sent", static_cast<double>(info.tcpi_bytes_sent)},
      {"tcp_bytes_received", static_cast<double>(info.tcpi_bytes_received)},
      {"tcp_bytes_retransmitted", static_cast<double>(info.tcpi_bytes_retrans)},
      {"tcp_retransmits", info.tcpi_total_retrans},
      {"tcp_duplicate_sacks", info.tcpi_dsack_dups},
      {"tcp_reorder_seen", info.tcpi_reord_seen},
      {"tcp_busy_us", static_cast<double>(info.tcpi_busy_time)},
      {"tcp_receive_window_limited_us", static_cast<double>(info.tcpi_rwnd_limited)},
      {"tcp_send_buffer_limited_us", static_cast<double>(info.tcpi_sndbuf_limited)},
  };
}

Counters tcp_gauges(int fd) {
  const auto info = read_tcp_info(fd);
  return {
      {"tcp_rtt_us", info.tcpi_rtt}, {"tcp_rtt_var_us", info.tcpi_rttvar}, {"tcp_min_rtt_us", info.tcpi_min_rtt},
      {"tcp_rto_us", info.tcpi_rto}, {"tcp_cwnd", info.tcpi_snd_cwnd},     {"tcp_mss", info.tcpi_snd_mss},
  };
}

std::int64_t tcp_memory_pressures() {
  return tcp_memory_pressures(small_file("/proc/net/netstat").value_or(""));
}

// Two lines a protocol, names and numbers, both begun by "TcpExt:".
std::int64_t tcp_memory_pressures(std::string_view netstat) {
  std::string_view names;
  while (!netstat.empty()) {
    auto line = take_line(netstat);
    if (!line.starts_with("TcpExt:")) continue;
    if (names.empty()) {
      names = line;
      continue;
    }
    while (!names.empty()) {
      const auto name = take_field(names);
      const auto number = take_field(line);
      std::int64_t value = 0;
      if (name == "TCPMemoryPressures" &&
          std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc{})
        return value;
    }
    break;
  }
  return 0;
}

Counters rdma_counters(const std::string& device, int port) {
  namespace fs = std::filesystem;
  Counters counters;
  std::error_code ignored;  // no such folder: this driver counts nothing
  for (const auto& entry :
       fs::directory_iterator(fmt::format("/sys/class/infiniband/{}/ports/{}/hw_counters", device, port), ignored)) {
    const auto name = entry.path().filename().string();
    double value = 0;
    if (name != "lifespan" && std::ifstream{entry.path()} >> value) counters.emplace(name, value);
  }
  return counters;
}

Counters difference(const Counters& after, const Counters& before) {
  Counters moved;
  for (const auto& [name, value] : after) {
    const auto it = before.find(name);
    if (it != before.end() && value != it->second) moved.emplace(name, value - it->second);
  }
  return moved;
}

}  // namespace longhaul::observe
