#include "orchestrator/run/tolerance.hh"

#include <gtest/gtest.h>

namespace longhaul::orchestrator {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

degen::Report report(std::int64_t forward, std::int64_t back, std::uint64_t samples = 24) {
  degen::Report report;
  report.forward.achieved = forward;
  report.back.achieved = back;
  report.forward.samples = report.back.samples = samples;
  return report;
}

degen::Impairment impairment(Parameters parameters) {
  return *degen::make_impairment(parameters);
}

TEST(Tolerance, IsRelativeForLongDelaysAndAbsoluteForShort) {
  EXPECT_EQ(tolerance(Nanoseconds{0}, false), microseconds{50});
  EXPECT_EQ(tolerance(milliseconds{5}, false), microseconds{50});
  EXPECT_EQ(tolerance(milliseconds{20}, false), microseconds{200});
  EXPECT_EQ(tolerance(Nanoseconds{0}, true), microseconds{200});
  EXPECT_EQ(tolerance(milliseconds{20}, true), milliseconds{1});
}

// Why the path is not the one asked for; empty: it is.
std::string off_target(const degen::Impairment& asked, const degen::Report& measured, bool emulated, Load load) {
  const auto judged = on_target(asked, measured, emulated, load);
  return judged ? "" : judged.error().message;
}

TEST(OffTarget, JudgesBothDirectionsAtTheBoundary) {
  const auto asked = impairment({{"delay", 20'000'000}});
  EXPECT_EQ(off_target(asked, report(20'200'000, 19'800'000), false, Load::idle), "");
  EXPECT_EQ(off_target(asked, report(20'200'001, 20'000'000), false, Load::idle),
            "client to server: asked for 20.000 ms, achieved 20.200 ms, 0.200 ms are tolerated");
  EXPECT_EQ(off_target(asked, report(20'000'000, 19'799'999), false, Load::idle),
            "server to client: asked for 20.000 ms, achieved 19.800 ms, 0.200 ms are tolerated");
}

TEST(OffTarget, AsymmetricDelaysAreJudgedEachByItsOwn) {
  const auto asked = impairment({{"delay", 20'000'000}, {"delay_back", 1'000'000}});
  EXPECT_EQ(off_target(asked, report(20'000'000, 1'000'000), false, Load::idle), "");
  EXPECT_NE(off_target(asked, report(20'000'000, 20'000'000), false, Load::idle), "");
}

TEST(OffTarget, APathThatChangesHasNoOneDelay) {
  const auto judged = [](const char* schedule) {
    return off_target(impairment({{"delay", 20'000'000}, {"rate", 10'000'000}, {"schedule", Value{schedule}}}),
                      report(90'000'000, 90'000'000), false, Load::idle);
  };
  EXPECT_EQ(judged("2s delay 90ms"), "");
  EXPECT_EQ(judged("2s down, 3s rate 1Mbit/s"), "");
  EXPECT_NE(judged("2s loss 1%"), "") << "its delay stays";
}

TEST(OffTarget, TooFewProbesAreNoEvidenceUnlessTheyWereToBeLost) {
  EXPECT_EQ(off_target(impairment({{"delay", 1'000'000}}), report(1'000'000, 1'000'000, 4), false, Load::idle),
            "client to server: only 4 probes crossed the router, 0 were lost in it");
  EXPECT_EQ(off_target(impairment({{"delay", 1'000'000}}), report(1'000'000, 1'000'000, 0), false, Load::idle),
            "client to server: no probe reached the router: is its sender up, and is UDP port 7473 open to it?");
  EXPECT_EQ(off_target(impairment({{"delay", 1'000'000}, {"loss", 900'000}}), report(0, 0, 4), false, Load::idle), "");
}

TEST(OffTarget, JitterWidensByTheScatterOfItsMedian) {
  const auto asked = impairment({{"delay", 10'000'000}, {"jitter", 1'000'000}});
  EXPECT_EQ(off_target(asked, report(10'700'000, 10'000'000, 25), false, Load::idle), "");
  EXPECT_NE(off_target(asked, report(10'700'000, 10'000'000, 2'500), false, Load::idle), "");
}

TEST(OffTarget, AQueueThatTheWorkloadFillsIsNotTheEnginesFault) {
  const auto asked = impairment({{"delay", 10'000'000}, {"rate", 10'000'000}});
  EXPECT_EQ(off_target(asked, report(80'000'000, 10'000'000), false, Load::busy), "");
  EXPECT_NE(off_target(asked, report(80'000'000, 10'000'000), false, Load::idle), "");
}

}  // namespace
}  // namespace longhaul::orchestrator
