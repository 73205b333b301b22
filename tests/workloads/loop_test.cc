#include "workloads/harness/loop.hh"

#include <gmock/gmock.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <thread>
#include <utility>

#include "observe/clock.hh"
#include "tests/workloads/fake.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kMillisecond = 1ms;

// An operation that takes so many looks.
class Countdown final : public Lane {
 public:
  explicit Countdown(int looks) : looks_(looks) {}
  void start() override {
    ++started;
    left_ = looks_;
  }
  bool advance() override { return looks_ > 0 && left_ > 0 && --left_ == 0; }
  void inspect() override { ++inspected; }
  Waitable& waitable() override { return connection_; }
  int started = 0;
  int inspected = 0;

 private:
  int looks_;
  int left_ = 0;
  FakeConnection connection_{1};
};

struct Counted {
  Lanes lanes;
  std::vector<Countdown*> raw;
};
Counted countdowns(std::initializer_list<int> looks) {
  Counted counted;
  for (const int n : looks) {
    auto lane = std::make_unique<Countdown>(n);
    counted.raw.push_back(lane.get());
    counted.lanes.push_back(std::move(lane));
  }
  return counted;
}

TEST(Window, LastsForBothItsDurationAndItsSamples) {
  Window window{1us, 3};
  window.open(observe::from_ns(5000));
  EXPECT_FALSE(window.over(observe::from_ns(5999), 100));
  EXPECT_TRUE(window.over(observe::from_ns(6000), 3));
  EXPECT_FALSE(window.over(observe::from_ns(9000), 2));
}

TEST(Window, WaitsForMoreSamplesButNotForEver) {
  Window window{1us, 3, {.enough = [](std::uint64_t samples) { return samples >= 10; }, .patience = 4us}};
  window.open(observe::from_ns(5000));
  EXPECT_FALSE(window.over(observe::from_ns(7000), 9));
  EXPECT_FALSE(window.fulfilled(9));
  EXPECT_TRUE(window.over(observe::from_ns(7000), 10));
  EXPECT_TRUE(window.over(observe::from_ns(9000), 9));
  EXPECT_FALSE(window.over(observe::from_ns(9000), 2)) << "those that have to be";
}

TEST(Window, WaitsForWhatOthersCount) {
  bool enough = false;
  Window window{1us, 3, {.enough = [&](std::uint64_t) { return enough; }, .patience = 4us}};
  window.open(observe::from_ns(5000));
  EXPECT_FALSE(window.over(observe::from_ns(7000), 9));
  EXPECT_TRUE(window.over(observe::from_ns(9000), 9)) << "not for ever";
  EXPECT_FALSE(window.fulfilled(9));
  enough = true;
  EXPECT_TRUE(window.over(observe::from_ns(7000), 9));
  EXPECT_TRUE(window.fulfilled(9));
}

TEST(Pace, ReadsTheClockSeldomAndIsDueOncePerInterval) {
  Pace pace{100ns};
  int looks = 0;
  for (int i = 0; i < 1024; ++i) looks += pace.worth_a_look() ? 1 : 0;
  EXPECT_EQ(looks, 4);
  EXPECT_TRUE(pace.due(observe::from_ns(1000)));
  EXPECT_FALSE(pace.due(observe::from_ns(1099)));
  EXPECT_TRUE(pace.due(observe::from_ns(1100)));
}

TEST(Loop, CountsEveryOperationOnceAndKeepsTheFirstInOrder) {
  const auto counted = countdowns({3});
  LoopOptions options;
  options.raw_limit = 5;
  const auto samples = run_operations(counted.lanes, Window{0ns, 20}, options).front();
  EXPECT_EQ(samples.histogram.count(), 20U);
  EXPECT_EQ(counted.raw[0]->started, 20);
  EXPECT_EQ(samples.raw.size(), 5U);
  EXPECT_EQ(counted.raw[0]->inspected, 0);
}

TEST(Loop, AStepThatEndsSeveralOperationsIsCountedSo) {
  const auto counted = countdowns({3});
  LoopOptions options;
  options.count = [&] { return 8 * static_cast<std::uint64_t>(counted.raw[0]->started); };
  run_operations(counted.lanes, Window{0ns, 20}, options);
  EXPECT_EQ(counted.raw[0]->started, 3);
}

constexpr Nanoseconds kBeside = 100ms;

// The last operation's time is its own, not that of what is still under way beside it.
TEST(Loop, WhatIsUnderWayBesideTheLastOperationIsAwaitedAndNotTimed) {
  class Beside final : public Lane {
   public:
    void start() override { over_ = {}; }
    bool advance() override {
      if (over_ == observe::RawTime{}) over_ = observe::raw_time();
      return true;
    }
    bool idle() const override { return observe::raw_time() - over_ > kBeside; }
    Waitable& waitable() override { return connection_; }

   private:
    observe::RawTime over_;
    FakeConnection connection_{1};
  };
  Lanes lanes;
  lanes.push_back(std::make_unique<Beside>());
  LoopOptions options;
  options.raw_limit = 8;
  const auto begun = observe::raw_time();
  const auto samples = run_operations(lanes, Window{0ns, 3}, options).front();
  EXPECT_GE(observe::raw_time() - begun, kBeside);
  EXPECT_EQ(samples.histogram.count(), 3U);
  for (const auto sample : samples.raw) EXPECT_LT(Nanoseconds{sample}, kBeside);
}

TEST(Loop, WindowStaysOpenForItsDuration) {
  const auto counted = countdowns({1});
  const auto before = observe::raw_time();
  const auto samples = run_operations(counted.lanes, Window{2 * kMillisecond, 1}, {}).front();
  EXPECT_GE(observe::raw_time() - before, 2 * kMillisecond);
  EXPECT_GT(samples.histogram.count(), 1U);
}

TEST(Loop, LanesThatAreUnderWayComeToTheirEnd) {
  const auto counted = countdowns({1, 50, 7});
  const auto samples = run_operations(counted.lanes, Window{0ns, 100}, {}).front();
  int started = 0;
  for (const auto* lane : counted.raw) started += lane->started;
  EXPECT_EQ(samples.histogram.count(), static_cast<std::uint64_t>(started));
  EXPECT_GE(samples.histogram.count(), 100U);
}

TEST(Loop, InspectsBetweenOperationsUntimed) {
  class Slow final : public Lane {
   public:
    void start() override {}
    bool advance() override { return true; }
    void inspect() override { std::this_thread::sleep_for(std::chrono::milliseconds{2}); }
    Waitable& waitable() override { return connection_; }
    FakeConnection connection_{1};
  };
  Lanes lanes;
  lanes.push_back(std::make_unique<Slow>());
  LoopOptions options;
  options.inspecting = true;
  const auto samples = run_operations(lanes, Window{0ns, 5}, options).front();
  EXPECT_LT(samples.histogram.quantile(0.5), 1'000'000);
}

TEST(Loop, DividesWhatItMeasures) {
  class Fixed final : public Lane {
   public:
    void start() override { started_ = observe::raw_time(); }
    bool advance() override { return observe::raw_time() - started_ >= kMillisecond; }
    Waitable& waitable() override { return connection_; }
    FakeConnection connection_{1};
    observe::RawTime started_;
  };
  Lanes lanes;
  lanes.push_back(std::make_unique<Fixed>());
  LoopOptions options;
  options.divisor = 2;
  const auto samples = run_operations(lanes, Window{0ns, 3}, options).front();
  EXPECT_GE(samples.histogram.min(), kMillisecond.count() / 2);
  EXPECT_LT(samples.histogram.min(), kMillisecond.count());
}

TEST(Loop, NoProgressIsAnErrorWithinTheTimeout) {
  for (const bool sleeping : {false, true}) {
    const auto counted = countdowns({0});
    LoopOptions options;
    options.sleeping = sleeping;
    options.timeout = 20 * kMillisecond;
    const auto before = observe::raw_time();
    try {
      run_operations(counted.lanes, Window{0ns, 1}, options);
      FAIL() << "it ended without an operation";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), ETIMEDOUT);
      EXPECT_THAT(error.what(), testing::HasSubstr("20ms"));
    }
    EXPECT_LT(observe::raw_time() - before, 2000 * kMillisecond);
  }
}

TEST(Loop, ATickEndsAServer) {
  for (const bool sleeping : {false, true}) {
    const auto counted = countdowns({0});
    int ticks = 0;
    LoopOptions options;
    options.sleeping = sleeping;
    options.tick = [&] { return ++ticks < 3; };
    serve(counted.lanes, options);
    EXPECT_EQ(ticks, 3);
  }
}

// Several threads on one connection: whoever looks takes the results of all of them.
struct Desk {
  OwnFd event{::eventfd(0, EFD_NONBLOCK)};
  std::array<bool, 3> asked{};
  std::array<bool, 3> answered{};

  void look() {
    std::uint64_t count = 0;
    if (::read(event.get(), &count, sizeof count) < 0) return;
    for (std::size_t i = 0; i < asked.size(); ++i) answered[i] = answered[i] || std::exchange(asked[i], false);
  }
};

class AtDesk final : public Lane, public Waitable {
 public:
  AtDesk(Desk& desk, std::size_t place) : desk_(desk), place_(place) {}
  void start() override {
    desk_.asked[place_] = true;
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(desk_.event.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  bool advance() override {
    desk_.look();
    return std::exchange(desk_.answered[place_], false);
  }
  Waitable& waitable() override { return *this; }
  bool arm() override { return !desk_.answered[place_]; }
  int event_fd() const override { return desk_.event.get(); }
  std::uint32_t wait_events() const override { return EPOLLIN; }

 private:
  Desk& desk_;
  std::size_t place_;
};

TEST(Loop, LanesThatShareADescriptorDoNotSleepOnWhatOneOfThemTook) {
  Desk desk;
  Lanes lanes;
  for (std::size_t i = 0; i < desk.asked.size(); ++i) lanes.push_back(std::make_unique<AtDesk>(desk, i));
  LoopOptions options;
  options.sleeping = true;
  const auto samples = run_operations(lanes, Window{0ns, 400}, options).front();
  EXPECT_GE(samples.histogram.count(), 400U);
  // A lane that sleeps on a result that is there sleeps for 50 ms: no operation of a quarter of them takes so long.
  EXPECT_LT(samples.histogram.quantile(0.75), (20 * kMillisecond).count());
}

TEST(Loop, ADescriptorWakesASleepingServerAtOnce) {
  const OwnFd event{::eventfd(1, EFD_NONBLOCK)};
  LoopOptions options;
  options.sleeping = true;
  options.wake_fds = {event.get(), -1};
  options.tick = [] { return false; };
  const auto before = observe::raw_time();
  serve({}, options);
  EXPECT_LT(observe::raw_time() - before, 40 * kMillisecond);
}

}  // namespace
}  // namespace longhaul::workloads
