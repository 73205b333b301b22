// Ready WANs by name, and what they set.
#include "degen/impairment/profiles.hh"

#include <gmock/gmock.h>

#include <set>

#include "degen/engines/planner.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;

TEST(Profiles, EachIsAWanOfItsOwnWithItsSource) {
  std::set<std::string> names;
  std::set<std::string> wans;
  for (const auto& one : profiles()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_FALSE(one.summary.empty()) << one.name;
    EXPECT_FALSE(one.source.empty()) << one.name;
    const auto impairment = make_impairment(one.parameters);
    ASSERT_TRUE(impairment) << one.name << ": " << impairment.error().message;
    EXPECT_GT(impairment->forward.delay.count(), 0) << one.name;
    EXPECT_TRUE(wans.insert(describe(*impairment)).second) << one.name << " is another one's";
    for (const auto& engine : engine_names()) EXPECT_TRUE(check_engine(*impairment, engine)) << one.name;
  }
  EXPECT_THAT(names, testing::Contains("trans-atlantic"));
  EXPECT_FALSE(names.contains(kNoProfile));
}

TEST(Profiles, TheNameStandsForItsValues) {
  const auto leo = *make_impairment({{"profile", std::string{"leo"}}});
  EXPECT_EQ(leo.forward.delay, std::chrono::milliseconds{25});
  EXPECT_EQ(leo.back.delay, std::chrono::milliseconds{25}) << "as forward";
  EXPECT_EQ(leo.forward.rate.bits_per_second, 13'540'000);
  EXPECT_EQ(leo.back.rate.bits_per_second, 87'250'000);
  EXPECT_EQ(leo, *make_impairment(find_profile("leo")->parameters));
  EXPECT_EQ(*make_impairment({{"profile", std::string{"none"}}}), Impairment{});
}

TEST(Profiles, OtherAxesComeOnTopAndNoneIsTakenBack) {
  const auto lossy = *make_impairment({{"profile", std::string{"lte"}}, {"loss", std::int64_t{1000}}});
  EXPECT_EQ(lossy.forward.loss.parts, 1000);
  EXPECT_EQ(lossy.forward.delay, std::chrono::milliseconds{27});
  EXPECT_TRUE(make_impairment({{"profile", std::string{"lte"}}, {"delay", std::int64_t{27'000'000}}}));
  const auto other = make_impairment({{"profile", std::string{"lte"}}, {"delay", std::int64_t{5'000'000}}});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "delay: 5ms beside profile lte, which has 27ms: leave out either");
  const auto unknown = make_impairment({{"profile", std::string{"trans-atlantik"}}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean 'trans-atlantic'?"));
}

}  // namespace
}  // namespace longhaul::degen
