#include "degen/service/probe_matcher.hh"

#include <gtest/gtest.h>

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;

Sighting in(std::uint32_t sequence, Nanoseconds time, Way way = Way::forward) {
  return {.way = way, .leaving = false, .session = 9, .sequence = sequence, .time = time};
}
Sighting out(std::uint32_t sequence, Nanoseconds time, Way way = Way::forward) {
  return {.way = way, .leaving = true, .session = 9, .sequence = sequence, .time = time};
}

TEST(ProbeMatcher, ResidenceIsDepartureLessArrivalPerWay) {
  ProbeMatcher matcher;
  for (std::uint32_t i = 0; i < 100; ++i) {
    matcher.see(in(i, 1s + i * 10ms));
    matcher.see(out(i, 1s + i * 10ms + 5ms + i * 1us));
    auto echo = in(i, 1s + i * 10ms + 6ms, Way::back);
    echo.direction = 1;
    matcher.see(echo);
    echo.leaving = true;
    echo.time += 2ms;
    matcher.see(echo);
  }
  const auto forward = matcher.residence(Way::forward);
  EXPECT_EQ(forward.samples, 100u);
  EXPECT_EQ(forward.min, 5'000'000);
  EXPECT_EQ(forward.max, 5'099'000);
  EXPECT_EQ(forward.median, 5'049'500);
  EXPECT_EQ(forward.p99, 5'099'000);
  EXPECT_EQ(matcher.residence(Way::back).median, 2'000'000);
}

TEST(ProbeMatcher, WhatStaysTooLongIsLost) {
  ProbeMatcher matcher;
  matcher.see(in(1, 1s));
  matcher.see(in(2, 1s + 90ms));
  matcher.see(in(3, 1s + 95ms));
  matcher.see(out(3, 1s + 100ms));
  matcher.expire(1s + 150ms, 100ms);
  EXPECT_EQ(matcher.residence(Way::forward).lost, 1u);
  EXPECT_EQ(matcher.residence(Way::forward).samples, 1u);
  matcher.expire(1s + 190ms, 100ms);
  EXPECT_EQ(matcher.residence(Way::forward).lost, 1u) << "it may still come";
  matcher.expire(1s + 190ms + 1ns, 100ms);
  EXPECT_EQ(matcher.residence(Way::forward).lost, 2u);
}

TEST(ProbeMatcher, CountsDuplicatesOnceAndReorderings) {
  ProbeMatcher matcher;
  for (std::uint32_t i = 0; i < 4; ++i) matcher.see(in(i, 1s + i * 1ms));
  matcher.see(out(0, 2s));
  matcher.see(out(0, 2s + 1ms));
  matcher.see(out(2, 2s + 2ms));
  matcher.see(out(1, 2s + 3ms));
  matcher.see(out(3, 2s + 4ms));
  const auto residence = matcher.residence(Way::forward);
  EXPECT_EQ(residence.samples, 4u);
  EXPECT_EQ(residence.duplicated, 1u);
  EXPECT_EQ(residence.reordered, 1u);
}

TEST(ProbeMatcher, SessionsDoNotMix) {
  ProbeMatcher matcher;
  auto other = in(1, 1s);
  other.session = 8;
  matcher.see(other);
  matcher.see(out(1, 2s));
  EXPECT_EQ(matcher.residence(Way::forward).samples, 0u);
}

TEST(ProbeMatcher, AWindowKeepsWhatIsOnItsWayAResetDoesNot) {
  ProbeMatcher matcher;
  matcher.see(in(1, 1s));
  matcher.begin_window();
  matcher.see(out(1, 1s + 5ms));
  EXPECT_EQ(matcher.residence(Way::forward).samples, 1u);
  matcher.see(in(2, 2s));
  matcher.reset();
  matcher.see(out(2, 2s + 5ms));
  EXPECT_EQ(matcher.residence(Way::forward).samples, 0u);
  EXPECT_EQ(matcher.residence(Way::forward).lost, 0u);
}

TEST(ProbeMatcher, AFloodIsBounded) {
  ProbeMatcher matcher;
  for (std::uint32_t i = 0; i < 200'000; ++i) matcher.see(in(i, 1s + i * 1us));
  EXPECT_EQ(matcher.residence(Way::forward).lost, 200'000u - (1u << 16));
}

}  // namespace
}  // namespace longhaul::degen
