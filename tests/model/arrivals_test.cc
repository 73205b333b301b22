#include "model/arrivals.hh"

#include <gmock/gmock.h>

namespace longhaul {
namespace {

TEST(Arrivals, OfAnUnimpairedPath) {
  std::vector<DatagramArrival> arrivals;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto sent = static_cast<std::int64_t>(i) * 1000;
    arrivals.push_back({.sequence = i, .sent = sent, .received = sent - 5'000'000 + static_cast<std::int64_t>(i % 10)});
  }
  const auto findings = assess(arrivals, 1);
  EXPECT_EQ(findings.came, 100U);
  EXPECT_EQ(findings.duplicates, 0U);
  EXPECT_EQ(findings.overtaking, 0U);
  EXPECT_FALSE(findings.stretch);
  // The clocks are 5 ms apart: nothing of that shows.
  EXPECT_EQ(findings.variation.min(), 0);
  EXPECT_EQ(findings.variation.max(), 9);
  EXPECT_EQ(findings.spread, 5);
  ASSERT_EQ(findings.delays.size(), 100U);
  EXPECT_EQ(findings.delays.front(), -5'000'000);
  EXPECT_EQ(findings.delays.back(), -5'000'000 + 9);
  EXPECT_EQ(assess({}, 1).came, 0U);
}

TEST(Arrivals, CountsWhatOvertakesRatherThanWhatIsOvertaken) {
  // 7 skips its delay and passes all that are still under way: one packet, not five.
  std::vector<DatagramArrival> arrivals;
  for (const std::uint64_t sequence : {0, 1, 7, 2, 3, 4, 5, 6, 8, 9})
    arrivals.push_back({.sequence = sequence, .sent = 0, .received = 0});
  EXPECT_EQ(assess(arrivals, 1).overtaking, 1U);
}

TEST(Arrivals, CountsCopiesOnce) {
  std::vector<DatagramArrival> arrivals;
  for (const std::uint64_t sequence : {0, 1, 1, 1, 2, 0, 4}) arrivals.push_back({.sequence = sequence});
  const auto findings = assess(arrivals, 1);
  EXPECT_EQ(findings.came, 4U);
  EXPECT_EQ(findings.duplicates, 3U);
  EXPECT_EQ(findings.overtaking, 0U);  // the late copy of 0 is a copy, not a packet that was overtaken
}

TEST(Arrivals, TellsLossesInBurstsFromSingleOnes) {
  const auto lost_in_row = [](std::initializer_list<std::uint64_t> came) {
    std::vector<DatagramArrival> arrivals;
    for (const auto sequence : came) arrivals.push_back({.sequence = sequence});
    return assess(arrivals, 1).lost_in_row;
  };
  EXPECT_EQ(lost_in_row({0, 1, 2}), std::nullopt);
  EXPECT_EQ(lost_in_row({0, 2, 4, 3}), 1.0);
  EXPECT_EQ(lost_in_row({3, 4, 6, 10}), 7.0 / 3);  // 0 - 2, 5 and 7 - 9
}

TEST(Arrivals, ABurstIsStretchedByAPathThatDelaysOneAfterTheOther) {
  constexpr std::int64_t kDelay = 1'000'000;
  std::vector<DatagramArrival> kept;
  std::vector<DatagramArrival> cascaded;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const auto sent = static_cast<std::int64_t>(i) * 10'000;
    kept.push_back({.sequence = i, .sent = sent, .received = sent + kDelay});
    cascaded.push_back({.sequence = i, .sent = sent, .received = static_cast<std::int64_t>(i + 1) * kDelay});
  }
  EXPECT_DOUBLE_EQ(assess(kept, 16).stretch.value(), 1.0);
  EXPECT_DOUBLE_EQ(assess(cascaded, 16).stretch.value(), 100.0);
  kept.erase(kept.begin() + 3);  // a burst that lost a packet says nothing
  EXPECT_DOUBLE_EQ(assess(kept, 16).stretch.value(), 1.0);
  EXPECT_FALSE(assess(kept, 64).stretch);
}

}  // namespace
}  // namespace longhaul
