// Optional stopping: repetitions go on until the interval of the median is narrow enough. Does it still cover the
// median in 95 % then? The schedule itself is asked, on values that are drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "orchestrator/run/schedule.hh"
#include "results/statistics/interval.hh"

namespace longhaul::orchestrator {
namespace {

using Draw = std::function<double(std::mt19937&)>;

struct Coverage {
  double share = 0;  ///< of campaigns whose interval contains the true median
  double runs = 0;   ///< mean
};

Coverage simulate(const Draw& draw, double truth, RepeatRule rule) {
  constexpr int kCampaigns = 2000;
  std::mt19937 random{7};
  Coverage coverage;
  const std::vector<CampaignCell> cells{{.id = "cell", .group = "group"}};
  for (int i = 0; i < kCampaigns; ++i) {
    Schedule schedule{cells, rule, 1, [](const std::vector<double>& values) { return results::precision(values); }};
    std::vector<double> values;
    while (const auto block = schedule.next_block())
      for (const auto& run : block->runs) {
        values.push_back(draw(random));
        schedule.finished(run, Status::ok, values.back());
      }
    const auto interval = results::median_interval(values);
    coverage.share += interval && interval->contains(truth) ? 1.0 / kCampaigns : 0;
    coverage.runs += static_cast<double>(values.size()) / kCampaigns;
  }
  return coverage;
}

// Stopping at the first narrow interval covers 92.5 % where the scatter is 10 % and 5 % are asked (40 runs at most).
TEST(OptionalStopping, IntervalsStillCover) {
  const RepeatRule rule{.min = 6, .max = 40, .precision = 0.05};
  for (const double scatter : {0.02, 0.05, 0.1, 0.2}) {
    const auto coverage = simulate(
        [=](auto& random) {
          return std::exp(std::normal_distribution{0.0, scatter}(random));
        },
        1, rule);
    EXPECT_GE(coverage.share, 0.935) << scatter << ", " << coverage.runs << " runs";
    EXPECT_LT(coverage.runs, 41) << scatter;
  }
  const auto skewed = simulate([](auto& random) { return 1 + std::exponential_distribution{10.0}(random); },
                               1 + 0.1 * std::log(2), rule);
  EXPECT_GE(skewed.share, 0.935) << skewed.runs << " runs";
}

}  // namespace
}  // namespace longhaul::orchestrator
