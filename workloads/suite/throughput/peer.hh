// The tools that people use today, run in place of our own streams: iperf3 over tcp, perftest over RDMA. Commands and
// the reading of what they print are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"

namespace longhaul::workloads::throughput {

struct PeerRun {
  std::string op;      ///< write, read, send; "stream": tcp
  std::string device;  ///< RDMA
  bool iwarp = false;
  std::string local;  ///< addresses
  std::string server;
  std::uint16_t port = 0;
  std::int64_t size = 0;
  std::int64_t streams = 1;
  std::int64_t depth = 0;     ///< 0: the tool's own
  std::int64_t duration = 0;  ///< ns; iperf3 takes whole seconds
  std::int64_t messages = 0;  ///< perftest, on each stream
};

std::vector<std::string> peer_server(const PeerRun& run);
std::vector<std::string> peer_client(const PeerRun& run);

/// Bit/s from `iperf3 --json`: what the receiver had.
Result<double> read_iperf3(std::string_view output);
/// Bit/s from perftest's table (--report_gbits): the average.
Result<double> read_perftest(std::string_view output, std::int64_t size);

}  // namespace longhaul::workloads::throughput
