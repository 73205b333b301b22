// A simulation in shares: whatever they are, they join to the whole.
#include "registration/simulate/division.hh"

#include <gmock/gmock.h>

#include "registration/simulate/generator.hh"
#include "registration/simulate/sample.hh"

namespace longhaul::registration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Parts, AreNeighboursAndEachIsInOneShare) {
  EXPECT_THAT(parts_of(2, 3, {}), ElementsAre(Part{0, 0, 3}, Part{1, 0, 3}));
  EXPECT_THAT(parts_of(2, 3, {1, 3}), ElementsAre(Part{0, 0, 2}));
  EXPECT_THAT(parts_of(2, 3, {2, 3}), ElementsAre(Part{0, 2, 1}, Part{1, 0, 1}));
  EXPECT_THAT(parts_of(2, 3, {3, 3}), ElementsAre(Part{1, 1, 2}));
  for (std::size_t of = 1; of <= 20; ++of) {
    std::size_t count = 0;
    for (std::size_t number = 1; number <= of; ++number)
      for (const auto& part : parts_of(3, 5, {number, of})) count += part.count;
    EXPECT_EQ(count, 15U) << of;
  }
}

// Three traces by some policies, of which one caches nothing, one weighs costs and so comes twice.
class Joined : public testing::Test {
 protected:
  explicit Joined(double sample = 0) {
    all_.strategies = *parse_strategies("none,lru,gdsf-cost,lru-batch", profiles_);
    for (const std::uint64_t pages : {256, 1024, 4096, 16384})
      all_.capacities.push_back({.pages = pages, .regions = 0});
    all_.sample = sample;
    all_.offline = sample == 0;
    all_.threads = 1;
  }
  std::vector<SimulatedTrace> simulate(Share share) const {
    std::vector<SimulatedTrace> found;
    for (const auto& part : parts_of(kTraces, all_.capacities.size(), share)) {
      auto options = all_;
      const auto from = all_.capacities.begin() + static_cast<std::ptrdiff_t>(part.first);
      options.capacities = {from, from + static_cast<std::ptrdiff_t>(part.count)};
      const auto trace = generate(*parse_generator("requests=4000,objects=400,seed=" + std::to_string(part.trace)));
      auto swept = *sweep(*trace, options);
      SimulatedTrace one{.name = "trace " + std::to_string(part.trace),
                         .requests = swept.requests,
                         .pages = swept.pages,
                         .lengths = swept.lengths.summary(),
                         .sample = all_.sample,
                         .rows = rows_of(swept, options, profiles_)};
      if (all_.offline) {
        const auto bounds = bound_rows(swept, options.capacities, profiles_);
        one.bounded = !bounds.empty();
        one.rows.insert(one.rows.end(), bounds.begin(), bounds.end());
      }
      found.push_back(std::move(one));
    }
    return found;
  }
  std::string document(const std::vector<SimulatedTrace>& traces) const {
    return document_of(traces, all_.strategies, profiles_);
  }
  // As they come from the shares' files.
  std::vector<std::vector<SimulatedTrace>> shares(std::size_t of) const {
    std::vector<std::vector<SimulatedTrace>> found;
    for (std::size_t number = 1; number <= of; ++number) found.push_back(*traces_of(document(simulate({number, of}))));
    return found;
  }
  void expect_the_whole() const {
    const auto whole = document(simulate({}));
    for (std::size_t of = 1; of <= kTraces * all_.capacities.size(); ++of) {
      const auto joined = join_shares(shares(of), kTraces, all_, profiles_);
      ASSERT_TRUE(joined) << of << ": " << joined.error().message;
      EXPECT_EQ(document(*joined), whole) << of;
    }
  }

  static constexpr std::size_t kTraces = 3;
  std::vector<CostProfile> profiles_ = cost_profiles();
  SweepOptions all_;
};

class SampledJoined : public Joined {
 protected:
  SampledJoined() : Joined(0.5) {}
};

TEST_F(Joined, SharesAreTheWholeHoweverManyTheyAre) {
  expect_the_whole();
}

TEST_F(SampledJoined, SharesAreTheWholeWithItsErrors) {
  expect_the_whole();
}

TEST_F(Joined, SharesOfAnotherSimulationAreRefused) {
  const auto refused = [&](const std::vector<std::vector<SimulatedTrace>>& some, const char* why) {
    const auto joined = join_shares(some, kTraces, all_, profiles_);
    ASSERT_FALSE(joined);
    EXPECT_THAT(joined.error().message, HasSubstr(why));
  };
  const auto good = shares(5);
  auto bad = good;
  bad.pop_back();
  refused(bad, "is of another simulation");
  bad = good;
  std::swap(bad[0], bad[4]);
  refused(bad, "shares 1 and 2 are of different simulations");
  bad = good;
  bad[1].front().rows.pop_back();
  bad[1].front().rows.resize(3);
  refused(bad, "share 2 is of another simulation");
  bad = good;
  auto more = bad[3].front().rows.front();
  bad[3].front().rows.insert(bad[3].front().rows.begin(), {more, more});
  refused(bad, "share 4 is of another simulation");
  refused({}, "there is no share to join");
}

TEST_F(Joined, ADocumentIsReadToTheLastBit) {
  auto traces = simulate({});
  traces[0].rows[0].cost_us = 0.1 + 0.2;
  traces[0].rows[0].hit_ratio_error = 1.0 / 3;
  traces[0].skipped = 7;
  EXPECT_EQ(document(*traces_of(document(traces))), document(traces));
}

TEST_F(Joined, WhatIsNoSuchDocumentIsRefused) {
  const auto refused = [](std::string text, const char* why) {
    const auto traces = traces_of(text);
    ASSERT_FALSE(traces) << text;
    EXPECT_THAT(traces.error().message, HasSubstr(why));
  };
  refused("", "not JSON");
  refused("[1]", "not what `longhaul simulate` writes");
  refused("{}", "not what `longhaul simulate` writes");
  auto text = document(simulate({}));
  const auto replaced = [&](const std::string& what, const std::string& by) {
    auto other = text;
    other.replace(other.find(what), what.size(), by);
    return other;
  };
  refused(replaced("\"version\":\"", "\"version\":\"9."), "it was made by longhaul 9.");
  refused(replaced("\"registrations\":", "\"registrations\":-"), "not what `longhaul simulate` writes");
  refused(replaced("\"policy\":\"none\"", "\"policy\":5"), "not what `longhaul simulate` writes");
}

}  // namespace
}  // namespace longhaul::registration
