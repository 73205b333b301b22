// The state of the WAN, event by event.
#include "orchestrator/run/wan.hh"

#include <gmock/gmock.h>

namespace longhaul::orchestrator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kDelay = 20'000'000;  // tolerated: 200 us; aimed at: 100 us
const Parameters kAsked{{"delay", Value{kDelay}}};

Link link(const std::string& from, const std::string& to) {
  return {.client = "c",
          .server = "s",
          .path = "wan",
          .from = {.path = "wan", .address = from},
          .to = {.path = "wan", .address = to}};
}

const std::vector<Link> kLinks{link("10.0.0.1", "10.0.1.1"), link("10.0.0.2", "10.0.1.2")};
const Baseline kBaseline{
    .forward = 30'000, .back = 40'000, .round_trips = {{"10.0.0.1 10.0.1.1", 500'000}, {"10.0.0.2 10.0.1.2", 600'000}}};

// Of a router that has what kAsked says; off by so much in each direction.
degen::Report measured_off(std::int64_t off = 0, std::uint64_t samples = 24) {
  degen::Report report{.impaired = true, .engine = "netem", .parameters = kAsked};
  for (auto* way : {&report.forward, &report.back}) {
    way->asked = kDelay;
    way->achieved = kDelay + off;
    way->samples = samples;
  }
  return report;
}

degen::Report unimpaired() {
  degen::Report report;
  for (auto* way : {&report.forward, &report.back}) {
    way->median = 35'000;
    way->samples = 24;
  }
  return report;
}

Wan ready() {
  Wan wan;
  wan.reconnected();
  wan.take(kBaseline, kLinks);
  return wan;
}

Wan in_place(std::int64_t off = 0) {
  auto wan = ready();
  EXPECT_TRUE(wan.ask("netem", kAsked, true));
  EXPECT_TRUE(*wan.applied(measured_off(off)));
  return wan;
}

TEST(Wan, BeginsWithNothingKnownAndNothingInPlace) {
  const Wan wan;
  EXPECT_TRUE(wan.stale());
  EXPECT_FALSE(wan.in_place());
  EXPECT_FALSE(wan.crosses());
  EXPECT_EQ(wan.unimpaired_round_trip(kLinks[0]), 0);
  EXPECT_EQ(wan.probe_timeout(), std::chrono::milliseconds{300});
}

TEST(Wan, ABaselineServesTheLinksThatItHas) {
  auto wan = ready();
  EXPECT_FALSE(wan.stale());
  EXPECT_EQ(wan.unimpaired_round_trip(kLinks[1]), 600'000);
  auto more = kLinks;
  more.push_back(link("10.0.0.3", "10.0.1.1"));
  wan.take(kBaseline, more);
  EXPECT_TRUE(wan.stale());
}

TEST(Wan, AReconnectionMakesTheBaselineStaleAndTakesTheImpairmentAway) {
  auto wan = in_place();
  EXPECT_TRUE(wan.in_place());
  wan.reconnected();
  EXPECT_FALSE(wan.in_place());
  EXPECT_TRUE(wan.stale());
  EXPECT_EQ(wan.baseline().forward, 30'000);  // the last one that there was
}

TEST(Wan, AnotherBlockKeepsTheBaseline) {
  auto wan = in_place();
  wan.begin_block();
  EXPECT_FALSE(wan.in_place());
  EXPECT_FALSE(wan.stale());
}

TEST(Wan, AsksForWhatTheCellsWant) {
  auto wan = ready();
  ASSERT_TRUE(wan.ask("nfqueue", {{"delay", Value{kDelay}}, {"loss", Value{0}}}, true));
  const auto request = wan.request();
  EXPECT_EQ(request.kind, degen::RequestKind::apply);
  EXPECT_EQ(request.engine, "nfqueue");
  EXPECT_EQ(request.parameters, kAsked);  // what is at its default is left out, as degen does it
  EXPECT_EQ(wan.probe_timeout(), std::chrono::milliseconds{340});
  EXPECT_FALSE(wan.in_place());

  const auto wrong = wan.ask("netem", {{"delay", Value{-1}}}, true);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("delay"));
}

TEST(Wan, IsInPlaceWithinTheAimAtOnce) {
  for (const std::int64_t off : {0, 100'000, -100'000}) {
    auto wan = ready();
    ASSERT_TRUE(wan.ask("netem", kAsked, true));
    EXPECT_TRUE(wan.applied(measured_off(off)).value()) << off;
    EXPECT_TRUE(wan.in_place());
    EXPECT_EQ(wan.tries(), 1);
    EXPECT_THAT(wan.achieved(), ElementsAre(kDelay + off, kDelay + off));
  }
}

TEST(Wan, IsAppliedAgainUntilItIs) {
  auto wan = ready();
  ASSERT_TRUE(wan.ask("netem", kAsked, true));
  EXPECT_FALSE(wan.applied(measured_off(300'000)).value());
  EXPECT_FALSE(wan.in_place());
  EXPECT_FALSE(wan.applied(measured_off(100'001)).value());
  EXPECT_TRUE(wan.applied(measured_off(10'000)).value());
  EXPECT_EQ(wan.tries(), 3);
  // The next one is counted from the start.
  ASSERT_TRUE(wan.ask("netem", kAsked, true));
  EXPECT_EQ(wan.tries(), 0);
}

TEST(Wan, TheLastTryHasTheWholeTolerance) {
  for (const std::int64_t off : {200'000, 200'001}) {
    auto wan = ready();
    ASSERT_TRUE(wan.ask("netem", kAsked, true));
    for (int i = 1; i < Wan::kTries; ++i) EXPECT_FALSE(wan.applied(measured_off(off)).value());
    const auto last = wan.applied(measured_off(off));
    EXPECT_EQ(last.has_value(), off == 200'000);
    EXPECT_EQ(wan.in_place(), off == 200'000);
    EXPECT_EQ(wan.stale(), off != 200'000);
    if (last) continue;
    EXPECT_EQ(last.error().status, Status::refused);
    EXPECT_THAT(last.error().message, HasSubstr("before the run, client to server: asked for 20.000 ms"));
  }
}

TEST(Wan, AnEmulatedProcessorHasAWiderTolerance) {
  auto wan = ready();
  wan.set_emulated(true);
  ASSERT_TRUE(wan.ask("netem", kAsked, true));
  EXPECT_TRUE(wan.applied(measured_off(500'000)).value());
}

TEST(Wan, APathWithoutTheRouterIsInPlaceAsItIs) {
  auto wan = ready();
  ASSERT_TRUE(wan.ask("netem", {}, false));
  EXPECT_TRUE(wan.applied({}).value());
  EXPECT_TRUE(wan.in_place());
  EXPECT_TRUE(wan.measured({}, 24, {}));
  EXPECT_TRUE(wan.in_place());
}

TEST(Wan, ARunWithinToleranceCountsAndKeepsTheImpairment) {
  auto wan = in_place();
  EXPECT_TRUE(wan.measured(measured_off(-200'000), 24, measured_off(200'000)));
  EXPECT_TRUE(wan.in_place());
  EXPECT_THAT(wan.achieved(), ElementsAre(kDelay + 200'000, kDelay + 200'000));  // before the next run
}

TEST(Wan, ARunDuringWhichTheDelayDriftedDoesNot) {
  auto wan = in_place();
  const auto judged = wan.measured(measured_off(200'001), 24, measured_off());
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().status, Status::refused);
  EXPECT_THAT(judged.error().message, HasSubstr("during the run, client to server"));
  EXPECT_FALSE(wan.in_place());
  EXPECT_FALSE(wan.stale());  // what the links are without impairment has not changed
}

TEST(Wan, AWindowTooShortForProbesIsJudgedByBeforeAndAfter) {
  auto wan = in_place();
  EXPECT_TRUE(wan.measured(measured_off(0, 3), kFewestSamples - 1, measured_off()));
  EXPECT_THAT(wan.measured(measured_off(0, 3), kFewestSamples, measured_off()).error().message,
              HasSubstr("only 3 probes"));
}

TEST(Wan, AQueueThatTheRunFilledIsJudgedWhenItIsEmptyAgain) {
  auto wan = ready();
  const Parameters limited{{"delay", Value{kDelay}}, {"rate", Value{100'000'000}}};
  ASSERT_TRUE(wan.ask("netem", limited, true));
  const auto measured = [&](std::int64_t off) {
    auto one = measured_off(off);
    one.parameters = limited;
    return one;
  };
  EXPECT_TRUE(wan.applied(measured(0)).value());
  EXPECT_TRUE(wan.measured(measured(50'000'000), 24, measured(0)));
  EXPECT_FALSE(wan.measured(measured(50'000'000), 24, measured(50'000'000)));
}

TEST(Wan, ARunAfterWhichTheDelayIsOffDoesNotCount) {
  auto wan = in_place();
  const auto judged = wan.measured(measured_off(), 24, measured_off(200'001));
  ASSERT_FALSE(judged);
  EXPECT_THAT(judged.error().message, HasSubstr("after the run, client to server"));
  EXPECT_FALSE(wan.in_place());
}

TEST(Wan, ALostImpairmentIsToldFromOneThatDrifted) {
  auto other = measured_off();
  other.parameters = {{"delay", Value{kDelay + 1}}};
  for (const auto& [during, after] : {std::pair{unimpaired(), measured_off()}, std::pair{measured_off(), unimpaired()},
                                      std::pair{other, measured_off()}, std::pair{measured_off(), other}}) {
    auto wan = in_place();
    const auto judged = wan.measured(during, 24, after);
    ASSERT_FALSE(judged);
    EXPECT_EQ(judged.error().message, "the router lost its impairment during the run");
    EXPECT_FALSE(wan.in_place());
    EXPECT_TRUE(wan.stale());
  }
}

TEST(Wan, WhatDegenSaysOfALossIsInTheRefusal) {
  auto wan = in_place();
  auto after = unimpaired();
  after.problem = "rb0: degen's qdisc is gone";
  const auto judged = wan.measured(measured_off(), 24, after);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().status, Status::refused);
  EXPECT_EQ(judged.error().message, "the router lost its impairment during the run: rb0: degen's qdisc is gone");
}

// Probes do not tell of a loss or a rate that is gone: only degen does.
TEST(Wan, ALossThatIsGoneIsRefusedThoughTheDelayIsAsAsked) {
  auto wan = ready();
  const Parameters loss{{"loss", Value{1'000}}};
  ASSERT_TRUE(wan.ask("netem", loss, true));
  auto placed = measured_off();
  placed.parameters = loss;
  for (auto* way : {&placed.forward, &placed.back}) way->asked = way->achieved = 0;
  ASSERT_TRUE(wan.applied(placed).value());
  ASSERT_TRUE(wan.measured(placed, 24, placed));
  auto gone = placed;
  gone.impaired = false;
  EXPECT_FALSE(wan.measured(placed, 24, gone));
}

TEST(Wan, WhereNothingIsAskedNothingIsLost) {
  auto wan = ready();
  ASSERT_TRUE(wan.ask("netem", {}, true));
  EXPECT_TRUE(wan.applied(wan.corrected(unimpaired())).value());
  EXPECT_TRUE(wan.measured(wan.corrected(unimpaired()), 24, wan.corrected(unimpaired())));
  EXPECT_FALSE(wan.stale());
}

TEST(Wan, SubtractsTheBaselineWhereDegenHasNone) {
  const auto wan = ready();
  const auto corrected = wan.corrected(unimpaired());
  EXPECT_EQ(corrected.forward.unimpaired, 30'000);
  EXPECT_EQ(corrected.forward.achieved, 5'000);
  EXPECT_EQ(corrected.back.achieved, -5'000);
  EXPECT_EQ(wan.corrected(measured_off(7)).forward.achieved, kDelay + 7);  // degen's own
  auto silent = unimpaired();
  silent.forward.samples = 0;
  EXPECT_EQ(wan.corrected(silent).forward.achieved, 0);
}

TEST(Wan, AFailureLeavesNothingToRelyOn) {
  auto wan = in_place();
  wan.failed();
  EXPECT_FALSE(wan.in_place());
  EXPECT_TRUE(wan.stale());
}

TEST(Wan, WhatIsClearedIsAskedForNoMore) {
  auto wan = in_place();
  wan.cleared();
  EXPECT_FALSE(wan.in_place());
  EXPECT_TRUE(wan.asked().none());
  EXPECT_TRUE(wan.request().parameters.empty());
  EXPECT_FALSE(wan.stale());
}

}  // namespace
}  // namespace longhaul::orchestrator
