#include "degen/impairment/schedule.hh"

#include <gmock/gmock.h>

#include "degen/engines/choice.hh"
#include "degen/engines/planner.hh"
#include "degen/impairment/plan.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* kAll =
    "0 delay 20ms rate 10Mbit/s, 2s delay 30ms loss 1%, 4s down, 5500ms rate 5Mbit/s, repeat 10s";

TEST(Schedule, IsReadAndWritten) {
  const auto schedule = parse_schedule(kAll);
  ASSERT_TRUE(schedule) << schedule.error().message;
  ASSERT_EQ(schedule->changes.size(), 4u);
  EXPECT_EQ(schedule->changes[1].at, 2s);
  EXPECT_EQ(schedule->changes[1].delay, 30ms);
  EXPECT_EQ(schedule->changes[1].loss, Ppm{10'000});
  EXPECT_FALSE(schedule->changes[1].rate);
  EXPECT_TRUE(schedule->changes[2].rate->down);
  EXPECT_EQ(schedule->changes[3].rate->rate, BitRate{5'000'000});
  EXPECT_EQ(schedule->repeat, 10s);
  EXPECT_EQ(schedule->length(), 10s);
  EXPECT_TRUE(schedule->changes_delay() && schedule->changes_rate() && schedule->loses());
  EXPECT_EQ(parse_schedule(to_text(*schedule)), *schedule) << to_text(*schedule);
}

TEST(Schedule, NoneChangesNothing) {
  const auto none = parse_schedule("none");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->none());
  EXPECT_EQ(to_text(*none), "none");
}

TEST(Schedule, WhatCannotBeReadIsRefusedByName) {
  const auto refusal = [](const char* text) {
    const auto read = parse_schedule(text);
    return read ? std::string{"read: "} + to_text(*read) : read.error().message;
  };
  EXPECT_THAT(refusal("soon delay 3ms"), HasSubstr("'soon delay 3ms': it begins with a time"));
  EXPECT_THAT(refusal("2s"), HasSubstr("expected what changes"));
  EXPECT_THAT(refusal("2s speed 3"), HasSubstr("'speed': expected delay, loss or rate"));
  EXPECT_THAT(refusal("2s delay"), HasSubstr("delay: expected a duration"));
  EXPECT_THAT(refusal("2s delay 11s"), HasSubstr("outside 0s to 10s"));
  EXPECT_THAT(refusal("2s loss 101%"), HasSubstr("outside 0 to 100%"));
  EXPECT_THAT(refusal("2s rate unlimited"), HasSubstr("limited at all times"));
  EXPECT_THAT(refusal("2s down rate 1Mbit/s"), HasSubstr("it changes twice"));
  EXPECT_THAT(refusal("2s delay 1ms, 2s delay 2ms"), HasSubstr("2s comes behind 2s"));
  EXPECT_THAT(refusal("2s delay 1ms, repeat 2s"), HasSubstr("it would never come"));
  EXPECT_THAT(refusal("repeat 2s"), HasSubstr("after which changes"));
  EXPECT_THAT(refusal("1s delay 1ms, repeat 2s, 3s down"), HasSubstr("repeat is the last word"));
  EXPECT_THAT(refusal("1s rate 1Mbit/s, 2s down"), HasSubstr("down for ever from 2s on"));
  EXPECT_THAT(refusal("0 down, repeat 2s"), HasSubstr("down for ever"));
  std::string many;
  for (std::size_t i = 0; i <= kMostChanges; ++i) many += fmt::format("{}{}ms down", i == 0 ? "" : ", ", i + 1);
  EXPECT_THAT(refusal((many + ", repeat 1min").c_str()), HasSubstr("at most 8192"));
}

std::string refused(const Parameters& parameters) {
  const auto made = make_impairment(parameters);
  return made ? "made: " + describe(*made) : made.error().message;
}

TEST(Schedule, EachOfItsStatesIsCheckedAsAnImpairmentIs) {
  EXPECT_THAT(refused({{"schedule", Value{"2s rate 5Mbit/s"}}}), HasSubstr("which rate has the link before 2s?"));
  EXPECT_THAT(refused({{"delay", Value{5'000'000}}, {"jitter", Value{2'000'000}}, {"schedule", Value{"2s delay 1ms"}}}),
              HasSubstr("schedule: from 2s on: jitter: 2ms is more than the delay of 1ms"));
  EXPECT_THAT(refused({{"loss", Value{100}}, {"loss_burst", Value{3}}, {"schedule", Value{"2s loss 1%"}}}),
              HasSubstr("beside losses in bursts"));
  EXPECT_THAT(refused({{"schedule", Value{"2s delay 1ms"}}, {"schedule_back", Value{"1s rate 1Mbit/s"}}}),
              HasSubstr("rate_back"));
}

TEST(Schedule, IsAnAxisOfEachWay) {
  const auto both = make_impairment({{"delay", Value{5'000'000}}, {"schedule", Value{"2s delay 30ms"}}});
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->forward, both->back);
  EXPECT_FALSE(both->none() || both->random());
  EXPECT_EQ(both->forward.longest(), 30ms);
  EXPECT_EQ(make_impairment(to_parameters(*both)), *both);
  const auto one = make_impairment({{"schedule", Value{"2s loss 1%"}}, {"schedule_back", Value{"none"}}});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_TRUE(one->random());
  EXPECT_TRUE(one->back.none());
  EXPECT_EQ(make_impairment(to_parameters(*one)), *one);
}

TEST(Schedule, IsPlayedByTheBestEngineThatCan) {
  const auto chosen = [](const char* schedule) {
    const auto asked = make_impairment({{"rate", Value{1'000'000}}, {"schedule", Value{schedule}}});
    return choose_engine(asked.value(), {}).value().engine;
  };
  EXPECT_EQ(chosen("2s delay 30ms"), "edt");
  EXPECT_EQ(chosen("2s rate 20Gbit/s"), "netem") << "too fast for edt";
  EXPECT_EQ(chosen("2s down, 5000s rate 20Gbit/s"), "nfqueue") << "no engine of the kernel's can wait";
  const auto refused = [](const char* schedule) {
    const auto asked = make_impairment({{"rate", Value{1'000'000}}, {"schedule", Value{schedule}}});
    return check_engine(asked.value(), "netem").error().message;
  };
  EXPECT_THAT(refused("2s down, 3s rate 1Mbit/s"), HasSubstr("it holds none until a link is up"));
  EXPECT_THAT(refused("2ms delay 1ms, 3ms delay 2ms"), HasSubstr("2ms apart: engine netem is changed by degen itself"));
}

TEST(Schedule, TheQueueIsSizedByTheFastestRateAndTheLongestDelay) {
  const auto asked = make_impairment({{"delay", Value{1'000'000}},
                                      {"rate", Value{1'000'000}},
                                      {"schedule", Value{"2s delay 100ms, 4s rate 120Mbit/s"}}});
  ASSERT_TRUE(asked);
  const auto fast = make_impairment({{"delay", Value{100'000'000}}, {"rate", Value{120'000'000}}});
  EXPECT_EQ(queue_limit(asked->forward, 200ms, 1500), queue_limit(fast->forward, 200ms, 1500));
}

TEST(Schedule, TheLatenessOfTheEngineIsTakenOffEachDelay) {
  const auto asked = make_impairment({{"delay", Value{5'000'000}}, {"schedule", Value{"2s delay 30ms, 4s delay 0"}}});
  ASSERT_TRUE(asked);
  const auto plan =
      make_plan(*asked, "nfqueue", {.client = {{"a"}}, .server = {{"b"}}}, {.forward = 100us, .back = {}});
  ASSERT_EQ(plan.egresses.size(), 2u);
  const auto& changes = plan.egresses.front().direction.schedule.changes;
  EXPECT_EQ(changes[0].delay, 29'900us);
  EXPECT_EQ(changes[1].delay, 0us);
}

}  // namespace
}  // namespace longhaul::degen
