#include "workloads/protocols/peer.hh"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>
#include <sstream>

#include "common/json.hh"

namespace longhaul::workloads::peer {
namespace {

constexpr double kMegabyte = 8 * 1048576;  // perftest's, bits

std::string number(std::int64_t value) {
  return fmt::format("{}", value);
}

// Options that both ends of perftest need alike.
std::vector<std::string> perftest(const PeerRun& run) {
  const bool latency = run.measure == Measure::latency;
  std::vector<std::string> command{fmt::format("ib_{}_{}", run.op, latency ? "lat" : "bw"),
                                   "-F",
                                   "-d",
                                   run.device,
                                   "-p",
                                   number(run.port),
                                   "-s",
                                   number(run.size),
                                   "-n",
                                   number(run.messages)};
  if (!latency) command.insert(command.end(), {"-q", number(run.streams)});
  if (run.depth > 0) command.insert(command.end(), {"-t", number(run.depth)});
  if (run.sleeping) command.emplace_back("-e");
  if (run.iwarp) command.emplace_back("-R");  // iWARP connects by rdma_cm only
  return command;
}

std::int64_t seconds(const PeerRun& run) {
  return std::chrono::ceil<std::chrono::seconds>(run.duration).count();
}

// Of perftest's table: a column behind those of bytes and iterations, in the row of this size.
Result<double> column_of(std::string_view output, std::int64_t size, int column) {
  std::istringstream lines{std::string{output}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::int64_t bytes = 0;
    std::int64_t iterations = 0;
    if (!(fields >> bytes >> iterations) || bytes != size) continue;
    double value = 0;
    int at = -1;
    while (at < column && fields >> value) ++at;
    if (at == column) return value;
  }
  return fail("perftest printed no result: {}", output.substr(0, 400));
}

// iperf3's figure is the peer's word: a record with infinity in it could not be read again.
Result<double> figure(std::string_view tool, double value) {
  if (!std::isfinite(value) || value < 0) return fail("{} printed {}, which cannot have been measured", tool, value);
  return value;
}

}  // namespace

std::vector<std::string> peer_server(const PeerRun& run) {
  if (run.op != "stream") return perftest(run);
  if (run.measure == Measure::latency) return {"qperf", "-lp", number(run.port)};
  return {"iperf3", "-s", "-1", "-B", run.server, "-p", number(run.port)};
}

std::vector<std::string> peer_client(const PeerRun& run) {
  if (run.op == "stream" && run.measure == Measure::latency)
    return {"qperf", "-lp",      number(run.port), "-m", number(run.size), "-t", number(seconds(run)),
            "-vvu",  run.server, "tcp_lat"};
  if (run.op == "stream")
    return {"iperf3",
            "-c",
            run.server,
            "-B",
            run.local,
            "-p",
            number(run.port),
            "-l",
            number(run.size),
            "-P",
            number(run.streams),
            "-t",
            number(seconds(run)),
            "--json"};
  auto command = perftest(run);
  command.push_back(run.server);
  return command;
}

Result<double> read_peer(const PeerRun& run, std::string_view output) {
  if (run.measure == Measure::latency)
    return run.timed() ? read_qperf(output) : read_perftest_latency(output, run.size);
  return run.timed() ? read_iperf3(output) : read_perftest(output, run.size);
}

Result<double> read_iperf3(std::string_view output) {
  boost::system::error_code error;
  const auto document = read_json(output, error);
  if (error) return fail("iperf3 printed no JSON: {}", output.substr(0, 200));
  const auto* failure = document.is_object() ? document.as_object().if_contains("error") : nullptr;
  if (failure != nullptr && failure->is_string()) return fail("iperf3: {}", std::string_view{failure->as_string()});
  const auto* rate = document.find_pointer("/end/sum_received/bits_per_second", error);
  if (rate == nullptr || !rate->is_number()) return fail("iperf3 told nothing of what was received");
  return figure("iperf3", rate->to_number<double>());
}

Result<double> read_perftest(std::string_view output, std::int64_t size) {
  // #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]; of Gb/sec (--report_gbits) it tells two
  // digits, too
  return column_of(output, size, 1).and_then([](double average) { return figure("perftest", average * kMegabyte); });
}

Result<double> read_perftest_latency(std::string_view output, std::int64_t size) {
  // #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] ...
  return column_of(output, size, 2).and_then([](double typical) { return figure("perftest", typical * 1e3); });
}

Result<double> read_qperf(std::string_view output) {
  //     latency        =    208 us     (with -vvu: 208,123 ns and the like)
  std::istringstream words{std::string{output}};
  std::string word;
  while (words >> word) {
    if (word != "latency") continue;
    std::string equals;
    std::string digits;
    std::string unit;
    if (!(words >> equals >> digits >> unit) || equals != "=") break;
    std::erase(digits, ',');
    std::istringstream number{digits};
    double value = 0;
    if (!(number >> value)) break;
    for (const auto& [name, ns] : {std::pair{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"sec", 1e9}})
      if (unit == name) return figure("qperf", value * ns);
    break;
  }
  return fail("qperf printed no latency: {}", output.substr(0, 400));
}

}  // namespace longhaul::workloads::peer
