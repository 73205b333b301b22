// What each policy does that the others do not, and the figures that are known of a real trace.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "registration/policies/strategy.hh"
#include "registration/simulate/rows.hh"
#include "tests/some.hh"

namespace longhaul::registration {
namespace {

namespace fs = std::filesystem;

// A cache of one strategy, asked for one-page objects and larger ones.
class Asked {
 public:
  Asked(std::string_view name, std::uint64_t pages)
      : strategy_(parse_strategies(name, cost_profiles()).value().front()),
        cache_({.pages = pages}, strategy_.policy, strategy_.options) {}
  bool hit(std::uint64_t object, std::uint64_t pages = 1) {
    const Pages asked{object * 1000, pages};
    const auto plan = cache_.request(asked);
    const bool was = plan.hit();
    auto leased = plan.covered;
    if (plan.kept)
      for (const auto& gap : plan.gaps) cache_.add(gap, leased);
    cache_.release(leased);
    return was;
  }
  std::size_t regions() const { return cache_.regions(); }

 private:
  Strategy strategy_;
  RegionCache cache_;
};

TEST(Policies, LruForgetsTheOldest) {
  Asked cache{"lru", 3};
  for (const std::uint64_t object : {1U, 2U, 3U, 1U, 4U}) cache.hit(object);
  EXPECT_TRUE(cache.hit(1));
  EXPECT_FALSE(cache.hit(2));
}

TEST(Policies, BatchesGoTogether) {
  Asked cache{"lru-batch:batch=0.5", 10};
  for (std::uint64_t object = 0; object < 11; ++object) cache.hit(object);
  EXPECT_EQ(cache.regions(), 6U);
}

TEST(Policies, MrrcKeepsSmallRegionsOfTheResortedPart) {
  Asked cache{"mrrc:frequent=0.2:eviction=0.1", 20};
  cache.hit(1, 1);
  cache.hit(2, 8);
  cache.hit(3, 8);
  cache.hit(4, 3);
  cache.hit(5, 4);  // room is needed: the large ones have the lowest factors, though 1 is older
  EXPECT_TRUE(cache.hit(1, 1));
  EXPECT_FALSE(cache.hit(2, 8));
}

TEST(Policies, GreedyDualSizeKeepsTheSmall) {
  Asked cache{"gds", 10};
  cache.hit(1, 1);
  cache.hit(2, 8);
  cache.hit(3, 4);
  EXPECT_TRUE(cache.hit(1, 1));
  EXPECT_FALSE(cache.hit(2, 8));
}

TEST(Policies, FrequencyOutweighsRecency) {
  Asked cache{"gdsf", 4};
  for (int i = 0; i < 10; ++i) cache.hit(1);
  for (std::uint64_t object = 2; object < 7; ++object) cache.hit(object);
  EXPECT_TRUE(cache.hit(1));
}

TEST(Policies, SieveSparesWhatWasUsed) {
  Asked cache{"sieve", 3};
  for (const std::uint64_t object : {1U, 2U, 3U, 1U, 4U}) cache.hit(object);
  EXPECT_TRUE(cache.hit(1)) << "the hand spares it, though it came first";
  EXPECT_FALSE(cache.hit(2));
}

// A scan of things that are asked for once must not wash out what is asked for again and again.
TEST(Policies, ScansAreResisted) {
  for (const char* name : {"s3-fifo", "w-tinylfu", "lhd", "rate"}) {
    SCOPED_TRACE(name);
    Asked cache{name, 200};
    Asked lru{"lru", 200};
    int hits = 0;
    int lru_hits = 0;
    std::uint64_t scanned = 1000;
    for (int round = 0; round < 400; ++round) {
      for (std::uint64_t object = 0; object < 50; ++object) {
        hits += cache.hit(object) ? 1 : 0;
        lru_hits += lru.hit(object) ? 1 : 0;
      }
      for (int i = 0; i < 300; ++i, ++scanned) {
        cache.hit(scanned);
        lru.hit(scanned);
      }
    }
    EXPECT_EQ(lru_hits, 0);
    EXPECT_GT(hits, 400 * 50 * 3 / 4);
  }
}

TEST(Policies, LazyFindsOnlyWhatItRegistered) {
  Asked lazy{"lazy", 100};
  lazy.hit(1, 8);
  EXPECT_TRUE(lazy.hit(1, 8));
  EXPECT_FALSE(lazy.hit(1, 16));
  EXPECT_EQ(lazy.regions(), 1U);
}

Row row_of(const fs::path& file, std::string_view policy, std::uint64_t pages) {
  auto trace = open_trace(file, Format::nasa, {}).value();
  const SweepOptions options{
      .strategies = parse_strategies(policy, cost_profiles()).value(), .capacities = {{.pages = pages}}, .threads = 1};
  return rows_of(sweep(*trace, options).value(), options, cost_profiles()).front();
}

std::vector<Row> bounds_of(const fs::path& file, std::uint64_t pages) {
  auto trace = open_trace(file, Format::nasa, {}).value();
  const SweepOptions options{.strategies = parse_strategies("none", cost_profiles()).value(),
                             .capacities = {{.pages = pages}},
                             .offline = true};
  auto result = sweep(*trace, options).value();
  return bound_rows(result, options.capacities, cost_profiles());
}

// The same trace for ten minutes, which is in the tree: every policy's figures, so that a change of any is seen without
// ../shared, too. They are what the code gave when they were written down, and no paper's.
class Excerpt : public testing::Test {
 protected:
  const fs::path file_ = fs::path{LONGHAUL_SOURCE_DIR} / "tests/registration/traces/nasa_19950801_excerpt.tsv";
  static constexpr std::uint64_t kPages = 256;
};

TEST_F(Excerpt, FiguresOfEveryPolicy) {
  struct Known {
    const char* policy;
    double hit_ratio;
    double cost_saved;
  };
  const Known known[] = {
      {"none", 0.0000, 0.0000},        {"pin-down-pages", 0.5606, 0.3402},
      {"fmrd", 0.5572, 0.5175},        {"pin-down", 0.5606, 0.4943},
      {"lru", 0.5606, 0.4943},         {"lru-batch", 0.5589, 0.5199},
      {"lazy", 0.5606, 0.4943},        {"mrrc", 0.6431, 0.5812},
      {"mrrc-figure", 0.6481, 0.5849}, {"ucx", 0.5606, 0.4943},
      {"gds", 0.6667, 0.5922},         {"gds-cost", 0.6431, 0.5670},
      {"gdsf", 0.6700, 0.5978},        {"gdsf-cost", 0.6532, 0.5781},
      {"s3-fifo", 0.6077, 0.5406},     {"sieve", 0.6195, 0.5493},
      {"w-tinylfu", 0.6162, 0.5463},   {"lhd", 0.6700, 0.5955},
      {"rate", 0.6835, 0.6211},
  };
  for (const auto& [policy, hit_ratio, cost_saved] : known) {
    const auto row = row_of(file_, policy, kPages);
    EXPECT_EQ(row.requests, 594U);
    EXPECT_NEAR(row.hit_ratio, hit_ratio, 0.0001) << policy;
    EXPECT_NEAR(row.cost_saved, cost_saved, 0.0001) << policy;
  }
  const auto all = parse_strategies("all", cost_profiles()).value();
  for (const auto& strategy : some(all))
    EXPECT_TRUE(
        std::any_of(std::begin(known), std::end(known), [&](const Known& one) { return one.policy == strategy.name; }))
        << strategy.name << " has no figures here";
}

TEST_F(Excerpt, Bounds) {
  const auto bounds = bounds_of(file_, kPages);
  ASSERT_GE(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].policy, "belady-size");
  EXPECT_NEAR(bounds[0].hit_ratio, 0.7054, 0.0001);
  EXPECT_NEAR(bounds[0].cost_saved, 0.6459, 0.0001);
  EXPECT_EQ(bounds[1].policy, "pfoo-l");
  EXPECT_NEAR(bounds[1].hit_ratio, 0.7054, 0.0001);
  EXPECT_NEAR(bounds[1].cost_saved, 0.6570, 0.0001);
}

// PAPERS.md, section M: what a prototype gave on this trace, prepared as that section says.
class Nasa : public testing::Test {
 protected:
  static constexpr std::uint64_t kPages = (8 << 20) / kPageSize;
  static inline const fs::path kFile = fs::path{LONGHAUL_SOURCE_DIR} / "../shared/traces/nasa_19950801.tsv";
  static Row row(std::string_view policy) { return row_of(kFile, policy, kPages); }
  void SetUp() override {
    if (!fs::exists(kFile)) GTEST_SKIP() << "../shared/traces/nasa_19950801.tsv is not here";
  }
};

TEST_F(Nasa, FiguresAreThoseOfThePrototype) {
  EXPECT_NEAR(row("lru").hit_ratio, 0.740, 0.005);
  EXPECT_NEAR(row("lru").cost_saved, 0.637, 0.007);
  // How much goes in a batch is our reading; a point is within it.
  EXPECT_NEAR(row("lru-batch").hit_ratio, 0.738, 0.01);
  EXPECT_NEAR(row("lru-batch").cost_saved, 0.654, 0.01);
  EXPECT_NEAR(row("mrrc").hit_ratio, 0.807, 0.01);
  EXPECT_NEAR(row("mrrc").cost_saved, 0.694, 0.01);
  EXPECT_NEAR(row("gds").hit_ratio, 0.830, 0.005);
  EXPECT_NEAR(row("gds").cost_saved, 0.696, 0.007);
  EXPECT_NEAR(row("gdsf").hit_ratio, 0.844, 0.005);
}

TEST_F(Nasa, OursBeatsThem) {
  const auto best = row("rate");
  EXPECT_GE(best.hit_ratio, 0.85);
  EXPECT_GE(best.cost_saved, 0.72);
  const auto all = parse_strategies("all", cost_profiles()).value();
  for (const auto& strategy : some(all)) EXPECT_LE(row(strategy.name).cost_saved, best.cost_saved) << strategy.name;
}

TEST_F(Nasa, BoundsToo) {
  const auto bounds = bounds_of(kFile, kPages);
  ASSERT_FALSE(bounds.empty());
  EXPECT_EQ(bounds[0].policy, "belady-size");
  EXPECT_NEAR(bounds[0].hit_ratio, 0.886, 0.005);
  EXPECT_EQ(bounds[1].policy, "pfoo-l");
  EXPECT_NEAR(bounds[1].hit_ratio, 0.893, 0.005);
  EXPECT_NEAR(bounds[1].cost_saved, 0.801, 0.01);
}

}  // namespace
}  // namespace longhaul::registration
