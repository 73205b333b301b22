#include "degen/service/calibration.hh"

#include <gtest/gtest.h>

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;

TEST(Calibration, KnowsNothingAtFirst) {
  EXPECT_EQ(Calibration{}.estimate("netem", Way::forward, 5ms), 0ns);
}

TEST(Calibration, LearnsPerEngineWayAndDelay) {
  Calibration calibration;
  calibration.learn("netem", Way::forward, 5ms, 300us);
  calibration.learn("netem", Way::back, 5ms, 100us);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 5ms), 300us);
  EXPECT_EQ(calibration.estimate("netem", Way::back, 5ms), 100us);
  EXPECT_EQ(calibration.estimate("nfqueue", Way::forward, 5ms), 0us);
}

TEST(Calibration, TakesTheNearestDelayWhereItHasNone) {
  Calibration calibration;
  calibration.learn("netem", Way::forward, 1ms, 200us);
  calibration.learn("netem", Way::forward, 20ms, 400us);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 2ms), 200us);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 15ms), 400us);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 1s), 400us);
}

TEST(Calibration, OneSpoiltMeasureDoesNotCountALastingChangeDoes) {
  Calibration calibration;
  for (const auto late : {200us, 210us, 190us, 9000us}) calibration.learn("netem", Way::forward, 1ms, late);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 1ms), 205us);
  for (std::size_t i = 0; i < kRemembered; ++i) calibration.learn("netem", Way::forward, 1ms, 400us);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 1ms), 400us);
  EXPECT_EQ(calibration.lateness[0].recent.size(), kRemembered);
}

TEST(Calibration, CalmAndBusyWindowsAreServedAlike) {
  Calibration calibration;
  for (int run = 0; run < 5; ++run)
    for (const auto late : {200us, 480us, 210us}) calibration.learn("netem", Way::forward, 1ms, late);
  EXPECT_EQ(calibration.estimate("netem", Way::forward, 1ms), 340us);
}

TEST(Calibration, SurvivesItsFile) {
  Calibration calibration;
  calibration.learn("netem", Way::back, 1ms, -2us);
  calibration.back = {.median = 4711, .samples = 50};
  const auto read = calibration_from_json(to_json(calibration)).value();
  EXPECT_EQ(read.estimate("netem", Way::back, 1ms), -2us);
  EXPECT_EQ(read.back.median, 4711);
  EXPECT_FALSE(calibration_from_json("{\"lateness\": 5}"));
}

}  // namespace
}  // namespace longhaul::degen
