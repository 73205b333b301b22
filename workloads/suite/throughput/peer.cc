#include "workloads/suite/throughput/peer.hh"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <sstream>

namespace longhaul::workloads::throughput {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::string number(std::int64_t value) {
  return fmt::format("{}", value);
}

// What both ends of perftest must be given alike.
std::vector<std::string> perftest(const PeerRun& run) {
  std::vector<std::string> command{fmt::format("ib_{}_bw", run.op),
                                   "-F",
                                   "--report_gbits",
                                   "-d",
                                   run.device,
                                   "-p",
                                   number(run.port),
                                   "-s",
                                   number(run.size),
                                   "-q",
                                   number(run.streams),
                                   "-n",
                                   number(run.messages)};
  if (run.depth > 0) command.insert(command.end(), {"-t", number(run.depth)});
  if (run.iwarp) command.emplace_back("-R");  // iWARP connects by rdma_cm only
  return command;
}

}  // namespace

std::vector<std::string> peer_server(const PeerRun& run) {
  if (run.op == "stream") return {"iperf3", "-s", "-1", "-B", run.server, "-p", number(run.port)};
  return perftest(run);
}

std::vector<std::string> peer_client(const PeerRun& run) {
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
            number((run.duration + kSecond - 1) / kSecond),
            "--json"};
  auto command = perftest(run);
  command.push_back(run.server);
  return command;
}

Result<double> read_iperf3(std::string_view output) {
  boost::system::error_code error;
  const auto document = boost::json::parse(output, error);
  if (error) return fail("iperf3 printed no JSON: {}", output.substr(0, 200));
  const auto* failure = document.is_object() ? document.as_object().if_contains("error") : nullptr;
  if (failure != nullptr && failure->is_string()) return fail("iperf3: {}", std::string_view{failure->as_string()});
  const auto* rate = document.find_pointer("/end/sum_received/bits_per_second", error);
  if (rate == nullptr || !rate->is_number()) return fail("iperf3 told nothing of what was received");
  return rate->to_number<double>();
}

Result<double> read_perftest(std::string_view output, std::int64_t size) {
  // #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]
  std::istringstream lines{std::string{output}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::int64_t bytes = 0;
    std::int64_t iterations = 0;
    double peak = 0;
    double average = 0;
    if (fields >> bytes >> iterations >> peak >> average && bytes == size) return average * 1e9;
  }
  return fail("perftest printed no result: {}", output.substr(0, 400));
}

}  // namespace longhaul::workloads::throughput
