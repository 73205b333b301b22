#include "registration/simulate/offline.hh"

#include <gmock/gmock.h>

#include "registration/policies/strategy.hh"
#include "registration/simulate/generator.hh"
#include "tests/some.hh"

namespace longhaul::registration {
namespace {

std::vector<Pages> requests(std::initializer_list<std::uint64_t> objects, std::uint64_t pages = 1) {
  std::vector<Pages> all;
  for (const auto object : objects) all.push_back({object * 100, pages});
  return all;
}

Future future(const std::vector<Pages>& all) {
  Future one;
  one.add(all);
  EXPECT_TRUE(one.prepare());
  return one;
}

TEST(Future, WhatOverlapsHasNoBound) {
  Future one;
  one.add({{0, 4}, {2, 4}});
  EXPECT_FALSE(one.prepare());
}

TEST(Future, BeladyKeepsWhatComesSoonest) {
  // The textbook's case: with three pages 5 of these 12 hit.
  const auto all = requests({1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5});
  EXPECT_EQ(future(all).belady_size(3).hits, 5U);
}

TEST(Future, BeladyWeighsSizes) {
  // The large object comes back sooner, but the room of one is that of four small ones.
  std::vector<Pages> all{{0, 4}, {100, 1}, {200, 1}, {300, 1}, {400, 1},
                         {0, 4}, {100, 1}, {200, 1}, {300, 1}, {400, 1}};
  EXPECT_EQ(future(all).belady_size(4).hits, 4U);
}

TEST(Future, TheBoundIsExactWhereEverythingFits) {
  const auto all = requests({1, 2, 1, 2, 1, 2});
  EXPECT_DOUBLE_EQ(future(all).pfoo_hits(2).hits, 4);
  // Room for half of it: nothing can hit more often than that allows.
  EXPECT_NEAR(future(all).pfoo_hits(1).hits, 3, 1e-9);
}

TEST(Future, NothingBeatsTheBound) {
  const auto trace = generate(parse_generator("requests=40000,objects=3000,skew=0.8,sizes=httpd").value());
  std::vector<Pages> all;
  std::vector<Pages> batch;
  while (trace->next(batch) && !batch.empty()) all.insert(all.end(), batch.begin(), batch.end());
  const auto known = future(all);
  const auto profile = cost_profiles().front();
  const auto strategies = parse_strategies("all", cost_profiles()).value();
  for (const std::uint64_t pages : {500U, 4000U}) {
    const auto most = known.pfoo_hits(pages).hits;
    const auto saved = known.pfoo_saved(pages, profile).saved;
    const auto belady = known.belady_size(pages);
    EXPECT_LE(static_cast<double>(belady.hits), most);
    for (const auto& strategy : some(strategies)) {
      SCOPED_TRACE(strategy.name);
      Simulation simulation{{.pages = pages}, strategy.policy, strategy.options};
      simulation.feed(all);
      const auto& tally = simulation.tally();
      EXPECT_LE(tally.hits, belady.hits) << "on such a trace knowing the future beats not knowing it";
      EXPECT_LE(cost_without_cache(tally, profile) - cost(tally, profile, false),
                saved + known.left_over(pages, profile));
    }
  }
}

}  // namespace
}  // namespace longhaul::registration
