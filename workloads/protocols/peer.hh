// The tools that people use today, run in place of our own messages: iperf3 and qperf over tcp, perftest over RDMA.
// Commands and the reading of what they print are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/units.hh"

namespace longhaul::workloads::peer {

enum class Measure { throughput, latency };

struct PeerRun {
  Measure measure = Measure::throughput;
  std::string op;      ///< write, read, send; "stream": tcp
  std::string device;  ///< RDMA
  bool iwarp = false;
  std::string local;  ///< addresses
  std::string server;
  std::uint16_t port = 0;
  std::int64_t size = 0;
  std::int64_t streams = 1;
  std::int64_t depth = 0;     ///< 0: the tool's own
  Nanoseconds duration{};     ///< iperf3 and qperf take whole seconds
  std::int64_t messages = 0;  ///< perftest, on each stream
  bool sleeping = false;      ///< perftest: wait for events, do not spin (qperf always waits)

  /// Lasts for a time, whatever the number of messages.
  bool timed() const { return op == "stream"; }
};

std::vector<std::string> peer_server(const PeerRun& run);
std::vector<std::string> peer_client(const PeerRun& run);

/// Reads the value that a run printed: bit/s, or ns.
Result<double> read_peer(const PeerRun& run, std::string_view output);

/// Bit/s from `iperf3 --json`: what the receiver had.
Result<double> read_iperf3(std::string_view output);
/// Bit/s from perftest's table, where MB is 2^20 bytes: the average.
Result<double> read_perftest(std::string_view output, std::int64_t size);
/// ns from perftest's table of latencies: the typical one, which is its median. Half of a round trip; all of it for a
/// read.
Result<double> read_perftest_latency(std::string_view output, std::int64_t size);
/// ns from `qperf -vvu tcp_lat`: the mean of half a round trip. qperf tells no median.
Result<double> read_qperf(std::string_view output);

}  // namespace longhaul::workloads::peer
