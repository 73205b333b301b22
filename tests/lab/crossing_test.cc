#include <gmock/gmock.h>

#include "lab/boot.hh"
#include "tests/lab/plan/plans.hh"

namespace longhaul::lab {
namespace {

constexpr const char* kGood =
    "boot\r\nlonghaul: crossed ra0 rb0 3 3 3 3\r\nlonghaul: crossed ra1 rb1 4 3 3 4\r\nlonghaul: ready\r\n";

TEST(Crossing, BothInterfacesOfEveryLinkMustCount) {
  const LabPlan plan = plan_of(Topology::compact);
  EXPECT_TRUE(check_crossings(plan, parse_crossings(kGood)));
  // A program that takes the destination's own address: its packets turn round in the router.
  const auto turned =
      check_crossings(plan, parse_crossings("longhaul: crossed ra0 rb0 0 0 6 6\nlonghaul: crossed ra1 rb1 3 3 3 3\n"));
  ASSERT_FALSE(turned);
  EXPECT_THAT(turned.error().message,
              testing::HasSubstr("from 10.10.0.1 to 10.20.0.1 does not cross the router: ra0 received 0 and sent 0"));
}

TEST(Crossing, ALinkThatIsNotMentionedIsAnError) {
  const auto silent = check_crossings(
      plan_of(Topology::compact), parse_crossings("longhaul: crossed ra0 rb0 3 3 3 3\nlonghaul: crossed ra1 rb1 3"));
  ASSERT_FALSE(silent);
  EXPECT_THAT(silent.error().message, testing::HasSubstr("ra1 - rb1"));
}

}  // namespace
}  // namespace longhaul::lab
