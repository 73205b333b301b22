#include "registration/policies/strategy.hh"

#include <gmock/gmock.h>

namespace longhaul::registration {
namespace {

using testing::HasSubstr;

std::string error(std::string_view text) {
  const auto parsed = parse_strategies(text, cost_profiles());
  return parsed ? "" : parsed.error().message;
}

TEST(Strategies, AllOnceAndThoseThatWeighCostsOnceAProfile) {
  const auto all = parse_strategies("all", cost_profiles()).value();
  const auto count = [&](std::string_view name) {
    return std::count_if(all.begin(), all.end(), [&](const Strategy& one) { return one.name == name; });
  };
  EXPECT_EQ(count("lru"), 1);
  EXPECT_EQ(count("gdsf-cost"), 2);
  EXPECT_GE(all.size(), 18U);
}

TEST(Strategies, TakeParameters) {
  const auto two = parse_strategies("mrrc:frequent=0.6:eviction=0.2,lru", cost_profiles()).value();
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].name, "mrrc:frequent=0.6:eviction=0.2");
  EXPECT_TRUE(two[0].batched);
  EXPECT_FALSE(two[1].batched);
}

TEST(Strategies, RefuseWhatThereIsNot) {
  EXPECT_THAT(error("lru,mrcc"), HasSubstr("there is no policy 'mrcc'; did you mean 'mrrc'? (there are all, none, "));
  EXPECT_THAT(error(""), HasSubstr("no policy is named"));
  EXPECT_THAT(error("mrrc:size=1"), HasSubstr("policy mrrc has no parameter 'size' (it has frequent, eviction)"));
  EXPECT_THAT(error("lru:batch=1"), HasSubstr("(it has none)"));
  EXPECT_THAT(error("mrrc:frequent=2"), HasSubstr("frequent is a number from 0 to 1, got '2'"));
  EXPECT_THAT(error("mrrc:frequent"), HasSubstr("got ''"));
}

TEST(CostProfiles, AreReadFromJson) {
  const auto good = parse_cost_profile(
      R"({"name":"mine","registering":{"per_page":0.5,"per_call":9},"deregistering":{"per_page":0,"per_call":1.5}})");
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_DOUBLE_EQ(good->registering.of(10), 14);
  EXPECT_DOUBLE_EQ(good->deregistering.of(10), 1.5);
  EXPECT_THAT(parse_cost_profile("{").error().message, HasSubstr("not JSON"));
  EXPECT_THAT(parse_cost_profile(R"({"name":"x"})").error().message, HasSubstr("registering/per_page"));
  EXPECT_THAT(parse_cost_profile(R"({"name":"x","registering":{"per_page":-1,"per_call":1}})").error().message,
              HasSubstr("registering/per_page: expected microseconds, 0 or more"));
}

}  // namespace
}  // namespace longhaul::registration
