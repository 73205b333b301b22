#include "degen/certify/points.hh"

#include <gmock/gmock.h>

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

CertifyGrid small() {
  return {.engines = {"edt", "netem"},
          .delays = {1ms, 20ms},
          .rates = {BitRate{100'000'000}},
          .packets_a_second = {1000, 10'000},
          .size = 64,
          .duration = 100ms};
}

TEST(CertifyPoints, AreEachDelayAtEachPaceWithTheRouterByItselfFirst) {
  const auto points = points_of(small()).value();
  // Of each of three paces the router by itself; 2 x 2 delays and paces, and a rate, by two engines.
  ASSERT_EQ(points.size(), 3U + 2 * (4 + 1));
  EXPECT_EQ(points[0].engine, kNoEngine);
  EXPECT_EQ(points[0].pace.count, 100);
  EXPECT_TRUE(parameters_of(points[0]).empty());
  EXPECT_EQ(points[1].engine, "edt");
  EXPECT_EQ(points[2].engine, "netem") << "engines take turns";
  EXPECT_EQ(points[1].delay, 1ms);
  EXPECT_EQ(points[3].delay, 20ms);
  EXPECT_EQ(points[5].engine, kNoEngine);
  EXPECT_EQ(points[5].pace.interval, 100us);
  const auto& rate = points.back();
  EXPECT_EQ(rate.delay, kRatesDelay);
  EXPECT_EQ(rate.pace.size, kMostPayload);
  // 20 frames of 1514 bytes take 2.42 ms at 100 Mbit/s.
  EXPECT_EQ(rate.pace.interval, 121'120ns * 20 * 3 / 2);
  EXPECT_EQ(rate.pace.count % rate.pace.burst, 0);
  EXPECT_EQ(parameters_of(rate).size(), 2U);
}

TEST(CertifyPoints, RefuseWhatCannotBeMeasured) {
  const auto why = [](auto change) {
    auto grid = small();
    change(grid);
    const auto points = points_of(grid);
    return points ? std::string{} : points.error().message;
  };
  EXPECT_EQ(why([](auto&) {}), "");
  EXPECT_THAT(why([](auto& grid) { grid.engines = {"tbf"}; }), HasSubstr("--engine tbf: there are netem"));
  EXPECT_THAT(why([](auto& grid) { grid.size = 1473; }), HasSubstr("--size 1473: a datagram has 8 to 1472 bytes"));
  EXPECT_THAT(why([](auto& grid) { grid.size = 7; }), HasSubstr("--size 7"));
  EXPECT_THAT(why([](auto& grid) { grid.duration = 0ms; }), HasSubstr("--duration"));
  EXPECT_THAT(why([](auto& grid) { grid.packets_a_second = {0}; }), HasSubstr("--packets-per-second 0"));
  EXPECT_THAT(why([](auto& grid) { grid.delays = {1ms, 0ms}; }), HasSubstr("--delay 0: the router by itself"));
  EXPECT_THAT(why([](auto& grid) { grid.delays = {100h}; }), HasSubstr("delay"));
}

TEST(CertifyPoints, TypeNetemAsByHand) {
  const CertifyPoint point{.engine = kRawNetem, .delay = 100us, .rate = BitRate{10'000'000}};
  EXPECT_THAT(raw_netem(point, "eth0"), testing::ElementsAre("tc", "qdisc", "replace", "dev", "eth0", "root", "netem",
                                                             "delay", "100us", "rate", "10000000bit"));
  auto grid = small();
  grid.engines = certifiable();
  EXPECT_EQ(points_of(grid).value()[4].engine, "tc-netem");
}

TEST(CertifyPoints, KnowWhenAPacketShouldLeave) {
  const std::vector<std::int64_t> arrivals{0, 10, 20, 1'000'000};
  EXPECT_THAT(due(arrivals, 1514, {}, 1ms), testing::ElementsAre(1'000'000, 1'000'010, 1'000'020, 2'000'000));
  // 1250 bytes at 1 Gbit/s: 10 us each, one after the other; the delay lies behind the link.
  EXPECT_THAT(due(arrivals, 1250, BitRate{1'000'000'000}, 1ms),
              testing::ElementsAre(1'010'000, 1'020'000, 1'030'000, 2'010'000));
}

// Packets 1 ms apart, each `late` behind its time.
WayObserved observed(std::int64_t late, std::uint64_t count = 1000) {
  WayObserved way{.sent = count, .took = count * 1ms};
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto sent = static_cast<std::int64_t>(i) * 1'000'000;
    way.arrivals.push_back(
        {.sequence = i, .sent = sent, .received = sent + late + (i % 50 == 0 ? std::int64_t{30'000} : 0)});
  }
  return way;
}

const CertifyPoint kPoint{
    .engine = "edt", .delay = 5ms, .pace = {.size = 64, .burst = 1, .interval = 1ms, .count = 1000}};

TEST(CertifyPoints, TakeThePathByItselfOff) {
  auto none = kPoint;
  none.engine = kNoEngine;
  none.delay = 0ms;
  const auto path = assess(none, observed(7'000), 0);
  EXPECT_EQ(path.path, 7'000);
  const auto found = assess(kPoint, observed(5'000'000 + 7'000 + 2'000), path.path);
  EXPECT_EQ(found.error, 2'000);
  EXPECT_EQ(found.p99, 32'000);
  EXPECT_EQ(found.variation, 30'000);
  EXPECT_EQ(found.loss, 0);
  EXPECT_NEAR(found.packets_a_second, 1000, 1e-6);
  const auto point = certified(kPoint, {found, assess(kPoint, observed(5'000'000 + 6'000), 7'000)}, "");
  EXPECT_EQ(point.error, 2'000) << "the worse way counts";
  EXPECT_EQ(point.largest_error, 2'000);
  EXPECT_EQ(point.packets_a_second, 1000);
  EXPECT_EQ(point.runs, 2);
  EXPECT_EQ(point.broken, "");
  EXPECT_FALSE(certified(none, {path}, "").error) << "nothing was asked";
}

TEST(CertifyPoints, AreNotKeptWherePacketsAreMissingTwiceOrOutOfOrder) {
  const auto why = [](const WayObserved& way) { return certified(kPoint, {assess(kPoint, way, 0)}, "").broken; };
  auto way = observed(5'000'000);
  EXPECT_EQ(why(way), "");
  way.arrivals.pop_back();
  EXPECT_EQ(why(way), "0.001 of the packets were lost");
  way = observed(5'000'000);
  std::swap(way.arrivals[10], way.arrivals[11]);
  EXPECT_EQ(why(way), "0.001 of the packets were reordered");
  way = observed(5'000'000);
  way.arrivals.push_back(way.arrivals.back());
  EXPECT_EQ(why(way), "0.001 of the packets came twice");
  way = observed(5'000'000);
  way.took *= 2;
  EXPECT_EQ(why(way), "this machine sent only 500 packets/s");
  way.arrivals.clear();
  EXPECT_EQ(why(way), "1 of the packets were lost");
  EXPECT_EQ(certified(kPoint, {}, "engine edt: the kernel has no fq").broken, "engine edt: the kernel has no fq");
}

TEST(CertifyPoints, ARateIsMeasuredAgainstTheLinkThatItShouldBe) {
  CertifyPoint point{.engine = "netem",
                     .delay = 5ms,
                     .rate = BitRate{100'000'000},
                     .pace = {.size = kMostPayload, .burst = 20, .interval = 4ms, .count = 40}};
  WayObserved way{.sent = 40, .took = 8ms};
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto sent = static_cast<std::int64_t>(i / 20) * 4'000'000;
    way.arrivals.push_back(
        {.sequence = i, .sent = sent, .received = sent + static_cast<std::int64_t>(i % 20 + 1) * 121'120 + 5'000'000});
  }
  EXPECT_EQ(assess(point, way, 0).error, 0);
  for (auto& one : way.arrivals) one.received += static_cast<std::int64_t>(one.sequence % 20) * 1'000;  // 1 % too slow
  EXPECT_EQ(assess(point, way, 0).error, 10'000);
}

}  // namespace
}  // namespace longhaul::degen
