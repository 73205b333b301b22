// Conditional writes and keys: which goes with which, and what becomes of those that have no other half.
#include "workloads/protocols/frrwp/write_matcher.hh"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace longhaul::workloads::frrwp {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds kTurnTime{1'000'000};

observe::RawTime at(std::int64_t ns) {
  return observe::from_ns(ns);
}

WriteOrder order(Tag tag, std::size_t length = 4096) {
  return {tag, {{0, length, {}}}, 0, length};
}

std::vector<Segment> segments(std::size_t length = 4096) {
  return {{8192, static_cast<std::uint32_t>(length), 5}};
}

template <typename T>
const T& only(const std::vector<Action>& actions) {
  EXPECT_EQ(actions.size(), 1U);
  return std::get<T>(actions.at(0));
}

TEST(MatcherTest, AWriteWaitsForItsKey) {
  WriteMatcher matcher{kTurnTime};
  EXPECT_TRUE(matcher.post(order(1), at(10)).empty());
  EXPECT_EQ(matcher.held(), 1U);
  const auto actions = matcher.key(1, 4096, segments(), at(20));
  const auto& submit = only<Submit>(actions);
  EXPECT_EQ(submit.order.tag, 1U);
  EXPECT_EQ(submit.segments, segments());
  EXPECT_EQ(submit.matched, at(20));
  EXPECT_EQ(matcher.held(), 0U);
  EXPECT_FALSE(matcher.deadline());
}

TEST(MatcherTest, AKeyWaitsForItsWrite) {
  WriteMatcher matcher{kTurnTime};
  EXPECT_TRUE(matcher.key(1, 4096, segments(), at(10)).empty());
  EXPECT_EQ(matcher.early(), 1U);
  EXPECT_EQ(only<Submit>(matcher.post(order(1), at(30))).matched, at(10));
  EXPECT_EQ(matcher.early(), 0U);
}

TEST(MatcherTest, TenThousandInAnyOrder) {
  WriteMatcher matcher{kTurnTime};
  std::vector<Tag> tags(10'000);
  std::iota(tags.begin(), tags.end(), 1);
  for (const auto tag : tags) ASSERT_TRUE(matcher.post(order(tag), at(0)).empty());
  std::shuffle(tags.begin(), tags.end(), std::mt19937{1});
  for (const auto tag : tags) ASSERT_EQ(only<Submit>(matcher.key(tag, 4096, segments(), at(1))).order.tag, tag);
  EXPECT_EQ(matcher.held() + matcher.early(), 0U);
}

TEST(MatcherTest, AKeyThatComesTwiceIsRejected) {
  WriteMatcher matcher{kTurnTime};
  matcher.key(1, 4096, segments(), at(0));
  EXPECT_THAT(only<Reject>(matcher.key(1, 4096, segments(), at(0))).reason, HasSubstr("twice"));
  // The first is still good.
  only<Submit>(matcher.post(order(1), at(0)));
  EXPECT_THAT(only<Reject>(matcher.key(1, 4096, segments(), at(0))).reason, HasSubstr("is over"));
}

TEST(MatcherTest, ATagIsUsedOnce) {
  WriteMatcher matcher{kTurnTime};
  matcher.post(order(1), at(0));
  EXPECT_THAT(only<Fail>(matcher.post(order(1), at(0))).reason, HasSubstr("has been used"));
  matcher.key(1, 4096, segments(), at(0));
  EXPECT_THAT(only<Fail>(matcher.post(order(1), at(0))).reason, HasSubstr("has been used"));
}

TEST(MatcherTest, AKeyForAnotherLengthFailsBothEnds) {
  for (const bool early : {false, true}) {
    WriteMatcher matcher{kTurnTime};
    if (!early) matcher.post(order(1, 8192), at(0));
    auto actions = matcher.key(1, 4096, segments(), at(0));
    if (early) actions = matcher.post(order(1, 8192), at(0));
    ASSERT_EQ(actions.size(), 2U);
    EXPECT_THAT(std::get<Fail>(actions[0]).reason, HasSubstr("4096 bytes"));
    EXPECT_THAT(std::get<Reject>(actions[1]).reason, HasSubstr("8192"));
    EXPECT_EQ(matcher.held() + matcher.early(), 0U);
  }
  // The length that is said and the segments that are named.
  WriteMatcher matcher{kTurnTime};
  matcher.post(order(1), at(0));
  EXPECT_EQ(matcher.key(1, 4096, segments(1024), at(0)).size(), 2U);
}

TEST(MatcherTest, ACancelledWriteIsNotMade) {
  WriteMatcher matcher{kTurnTime};
  matcher.post(order(1), at(0));
  const auto actions = matcher.cancel(1);
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_THAT(std::get<Fail>(actions[0]).reason, HasSubstr("cancelled"));
  EXPECT_EQ(std::get<Reject>(actions[1]).tag, 1U);
  EXPECT_THAT(only<Reject>(matcher.key(1, 4096, segments(), at(0))).reason, HasSubstr("is over")) << "stale";
  EXPECT_TRUE(matcher.cancel(1).empty());
  EXPECT_TRUE(matcher.cancel(99).empty());
  EXPECT_FALSE(matcher.deadline()) << "nothing is left to wait for";
}

TEST(MatcherTest, WhatThePeerRefusesFailsHere) {
  WriteMatcher matcher{kTurnTime};
  matcher.post(order(1), at(0));
  EXPECT_EQ(only<Fail>(matcher.refused(1, "no memory")).reason, "no memory");
  EXPECT_TRUE(matcher.refused(1, "no memory").empty());
}

TEST(MatcherTest, WhatWaitsTooLongIsGivenUp) {
  WriteMatcher matcher{kTurnTime};
  matcher.post(order(1), at(0));
  matcher.key(2, 4096, segments(), at(5));
  EXPECT_EQ(matcher.deadline(), at(0) + kTurnTime);
  EXPECT_TRUE(matcher.expire(at(-1) + kTurnTime).empty());
  const auto actions = matcher.expire(at(5) + kTurnTime);
  ASSERT_EQ(actions.size(), 3U);
  EXPECT_THAT(std::get<Fail>(actions[0]).reason, HasSubstr("no key for it came within 1ms"));
  EXPECT_EQ(std::get<Reject>(actions[1]).tag, 1U);
  EXPECT_THAT(std::get<Reject>(actions[2]).reason, HasSubstr("tag 2 is not known"));
  EXPECT_EQ(matcher.held() + matcher.early(), 0U);
  EXPECT_FALSE(matcher.deadline());
}

TEST(MatcherTest, APeerThatSendsKeysForEverIsBounded) {
  WriteMatcher matcher{kTurnTime};
  for (Tag tag = 1; tag <= WriteMatcher::kMostEarly; ++tag)
    ASSERT_TRUE(matcher.key(tag, 4096, segments(), at(0)).empty());
  only<Reject>(matcher.key(WriteMatcher::kMostEarly + 1, 4096, segments(), at(0)));
  EXPECT_EQ(matcher.early(), WriteMatcher::kMostEarly);
}

}  // namespace
}  // namespace longhaul::workloads::frrwp
