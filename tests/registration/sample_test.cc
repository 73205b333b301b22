// Samples in space against the whole.
#include "registration/simulate/sample.hh"

#include <gmock/gmock.h>

#include <cmath>

#include "registration/simulate/generator.hh"
#include "registration/simulate/rows.hh"

namespace longhaul::registration {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Sampler, SharesNoPlaceAndTakesItsPart) {
  for (const double rate : {0.5, 0.125, 0.1, 0.01}) {
    const Sampler sampler{rate, false};
    EXPECT_EQ(sampler.samples(), std::min<std::size_t>(8, static_cast<std::size_t>(1 / rate + 1e-9)));
    std::vector<int> counts(sampler.samples());
    constexpr int kPlaces = 200'000;
    for (std::uint64_t place = 0; place < kPlaces; ++place)
      if (const auto sample = sampler.sample_of({3 * place, 1 + place % 7})) {
        EXPECT_EQ(sampler.sample_of({3 * place, 1}), sample) << "what is asked for there does not matter";
        ++counts.at(*sample);
      }
    for (const int count : counts) EXPECT_NEAR(count, rate * kPlaces, 5 * std::sqrt(rate * kPlaces));
  }
  // By address a block of 1 MiB is taken or not.
  const Sampler blocks{0.1, true};
  for (std::uint64_t block = 0; block < 1000; ++block)
    EXPECT_EQ(blocks.sample_of({block * 256, 1}), blocks.sample_of({block * 256 + 255, 8}));
  EXPECT_EQ(blocks.scaled({.pages = 1000}).pages, 100U);
  EXPECT_EQ(blocks.scaled({.pages = 1000}).regions, Capacity{}.regions);
  EXPECT_EQ(blocks.scaled({.pages = 1000, .regions = 20}).regions, 2U);
}

TEST(Estimate, IsStudents) {
  const auto some = estimate(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_DOUBLE_EQ(some.value, 4.5);
  // t(7, 97.5 %) = 2.36462; the deviation of the eight is sqrt(6), of their mean sqrt(6/8).
  EXPECT_NEAR(some.error, 2.364624 * std::sqrt(6.0 / 8), 1e-5);
  EXPECT_EQ(estimate(std::vector<double>{0.3, 0.3}).error, 0);
}

TEST(Adjusted, CountsWhatIsMissingAsHits) {
  const Tally sample{.requests = 90, .pages = 200, .hits = 60, .registrations = 30};
  const auto more = adjusted(sample, 1000, 2100, 0.1);
  EXPECT_EQ(more.requests, 100U);
  EXPECT_EQ(more.pages, 210U);
  EXPECT_EQ(more.hits, 70U);
  EXPECT_EQ(more.registrations, 30U);
  EXPECT_EQ(adjusted(sample, 200, 2100, 0.1).hits, 0U);
  const auto whole = whole_of(std::vector<Tally>{more, more}, 1000, 2100, 0.1);
  EXPECT_EQ(whole.hits, 700U);
  EXPECT_EQ(whole.registrations, 300U);
  EXPECT_EQ(whole.requests, 1000U);
}

TEST(CheckSampling, RefusesWithTheRemedy) {
  const auto refusal = [](double rate, std::uint64_t pages) {
    const auto good = check_sampling(rate, std::vector<Capacity>{{.pages = pages}});
    return good ? std::string{} : good.error().message;
  };
  EXPECT_EQ(refusal(0.01, 12800), "");
  EXPECT_THAT(refusal(0.01, 6400), AllOf(HasSubstr("25600 KiB is too little for --sample 1%"),
                                         HasSubstr("would have 64 pages, of at least 128"),
                                         HasSubstr("take 51200 KiB or more, or a sample of 2%")));
  for (const double rate : {0.0, -1.0, 0.6, std::nan("")}) EXPECT_THAT(refusal(rate, 1 << 20), HasSubstr("above 0"));
}

// The share of the true figures that lie within the errors that are said; and how large these are.
TEST(Sample, SaysHowFarOffItMayBe) {
  int within = 0, all = 0;
  double widest = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    SweepOptions options{.strategies = *parse_strategies("lru,mrrc,s3-fifo", cost_profiles()),
                         .capacities = {{.pages = 8192}, {.pages = 32768}},
                         .threads = 1};
    const GeneratorOptions recipe{.requests = 400'000, .objects = 40'000, .skew = 0.8, .seed = seed};
    const auto exact = sweep(*generate(recipe), options);
    options.sample = 0.05;
    const auto sampled = sweep(*generate(recipe), options);
    ASSERT_TRUE(exact && sampled);
    const auto truth = rows_of(*exact, options, cost_profiles());
    const auto rows = rows_of(*sampled, options, cost_profiles());
    ASSERT_EQ(truth.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].policy, truth[i].policy);
      EXPECT_EQ(rows[i].capacity_bytes, truth[i].capacity_bytes);
      EXPECT_EQ(rows[i].requests, truth[i].requests);
      EXPECT_FALSE(truth[i].hit_ratio_error);
      ASSERT_TRUE(rows[i].hit_ratio_error && rows[i].cost_saved_error);
      EXPECT_NEAR(rows[i].hit_ratio, truth[i].hit_ratio, 0.04) << rows[i].policy;
      within += std::abs(rows[i].hit_ratio - truth[i].hit_ratio) <= *rows[i].hit_ratio_error ? 1 : 0;
      within += std::abs(rows[i].cost_saved - truth[i].cost_saved) <= *rows[i].cost_saved_error ? 1 : 0;
      all += 2;
      widest = std::max(widest, *rows[i].hit_ratio_error);
      EXPECT_NEAR(static_cast<double>(rows[i].registrations), static_cast<double>(truth[i].registrations),
                  0.1 * static_cast<double>(truth[i].registrations));
    }
  }
  std::printf("%d of %d within, widest %.4f\n", within, all, widest);
  EXPECT_GE(within, 0.85 * all);
  EXPECT_LT(widest, 0.05);
}

// Without a cache nothing hits, whatever is sampled.
TEST(Sample, LeavesNoCacheExact) {
  const SweepOptions options{.strategies = *parse_strategies("none,lru", cost_profiles()),
                             .capacities = {{.pages = 8192}},
                             .sample = 0.1,
                             .threads = 2};
  const auto swept = sweep(*generate({.requests = 50'000, .objects = 5000}), options);
  ASSERT_TRUE(swept);
  ASSERT_EQ(swept->outcomes.size(), 2U);
  EXPECT_EQ(swept->outcomes[0].tally.hits, 0U);
  EXPECT_EQ(swept->outcomes[0].tally.registrations, 50'000U);
  EXPECT_TRUE(swept->outcomes[0].samples.empty());
  EXPECT_EQ(swept->outcomes[1].samples.size(), 8U);
}

}  // namespace
}  // namespace longhaul::registration
