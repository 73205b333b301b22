#include "degen/impairment/spec.hh"

#include <gmock/gmock.h>

#include "degen/impairment/profiles.hh"
#include "tests/some.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Spec, EveryAxisHasABackVariantWithoutDefault) {
  const auto& axes = impairment_axes();
  for (const auto& axis : some(axes)) {
    if (axis.name == kProfileAxis) continue;  // of both ways
    if (axis.name.ends_with("_back")) {
      EXPECT_FALSE(axis.fallback) << axis.name;
      continue;
    }
    ASSERT_TRUE(axis.fallback) << axis.name;
    EXPECT_TRUE(check_value(axis, *axis.fallback)) << axis.name;
    const auto* back = find_parameter(axes, axis.name + "_back");
    ASSERT_NE(back, nullptr) << axis.name;
    EXPECT_EQ(back->kind, axis.kind);
    EXPECT_EQ(back->max, axis.max);
  }
}

TEST(Spec, NothingIsAskedByDefault) {
  const auto impairment = make_impairment({});
  ASSERT_TRUE(impairment);
  EXPECT_TRUE(impairment->none());
  EXPECT_EQ(describe(*impairment), "none");
}

TEST(Spec, AbsentBackIsAsForward) {
  const auto impairment = make_impairment({{"delay", 5'000'000}, {"loss", 1000}, {"loss_back", 0}}).value();
  EXPECT_EQ(impairment.forward.delay, 5ms);
  EXPECT_EQ(impairment.back.delay, 5ms);
  EXPECT_EQ(impairment.forward.loss.parts, 1000);
  EXPECT_EQ(impairment.back.loss.parts, 0);
}

TEST(Spec, ReadsEveryAxis) {
  const auto impairment = make_impairment({{"delay", 20'000'000},
                                           {"jitter", 1'000'000},
                                           {"distribution", "pareto"},
                                           {"jitter_order", "free"},
                                           {"loss", 5000},
                                           {"loss_burst", 4},
                                           {"ecn", 1},
                                           {"rate", 100'000'000},
                                           {"queue", 40},
                                           {"duplicate", 10},
                                           {"corrupt", 30},
                                           {"reorder", 20}})
                              .value();
  const Direction expected{.delay = 20ms,
                           .jitter = 1ms,
                           .distribution = Distribution::pareto,
                           .keep_order = false,
                           .loss = {5000},
                           .loss_burst = 4,
                           .ecn = true,
                           .rate = {100'000'000},
                           .queue = 40,
                           .duplicate = {10},
                           .corrupt = {30},
                           .reorder = {20}};
  EXPECT_EQ(impairment.forward, expected);
  EXPECT_EQ(impairment.back, expected);
  EXPECT_EQ(expected.longest(), 24ms);
}

TEST(Spec, ReadsGilbertElliott) {
  const auto impairment = make_impairment({{"ge_enter", 10'000}, {"ge_leave", 250'000}, {"ge_loss_good", 10}}).value();
  EXPECT_EQ(impairment.forward.ge,
            (GilbertElliott{.enter = {10'000}, .leave = {250'000}, .loss_bad = {1'000'000}, .loss_good = {10}}));
  EXPECT_TRUE(impairment.forward.loses() && impairment.random());
  EXPECT_EQ(describe(impairment), "ge_enter 1%, ge_leave 25%, ge_loss_good 10ppm");
  // Its other axes ask for nothing by themselves.
  EXPECT_TRUE(make_impairment({{"ge_leave", 250'000}, {"ge_loss_bad", 10}})->none());
  EXPECT_FALSE(make_impairment({{"ge_loss_good", 10}})->none());
  EXPECT_FALSE(make_impairment({{"ge_leave", 0}}));  // the bad state would never end
}

TEST(Spec, RefusesWhatMeansNothing) {
  const auto message = [](const Parameters& parameters) { return make_impairment(parameters).error().message; };
  EXPECT_THAT(message({{"delai", 1}}), HasSubstr("did you mean 'delay'"));
  EXPECT_THAT(message({{"delay", -1}}), HasSubstr("delay: "));
  EXPECT_THAT(message({{"delay", 11'000'000'000}}), HasSubstr("outside 0 to 10s"));
  EXPECT_THAT(message({{"delay", "soon"}}), HasSubstr("expected a number"));
  EXPECT_THAT(message({{"delay", 1000}, {"jitter", 2000}}), HasSubstr("jitter: 2us is more than the delay of 1us"));
  EXPECT_THAT(message({{"delay", 5000}, {"jitter", 2000}, {"delay_back", 0}}), HasSubstr("jitter_back: "));
  EXPECT_THAT(message({{"reorder", 100}}), HasSubstr("reorder: "));
  EXPECT_THAT(message({{"loss", 900'000}, {"loss_burst", 2}}),
              HasSubstr("loss: 90% cannot be reached with bursts of 2"));
  EXPECT_THAT(message({{"queue", 10}}), HasSubstr("queue: 10 without rate: "));
  EXPECT_THAT(message({{"rate", 1000}, {"rate_back", 0}, {"queue", 10}}),
              HasSubstr("queue_back: 10 without rate_back"));
  EXPECT_THAT(message({{"loss", 10}, {"loss_back", 0}, {"ge_enter", 10}}),
              HasSubstr("loss: 10ppm beside ge_enter or ge_loss_good"));
  EXPECT_THAT(message({{"loss_back", 10}, {"ge_enter", 10}}), HasSubstr("loss_back: 10ppm beside ge_enter_back"));
  EXPECT_THAT(message({{"distribution", "gauss"}}), HasSubstr("expected one of uniform, normal, pareto"));
}

TEST(Spec, ParametersAreTheShortestThatReadBack) {
  EXPECT_EQ(to_parameters(make_impairment({{"delay", 5}, {"delay_back", 5}, {"loss", 0}}).value()),
            (Parameters{{"delay", 5}}));
  for (const Parameters& parameters :
       {Parameters{{"delay", 5000}, {"delay_back", 0}},
        Parameters{{"delay_back", 7000}, {"jitter_back", 1000}, {"distribution_back", "normal"}},
        Parameters{{"loss", 10}, {"loss_burst", 3}, {"loss_burst_back", 1}},
        Parameters{{"loss", 10}, {"ecn", 1}, {"ecn_back", 0}, {"corrupt", 5}, {"corrupt_back", 6}}}) {
    const auto impairment = make_impairment(parameters).value();
    EXPECT_EQ(to_parameters(impairment), parameters);
    EXPECT_EQ(make_impairment(to_parameters(impairment)).value(), impairment);
  }
}

TEST(Spec, DescribesForPeople) {
  EXPECT_EQ(
      describe(
          make_impairment({{"delay", 5'000'000}, {"loss", 1000}, {"delay_back", 1'000'000}, {"loss_back", 0}}).value()),
      "delay 5ms, loss 1000ppm | back: delay 1ms");
}

TEST(Spec, PicksItsAxesOutOfACell) {
  EXPECT_EQ(impairment_part({{"delay", 5}, {"size", 64}, {"transport", "tcp"}, {"loss_back", 3}}),
            (Parameters{{"delay", 5}, {"loss_back", 3}}));
}

}  // namespace
}  // namespace longhaul::degen
