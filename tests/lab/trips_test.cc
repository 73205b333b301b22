// Round trips of an operation across a long path, by the virtual clock: what an operation takes beyond its trips is
// what the ends and the link take, some per cent of them.
#include <array>
#include <map>

#include "tests/lab/sealed_runs.hh"

namespace longhaul::testing {
namespace {

constexpr const char* kFarAway = R"(name: trips
experiments:
  - workload: nfs
    series: [{transport: tcp, rival: rxe}, {transport: rdma, provider: rxe}]
    axes: {procedure: [read, write]}
    fixed: {size: 32KiB, delay: 50ms, duration: 200ms, min_samples: 2}
  - workload: rpc
    series: [{transport: rdma, provider: rxe}, {transport: rdma, provider: siw}]
    axes: {design: [read-write, read-read]}
    fixed: {procedure: read, size: 8KiB, delay: 50ms, duration: 200ms, min_samples: 2}
  - workload: rpc
    series: [{transport: rdma, provider: rxe}, {transport: rdma, provider: siw}]
    axes: {design: [read-write, push]}
    fixed: {procedure: write, size: 8KiB, delay: 50ms, duration: 200ms, min_samples: 2}
  - workload: rpc
    series: [{transport: rdma, provider: rxe}, {transport: rdma, provider: siw}, {transport: tcp, rival: rxe}]
    axes: {procedure: [read, write], completion: [event]}
    fixed: {size: 8KiB, threads: 4, delay: 10ms, duration: 200ms}
  - workload: rpc
    series: [{transport: rdma, provider: rxe}]
    axes: {strategy: [fast], completion: [event]}
    fixed: {size: 8KiB, delay: 10ms, duration: 200ms}
  - workload: rpc
    series: [{transport: rdma, provider: rxe}]
    axes: {strategy: [fast], invalidation: [remote], completion: [event]}
    fixed: {size: 8KiB, threads: 4, delay: 10ms, duration: 200ms}
  - workload: nfs
    series: [{transport: rdma, provider: rxe}]
    axes: {completion: [event]}
    fixed: {size: 8KiB, threads: 4, delay: 10ms, duration: 200ms}
  - workload: rpc
    series: [{transport: rdma, provider: siw}]
    axes: {procedure: [read, write], completion: [event]}
    fixed: {size: 128KiB, threads: 4, delay: 5ms, duration: 200ms}
  - workload: nfs
    series: [{transport: rdma, provider: siw}]
    axes: {procedure: [read, write], completion: [event]}
    fixed: {size: 128KiB, threads: 4, delay: 5ms, duration: 200ms}
  - workload: rpc
    series: [{transport: rdma, provider: rxe}, {transport: rdma, provider: siw}]
    axes: {design: [read-write, read-read, push], ahead: [0, 7]}
    fixed: {procedure: read, size: 8KiB, delay: 40ms, duration: 300ms, min_samples: 4}
  - workload: rpc
    series: [{transport: tcp, rival: rxe}]
    axes: {ahead: [0, 7]}
    fixed: {procedure: read, size: 8KiB, delay: 40ms, duration: 300ms, min_samples: 4}
  - workload: transfer
    series: [{transport: rdma, provider: rxe}]
    axes: {protocol: [frrwp, frrwp+crw], compute: [40ms]}
    fixed: {strategy: each-time, size: 4KiB, delay: 5ms, min_samples: 10}
  - workload: transfer
    series: [{transport: rdma, provider: rxe}]
    axes: {protocol: [advertised]}
    fixed: {strategy: each-time, size: 4KiB, delay: 5ms, min_samples: 10}
  - workload: latency
    series: [{transport: rdma, provider: siw}]
    axes: {op: [write, send], tool: [own, peer]}
    fixed: {size: 16KiB}
repeat: {min: 1, max: 1}
)";
constexpr std::size_t kCells = 4 + 4 + 4 + 6 + 2 + 1 + 2 + 2 + 12 + 2 + 2 + 1 + 4;

class Trips : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runs_ = sealed_runs(kFarAway);
    ASSERT_EQ(runs_.size(), kCells);
    for (const auto& run : runs_) EXPECT_EQ(run.status, Status::ok) << name(run) << ": " << run.message;
  }

  static std::vector<const RunRecord*> of(const std::string& workload, std::int64_t delay) {
    std::vector<const RunRecord*> found;
    for (const auto& run : runs_)
      if (run.workload == workload && integer_of(run.parameters, "delay") == delay) found.push_back(&run);
    return found;
  }
  static std::string choice(const RunRecord& run, const char* parameter, const char* fallback) {
    return choice_of(run.parameters, parameter, fallback);
  }
  static bool writes(const RunRecord& run) { return choice(run, "procedure", "read") == "write"; }

 private:
  static inline std::vector<RunRecord> runs_;
};

constexpr std::int64_t kOneWay = 50'000'000;

// Over sockets a call and its reply; over RDMA the server reads what WRITE brings: two trips more.
TEST_F(Trips, OfTheKernelsNfs) {
  const auto runs = of("nfs", kOneWay);
  ASSERT_EQ(runs.size(), 4U);
  for (const auto* run : runs) {
    const auto trips = writes(*run) && choice(*run, "transport", "") == "rdma" ? 4 : 2;
    EXPECT_GE(metric(*run, "operation"), trips * kOneWay) << name(*run);
    EXPECT_LT(metric(*run, "operation"), 1.1 * trips * kOneWay) << name(*run);
  }
}

// Read-Read's client reads what READ brings, Read-Write's server what WRITE brings; push has memory at hand.
TEST_F(Trips, OfRpcByItsDesigns) {
  const std::map<std::pair<std::string, bool>, int> expected{
      {{"read-write", false}, 2}, {{"read-read", false}, 4}, {{"read-write", true}, 4}, {{"push", true}, 2}};
  const auto runs = of("rpc", kOneWay);
  ASSERT_EQ(runs.size(), 8U);
  for (const auto* run : runs) {
    const auto trips = expected.at({choice(*run, "design", "read-write"), writes(*run)});
    EXPECT_EQ(metric(*run, "trips"), trips) << name(*run);
    EXPECT_GE(metric(*run, "operation"), trips * kOneWay) << name(*run);
    EXPECT_LT(metric(*run, "operation"), 1.05 * trips * kOneWay) << name(*run);
  }
}

// Ends that sleep until they are told miss nothing (what is missed is found 50 ms later), and leave the processor
// alone. Windows that the client itself closes have one thread: of several, one waits for another's acknowledgement
// (docs/rpc.md), whether they sleep or not.
TEST_F(Trips, WhoSleepsIsWoken) {
  constexpr std::int64_t kDelay = 10'000'000;
  auto runs = of("rpc", kDelay);
  for (const auto* run : of("nfs", kDelay)) runs.push_back(run);
  ASSERT_EQ(runs.size(), 9U);
  for (const auto* run : runs) {
    const auto trips = writes(*run) && choice(*run, "transport", "") == "rdma" ? 4 : 2;
    EXPECT_GE(metric(*run, "operation"), trips * kDelay) << name(*run);
    EXPECT_LT(metric(*run, "operation"), 1.2 * trips * kDelay) << name(*run);
    for (const auto& [node, record] : run->nodes) {
      if (!record.cpu) continue;
      EXPECT_LT(static_cast<double>(record.cpu->process_user + record.cpu->process_system),
                0.25 * static_cast<double>(record.cpu->wall))
          << name(*run) << " " << node;
    }
  }
}

// What siw sends for an end, answers to RDMA reads or all that the kernel sends, is work of that end's own processor:
// the client sends what a WRITE brings, the server what a READ gives.
TEST_F(Trips, SiwSendsFromItsNodesProcessor) {
  auto runs = of("rpc", 5'000'000);
  for (const auto* run : of("nfs", 5'000'000)) runs.push_back(run);
  ASSERT_EQ(runs.size(), 4U);
  for (const auto* run : runs) {
    const auto system = [&](const char* node) {
      const auto& cpu = run->nodes.at(node).cpu;
      return cpu ? static_cast<double>(cpu->node_system) / static_cast<double>(cpu->wall) : -1;
    };
    const auto sender = system(writes(*run) ? "client" : "server");
    EXPECT_GT(sender, 0.15) << name(*run);
    EXPECT_LT(system(writes(*run) ? "server" : "client"), 0.5 * sender) << name(*run);
  }
}

// perftest asks for each message's completion, without which siw gives it to TCP page by page; our latency wants none.
TEST_F(Trips, PagesOverSiwGoAtOnce) {
  std::map<std::string, std::map<std::string, double>> latencies;  // by operation and tool
  for (const auto* run : of("latency", 0))
    latencies[choice(*run, "op", "write")][choice(*run, "tool", "own")] = metric(*run, "latency");
  ASSERT_EQ(latencies.size(), 2U);
  for (auto& [op, by] : latencies) EXPECT_LT(by["own"], 1.1 * by["peer"]) << op;
}

// Eight records a round trip in place of one, but for the time that they take on the link.
TEST_F(Trips, ReadAheadKeepsALongPathBusy) {
  constexpr std::int64_t kDelay = 40'000'000;
  constexpr double kRecord = 8 * 8192;                 // bits
  constexpr double kRoundTrip = 2 * 0.04;              // s
  std::map<std::string, std::array<double, 2>> rates;  // by cell: alone, ahead
  for (const auto* run : of("rpc", kDelay)) {
    auto cell = *run;
    cell.parameters.erase("ahead");
    rates[name(cell)].at(integer_of(run->parameters, "ahead") > 0 ? 1 : 0) = metric(*run, "throughput");
  }
  ASSERT_EQ(rates.size(), 7U);
  for (const auto& [cell, rate] : rates) {
    const auto& [alone, ahead] = rate;
    EXPECT_GT(ahead, 5 * alone) << cell;
    EXPECT_LT(ahead, 8 * kRecord / kRoundTrip) << cell << ": more than is under way";
  }
}

// A conditional write needs no application: START and STCRW cross while the source's computes.
TEST_F(Trips, AnEngineWritesWhileTheApplicationComputes) {
  const auto runs = of("transfer", 5'000'000);
  ASSERT_EQ(runs.size(), 3U);
  for (const auto* run : runs) {
    const auto path = metric(*run, "critical_path");
    const auto protocol = choice(*run, "protocol", "");
    if (protocol == "frrwp") {
      EXPECT_GT(path, metric(*run, "computation"));
    } else if (protocol == "frrwp+crw") {
      EXPECT_GT(path, 10e6) << "START and STCRW each crossed 5 ms";
      EXPECT_LT(path, 11e6);
      EXPECT_GT(metric(*run, "computation"), 40e6);
    } else {
      EXPECT_EQ(protocol, "advertised");
      EXPECT_LT(path, 1e6) << "no trip";
    }
  }
}

}  // namespace
}  // namespace longhaul::testing
