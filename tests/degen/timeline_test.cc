#include "degen/impairment/timeline.hh"

#include <gmock/gmock.h>

#include "degen/engines/nfqueue/scheduler.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;

Direction direction(const char* schedule, std::int64_t megabits = 8) {
  return {.delay = 5ms,
          .loss = Ppm{100},
          .rate = BitRate{megabits * 1'000'000},
          .schedule = parse_schedule(schedule).value()};
}

TEST(Timeline, SaysWhatHoldsAtATime) {
  const Timeline line{direction("2s delay 30ms, 3s loss 0, 4s delay 1ms, repeat 5s"), 100s};
  EXPECT_EQ(line.at(0s).delay, 5ms) << "before it began";
  EXPECT_EQ(line.at(101s).delay, 5ms);
  EXPECT_EQ(line.at(102s - 1ns).delay, 5ms);
  EXPECT_EQ(line.at(102s).delay, 30ms);
  EXPECT_EQ(line.at(102s).loss, Ppm{100});
  EXPECT_EQ(line.at(103s).loss, Ppm{0});
  EXPECT_EQ(line.at(103s).delay, 30ms) << "as before";
  EXPECT_EQ(line.at(105s).delay, 5ms) << "begun anew";
  EXPECT_EQ(line.at(105s).loss, Ppm{100});
  EXPECT_EQ(line.at(100s + 5000s + 4s).delay, 1ms);
}

TEST(Timeline, SaysForHowLongItHolds) {
  const Timeline line{direction("2s delay 30ms, 4s delay 1ms, repeat 5s"), 100s};
  const auto expect = [&](Nanoseconds time, Nanoseconds delay, Nanoseconds from, Nanoseconds to) {
    const auto span = line.span(time);
    EXPECT_EQ(span.moment.delay, delay);
    EXPECT_EQ(span.from, from);
    EXPECT_EQ(span.to, to);
  };
  expect(0s, 5ms, 100s, 102s);
  expect(103s, 30ms, 102s, 104s);
  expect(104s, 1ms, 104s, 105s);
  expect(5106s, 5ms, 5105s, 5107s);
  const Timeline once{direction("2s delay 30ms"), 0s};
  EXPECT_EQ(once.span(9s).from, 2s);
  EXPECT_EQ(once.span(9s).to, Nanoseconds::max());
}

TEST(Timeline, WithoutARepeatTheLastStays) {
  const Timeline line{direction("2s delay 30ms"), 0s};
  EXPECT_EQ(line.at(3600s).delay, 30ms);
}

TEST(Timeline, BytesTakeTheRatesOfTheTimeInWhichTheyAreSent) {
  // 1 MB/s, from 1 s on 0.1 MB/s, from 2 s to 3 s nothing, then 1 MB/s again.
  const Timeline line{direction("1s rate 800kbit/s, 2s down, 3s rate 8Mbit/s"), 0s};
  EXPECT_EQ(line.off_link(0s, 1000), 1ms);
  EXPECT_EQ(line.off_link(999ms, 1000), 1s);
  EXPECT_EQ(line.off_link(999ms, 1100), 1s + 1ms);
  EXPECT_EQ(line.off_link(1999ms, 200), 3s + 100us) << "on the link when it goes down";
  EXPECT_EQ(line.off_link(2500ms, 1000), 3s + 1ms);
  EXPECT_EQ(line.off_link(999ms, 1000 + 100'000 + 1000), 3s + 1ms) << "over three of them";
  EXPECT_DOUBLE_EQ(line.sent(0s, 4s), 1e6 + 1e5 + 1e6);
  EXPECT_DOUBLE_EQ(line.sent(1500ms, 2500ms), 5e4);
  EXPECT_DOUBLE_EQ(line.sent(2s, 3s), 0);
}

TEST(Timeline, OverManyRepeats) {
  const Timeline line{direction("0 rate 8Mbit/s, 1s down, repeat 2s"), 0s};
  EXPECT_EQ(line.off_link(0s, 2'500'000), 4500ms);
  EXPECT_DOUBLE_EQ(line.sent(500ms, 100s), 49.5e6);
}

// The packet's fate in the engine.
Nanoseconds left(const Direction& direction, Nanoseconds arrival, const Play& play = {}) {
  Scheduler scheduler{direction, 1000, 1, {}, play};
  std::vector<Verdict> verdicts;
  scheduler.arrive({.id = 1, .time = arrival, .bytes = 1000}, verdicts);
  return verdicts.empty() ? *scheduler.next() - arrival : -1ns;
}

TEST(Timeline, EachPacketHasWhatHoldsWhenItArrives) {
  const auto changing = direction("2s delay 30ms loss 100%, 3s loss 0 rate 800kbit/s, 4s down, 5s rate 8Mbit/s");
  const Play play{.begin = 100s};
  EXPECT_EQ(left(changing, 101s, play), 5ms + 1ms);
  EXPECT_EQ(left(changing, 102500ms, play), -1ns) << "lost";
  EXPECT_EQ(left(changing, 103s, play), 30ms + 10ms);
  EXPECT_EQ(left(changing, 104600ms, play), 30ms + 400ms + 1ms) << "waits for the link";
}

TEST(Timeline, AShorterDelayLetsNoPacketOvertakeUnlessThatIsAsked) {
  auto changing = direction("1s delay 1ms", 0);
  changing.loss = {};
  for (const bool keep : {true, false}) {
    changing.keep_order = keep;
    Scheduler scheduler{changing, 1000, 1};
    std::vector<Verdict> verdicts;
    scheduler.arrive({.id = 1, .time = 999ms, .bytes = 1000}, verdicts);
    scheduler.arrive({.id = 2, .time = 1000ms, .bytes = 1000}, verdicts);
    scheduler.release(1002ms, verdicts);
    EXPECT_EQ(verdicts.size(), keep ? 0u : 1u);
    scheduler.release(1004ms, verdicts);
    EXPECT_EQ(scheduler.waiting(), 0u);
  }
}

TEST(Timeline, AQueueOfStatedLengthIsFullByItsBytesWhateverTheRate) {
  auto changing = direction("1s down, 2s rate 8Mbit/s");
  changing.loss = {};
  changing.queue = 2;
  Scheduler scheduler{changing, 1000, 1, {}, {.room = 3000}};
  std::vector<Verdict> verdicts;
  for (std::uint32_t id = 1; id <= 5; ++id) scheduler.arrive({.id = id, .time = 1500ms, .bytes = 1000}, verdicts);
  EXPECT_EQ(scheduler.waiting(), 3u) << "one on the link and two that wait";
  EXPECT_EQ(scheduler.overflowed(), 2u);
  scheduler.release(2s + 3ms + 30ms, verdicts);
  EXPECT_EQ(scheduler.waiting(), 0u);
}

}  // namespace
}  // namespace longhaul::degen
