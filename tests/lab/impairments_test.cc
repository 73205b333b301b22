// Every axis of an impairment meets a kernel: what was asked is what the packets went through. By the virtual clock, so
// that a figure is the same in each run of the test; the bounds are three standard deviations of what is drawn at
// random.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/lab/sealed_runs.hh"

namespace longhaul::testing {
namespace {

constexpr double kPackets = 4000;
constexpr double kLate =
    20e3;  // ns: what an engine's timers and, of nfqueue, its way through user space add beside 10,000 packets/s

// Where losses come in bursts the way back, whose losses nobody looks at, has none: the server's record goes there when
// nothing else does, so that its retransmissions alone would have to outlast a burst, and TCP makes them ever rarer.
constexpr const char* kImpaired = R"(name: impairments
experiments:
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt], delay: [5ms, 20ms]}
    fixed: {delay_back: 1ms, interval: 100us, duration: 400ms}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt], loss_burst: [1, 4]}
    fixed: {delay: 1ms, loss: 5%, loss_back: 0, interval: 100us, duration: 400ms, timeout: 60s}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt]}
    fixed: {delay: 5ms, reorder: 10%, interval: 100us, duration: 400ms}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt]}
    fixed: {delay: 5ms, jitter: 2ms, jitter_order: free, interval: 100us, duration: 400ms}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, edt]}
    fixed: {delay: 1ms, duplicate: 5%, interval: 100us, duration: 400ms}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt]}
    fixed: {delay: 1ms, ge_enter: 2%, ge_leave: 10%, ge_loss_bad: 60%, ge_enter_back: 0, interval: 100us, duration: 400ms, timeout: 60s}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue]}
    fixed: {delay: 1ms, corrupt: 5%, corrupt_back: 0, interval: 100us, duration: 400ms}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt]}
    fixed: {delay: 1ms, rate: 10Mbit/s, rate_back: 0, queue: 20, queue_back: 0, size: 1472B, burst: 64, interval: 100ms, duration: 400ms}
  - workload: throughput
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt]}
    fixed: {delay: 1ms, rate: 20Mbit/s, duration: 400ms}
  - workload: packets
    series: [{transport: tcp, rival: rxe}]
    axes: {engine: [netem, nfqueue, edt], delay: [1ms, 100ms]}
    fixed: {burst: 64, interval: 6400us, duration: 400ms}
repeat: {min: 1, max: 1}
)";

/// Each build draws anew, some thirty times: within 3 standard deviations all of them would be in 93 % of builds,
/// within 4.5 in 99.98 %. Half or twice of what is asked is far beyond.
constexpr double kSigmas = 4.5;

class Impairments : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    runs_ = sealed_runs(kImpaired);
    // A path that loses packets may lose those that open a run's connection, time and again: one run in forty ends so
    // where losses come in bursts, and is made again. Elsewhere none does.
    std::erase_if(runs_, [](const RunRecord& one) {
      const bool loses = one.parameters.contains("loss") || one.parameters.contains("ge_enter");
      return loses && one.status == Status::failed && one.nodes.empty();
    });
    ASSERT_EQ(runs_.size(), 6U + 6U + 3U + 3U + 2U + 3U + 2U + 3U + 3U + 6U);
  }

  /// The runs whose cell has such a parameter; each has ended well.
  static std::vector<const RunRecord*> with(const std::string& parameter) {
    std::vector<const RunRecord*> found;
    for (const auto& run : runs_) {
      if (!run.parameters.contains(parameter)) continue;
      EXPECT_EQ(run.status, Status::ok) << name(run) << ": " << run.message;
      if (run.status == Status::ok) found.push_back(&run);
    }
    return found;
  }
  /// Of a share that is drawn for each packet; `spread` times as wide where draws hang together.
  static double bound(double share, double spread = 1) {
    return kSigmas * spread * std::sqrt(share * (1 - share) / kPackets);
  }

 private:
  static inline std::vector<RunRecord> runs_;
};

TEST_F(Impairments, EachWayHasItsOwnDelay) {
  const auto runs = with("delay_back");
  ASSERT_EQ(runs.size(), 6U);
  for (const auto* run : runs) {
    ASSERT_TRUE(run->path);
    const auto delay = static_cast<double>(integer_of(run->parameters, "delay", 0));
    EXPECT_NEAR(static_cast<double>(run->path->forward.achieved), delay, kLate) << name(*run);
    EXPECT_NEAR(static_cast<double>(run->path->back.achieved), 1e6, kLate) << name(*run);
    EXPECT_EQ(metric(*run, "loss") + metric(*run, "duplicates") + metric(*run, "reordered"), 0) << name(*run);
  }
}

TEST_F(Impairments, LossesAreAsManyAndComeInBurstsOfTheLengthAsked) {
  const auto runs = with("loss");
  ASSERT_EQ(runs.size(), 6U);
  for (const auto* run : runs) {
    const auto burst = static_cast<double>(integer_of(run->parameters, "loss_burst", 1));
    // Of the Gilbert model: losses in a row are geometric, and the share scatters with their length.
    EXPECT_NEAR(metric(*run, "loss"), 0.05, bound(0.05, std::sqrt(2 * burst - 1))) << name(*run);
    const auto independent = 1 / (1 - 0.05);
    const auto expected = burst > 1 ? burst : independent;
    const auto bursts = 0.05 * kPackets / expected;
    EXPECT_NEAR(metric(*run, "lost_in_row"), expected, kSigmas * std::sqrt(expected * (expected - 1) / bursts) + 0.01)
        << name(*run);
  }
}

TEST_F(Impairments, AsManyOvertakeAsAsked) {
  const auto runs = with("reorder");
  ASSERT_EQ(runs.size(), 3U);
  for (const auto* run : runs) EXPECT_NEAR(metric(*run, "reordered"), 0.10, bound(0.10)) << name(*run);
}

TEST_F(Impairments, JitterSpreadsTheDelay) {
  const auto runs = with("jitter");
  ASSERT_EQ(runs.size(), 3U);
  // Uniform in 5 ms +- 2 ms: half of them within 2 ms.
  for (const auto* run : runs) EXPECT_NEAR(metric(*run, "spread"), 2e6, 0.15e6) << name(*run);
}

TEST_F(Impairments, AsManyAreDoubledAsAsked) {
  const auto runs = with("duplicate");
  ASSERT_EQ(runs.size(), 2U);
  for (const auto* run : runs) EXPECT_NEAR(metric(*run, "duplicates"), 0.05, bound(0.05)) << name(*run);
}

TEST_F(Impairments, LossesAreThoseOfGilbertAndElliott) {
  const auto runs = with("ge_enter");
  ASSERT_EQ(runs.size(), 3U);
  // 2 / 12 of the packets find the bad state, which lasts 10: draws hang together by 0.88 a packet.
  const double bad = 0.02 / 0.12, share = bad * 0.6;
  const double spread = 1 + 2 * 0.36 * bad * (1 - bad) * 0.88 / 0.12 / (share * (1 - share));
  for (const auto* run : runs) EXPECT_NEAR(metric(*run, "loss"), share, bound(share, std::sqrt(spread))) << name(*run);
}

TEST_F(Impairments, PacketsWithAFlippedBitAreDroppedByWhoChecksThem) {
  const auto runs = with("corrupt");
  ASSERT_EQ(runs.size(), 2U);
  // But for bits that netem flips where nobody checks, in the sender's link address: 6 of 106 bytes.
  for (const auto* run : runs) EXPECT_NEAR(metric(*run, "loss"), 0.05, bound(0.05) + 0.05 * 6 / 106) << name(*run);
}

TEST_F(Impairments, AQueueHoldsAsManyAsAsked) {
  const auto runs = with("queue");
  ASSERT_EQ(runs.size(), 3U);
  // Of a burst of 64 one is on the link, 20 wait; netem has a place more, for the packet on the way. A packet is on the
  // link for 1.2 ms and a burst comes in 2 to 4, by how long the router takes for each: up to three leave meanwhile.
  for (const auto* run : runs) {
    const auto held = 64 * (1 - metric(*run, "loss"));
    EXPECT_GE(held, 20.5) << name(*run);
    EXPECT_LE(held, 25) << name(*run);
  }
}

// An engine that delays packet after packet would stretch a burst to 64 delays, one that lets a whole burst go at once
// would shrink it to nothing. No delay is a multiple of the interval: a burst that enters while another one leaves
// keeps the router's processor from it.
TEST_F(Impairments, ABurstComesOutAsLongAsItWentIn) {
  auto runs = with("burst");
  std::erase_if(runs, [](const RunRecord* run) { return run->parameters.contains("rate"); });
  ASSERT_EQ(runs.size(), 6U);
  for (const auto* run : runs) {
    // nfqueue's way through user space takes longer for a packet than the sender does (1.34 times by Linux 6.1, 1.44 by
    // 6.12); where delays added up it would be a hundred times.
    const auto stretch = metric(*run, "stretch");
    EXPECT_GT(stretch, 0.95) << name(*run);
    EXPECT_LT(stretch, choice_of(run->parameters, "engine", "netem") == "nfqueue" ? 2 : 1.05) << name(*run);
    EXPECT_EQ(metric(*run, "loss") + metric(*run, "duplicates") + metric(*run, "reordered"), 0) << name(*run);
  }
}

TEST_F(Impairments, NoMoreGetsThroughThanTheRate) {
  auto runs = with("rate");
  std::erase_if(runs, [](const RunRecord* run) { return run->workload != "throughput"; });
  ASSERT_EQ(runs.size(), 3U);
  // Payload of a full frame: 1448 of 1514 bytes with TCP's time stamps.
  for (const auto* run : runs) EXPECT_NEAR(metric(*run, "throughput"), 20e6 * 1448 / 1514, 0.05 * 20e6) << name(*run);
}

}  // namespace
}  // namespace longhaul::testing
