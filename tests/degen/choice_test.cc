#include "degen/engines/choice.hh"

#include <gmock/gmock.h>

#include "degen/engines/planner.hh"

namespace longhaul::degen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

EngineChoice choice(const Parameters& parameters, const Unable& unable = {}) {
  return choose_engine(make_impairment(parameters).value(), unable).value();
}

TEST(EngineChoice, EdtIsTheFirst) {
  for (const Parameters& parameters : {Parameters{}, Parameters{{"delay", 5'000'000}}, Parameters{{"loss", 1000}}}) {
    EXPECT_EQ(choice(parameters).engine, "edt");
    EXPECT_EQ(choice(parameters).why, "the first choice");
  }
}

TEST(EngineChoice, WhatOneCannotDoAnotherDoes) {
  const auto flips = choice({{"delay", 5'000'000}, {"corrupt_back", 10}});
  EXPECT_EQ(flips.engine, "netem");
  EXPECT_THAT(flips.why, AllOf(HasSubstr("not edt: corrupt_back"), Not(HasSubstr("nfqueue:"))));
  const auto faults = choice({{"faults", "swap 3"}});
  EXPECT_EQ(faults.engine, "nfqueue");
  EXPECT_THAT(faults.why, AllOf(HasSubstr("not edt: faults"), HasSubstr("; not netem: faults")));
}

TEST(EngineChoice, TheRouterHasItsSay) {
  const auto old = choice({{"delay", 5'000'000}}, {{"edt", "eth0: this kernel has no fq"}});
  EXPECT_EQ(old.engine, "netem");
  EXPECT_EQ(old.why, "not edt: eth0: this kernel has no fq");
  EXPECT_EQ(choice({{"delay", 5'000'000}}, {{"edt", "x"}, {"netem", "y"}}).engine, "nfqueue");
  const auto none = choose_engine({}, {{"edt", "x"}, {"netem", "y"}, {"nfqueue", "z"}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("not edt: x; not netem: y; not nfqueue: z"));
}

TEST(EngineChoice, AutoIsRefusedOnlyWhatNoEngineCanDo) {
  EXPECT_TRUE(check_engine(make_impairment({{"corrupt", 10}}).value(), "auto"));
  const auto neither = check_engine(make_impairment({{"duplicate", 10}, {"faults", "swap 3"}}).value(), "auto");
  ASSERT_FALSE(neither);
  EXPECT_THAT(neither.error().message,
              AllOf(HasSubstr("not edt: "), HasSubstr("not netem: "), HasSubstr("not nfqueue: ")));
}

}  // namespace
}  // namespace longhaul::degen
