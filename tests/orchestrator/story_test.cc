#include "orchestrator/run/story.hh"

#include <gtest/gtest.h>

namespace longhaul::orchestrator {
namespace {

using News = Story::News;

agents::RunEvent of(BenchEvent event) {
  return {.run_id = "r", .bench = std::move(event), .exit = {}};
}
agents::RunEvent of(BenchEventKind kind, std::int64_t time = 0) {
  return of(BenchEvent{.kind = kind, .time = time});
}
agents::RunEvent got(double done) {
  return of(BenchEvent{.kind = BenchEventKind::progress, .done = done});
}
agents::RunEvent ended() {
  return {.run_id = "r", .bench = {}, .exit = "exit code 0"};
}

TEST(Story, OfAGoodRun) {
  Story story;
  EXPECT_EQ(story.take(of(BenchEvent{.kind = BenchEventKind::ready, .time = 1000, .port = 7000})), News::ready);
  EXPECT_EQ(story.port, 7000);
  EXPECT_EQ(story.take(of(BenchEventKind::window_start, 2000)), News::window_opened);
  EXPECT_EQ(story.take(of(BenchEventKind::window_stop, 5000)), News::window_closed);
  EXPECT_EQ(story.measuring(), 4000);
  EXPECT_FALSE(story.over());
  EXPECT_EQ(story.take(of(BenchEvent{.kind = BenchEventKind::record, .record = NodeRecord{}})), News::end);
  EXPECT_TRUE(story.over());
  EXPECT_EQ(story.take(ended()), News::end);
  EXPECT_EQ(story.trouble(), "");
}

// Each would have the path probed, or the next run prepared, once more.
TEST(Story, AWindowOpensAndClosesOnce) {
  Story story;
  EXPECT_EQ(story.take(of(BenchEventKind::window_stop, 1)), News::nothing) << "before it opens";
  EXPECT_EQ(story.take(of(BenchEventKind::window_start)), News::window_opened);
  EXPECT_EQ(story.take(of(BenchEventKind::window_start)), News::nothing);
  EXPECT_EQ(story.take(of(BenchEventKind::window_stop, 2)), News::window_closed);
  EXPECT_EQ(story.take(of(BenchEventKind::window_stop, 3)), News::nothing);
  EXPECT_EQ(story.take(of(BenchEventKind::window_start)), News::nothing);
}

TEST(Story, WhoSaysThatHeIsReadyAgainMovesNowhere) {
  Story story;
  EXPECT_EQ(story.take(of(BenchEvent{.kind = BenchEventKind::ready, .port = 7000})), News::ready);
  EXPECT_EQ(story.take(of(BenchEvent{.kind = BenchEventKind::ready, .port = 22})), News::nothing);
  EXPECT_EQ(story.port, 7000);
}

// Each gives a run by itself more time.
TEST(Story, OnlyWhoGetsFurtherMakesProgress) {
  Story story;
  EXPECT_EQ(story.take(of(BenchEventKind::progress)), News::nothing) << "without a figure";
  EXPECT_EQ(story.take(got(0.5)), News::progress);
  EXPECT_EQ(story.take(got(0.5)), News::nothing);
  EXPECT_EQ(story.take(got(0.1)), News::nothing);
  EXPECT_EQ(story.take(got(1e9)), News::nothing);
  int prolonged = 0;
  for (int i = 0; i < 20'000; ++i) prolonged += story.take(got(0.5 + i * 2.5e-5)) == News::progress ? 1 : 0;
  EXPECT_GE(prolonged, 400) << "who creeps gets on";
  EXPECT_LE(prolonged, 500);
}

TEST(Story, TheFirstEndCounts) {
  Story story;
  EXPECT_EQ(story.take(of(BenchEvent{.kind = BenchEventKind::failed, .message = "no route"})), News::end);
  EXPECT_EQ(story.take(of(BenchEvent{.kind = BenchEventKind::record, .record = NodeRecord{}})), News::nothing);
  EXPECT_EQ(story.take(of(BenchEventKind::window_start)), News::nothing);
  EXPECT_FALSE(story.record);
  EXPECT_EQ(story.trouble(), "no route");
  story.give_up("no sign of life");
  EXPECT_EQ(story.trouble(), "no route") << "its own word";
  EXPECT_FALSE(story.given_up);
}

TEST(Story, WhatEndsWithoutAWordIsExplained) {
  Story story;
  EXPECT_EQ(story.take(ended()), News::end);
  EXPECT_EQ(story.trouble(), "ended without a record, exit code 0");
  Story silent;
  silent.give_up("no sign of life in time");
  EXPECT_TRUE(silent.over() && silent.given_up);
  EXPECT_EQ(silent.trouble(), "no sign of life in time");
}

TEST(Story, TimesThatCannotBeGiveNoMeasuringTime) {
  Story story;
  story.take(of(BenchEventKind::ready, std::numeric_limits<std::int64_t>::min()));
  story.take(of(BenchEventKind::window_start));
  story.take(of(BenchEventKind::window_stop, std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(story.measuring(), 0);
}

}  // namespace
}  // namespace longhaul::orchestrator
