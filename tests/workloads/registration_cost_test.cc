// The parts of the workload `registration` that need no adapter; the rest is in tests/lab.
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "workloads/harness/session.hh"
#include "workloads/suite/registration_cost/mapping.hh"
#include "workloads/suite/registration_cost/steps.hh"

namespace longhaul::workloads::registration_cost {
namespace {

// As the lab's tracing helper leaves it: its probes, then the kernel's events with the trace option raw.
constexpr const char* kTrace = R"(enter 1640 rxe_reg_user_mr
leave 1641 rxe_reg_user_mr
enter 1642 ib_umem_get
leave 1643 ib_umem_get
enter 1644 pin_user_pages_fast
leave 1645 pin_user_pages_fast
# tracer: nop
#
# entries-in-buffer/entries-written: 13/13   #P:2
198 1 67080000999 type: 1645
198 1 67080001000 type: 1640
198 1 67080002000 type: 1642
198 1 67080003000 type: 1644
198 1 67080007500 type: 1645
198 0 67080014250 type: 1643
198 0 67080121000 type: 1641
198 0 67080200000 type: 1640
198 0 67080201000 type: 1642
198 0 67080202000 type: 1644
198 0 67080207500 type: 1645
198 0 67080214750 type: 1643
198 0 67081280000 type: 1641
198 0 67081290000 type: 1640
)";

TEST(Steps, ATraceIsReadByFunction) {
  const auto calls = read_calls(kTrace);
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_THAT(calls.at("rxe_reg_user_mr"), testing::ElementsAre(120'000, 1'080'000));
  EXPECT_THAT(calls.at("ib_umem_get"), testing::ElementsAre(12'250, 13'750));
  EXPECT_THAT(calls.at("pin_user_pages_fast"), testing::ElementsAre(4'500, 5'500));
}

TEST(Steps, StepsAreOfTheMedianRegistration) {
  const Calls calls{{"rxe_reg_user_mr", {1'000'000, 100, 110}},
                    {"ib_umem_get", {900'000, 60, 61}},
                    {"pin_user_pages_fast", {800'000, 20, 21}}};
  const auto steps = steps_of(calls, {2'000'000, 150, 160});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->pinning, 21);
  EXPECT_EQ(steps->translating, 40);
  EXPECT_EQ(steps->handing_over, 49);
  EXPECT_EQ(steps->rest, 50);
}

TEST(Steps, LargeMemoryIsPinnedInSeveralCalls) {
  const auto steps = steps_of(
      {{"siw_reg_user_mr", {100, 100}}, {"siw_umem_get", {80, 80}}, {"pin_user_pages", {10, 20, 30, 10, 20, 30}}},
      {120, 120});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->pinning, 60);
  EXPECT_EQ(steps->translating, 20);
}

TEST(Steps, WhatIsNoTraceHasNoSteps) {
  EXPECT_FALSE(steps_of(read_calls(""), {1}));
  EXPECT_FALSE(steps_of(read_calls("garbage | more\nenter x y\n1 2 3 4\n1 2 3 type: 4\n"), {1}));
  EXPECT_FALSE(steps_of(read_calls("leave 7 rxe_reg_user_mr\n1 0 5 type: 7\n"), {1}));
}

std::size_t resident(const Mapping& mapping) {
  std::vector<unsigned char> pages((mapping.size() + 4095) / 4096);
  ::mincore(mapping.data(), mapping.size(), pages.data());
  return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto one) { return (one & 1) != 0; }));
}

TEST(Mapping, PagesAreThereOrNotAsAsked) {
  Mapping present{64 << 10, Presence::present, false};
  EXPECT_EQ(resident(present), 16U);
  Mapping absent{64 << 10, Presence::absent, false};
  EXPECT_EQ(resident(absent), 0U);
  absent.touch(4096);
  EXPECT_EQ(resident(absent), 16U);
  absent.renew();
  EXPECT_EQ(resident(absent), 0U);
  present.renew();  // does nothing
  EXPECT_EQ(resident(present), 16U);
}

TEST(Mapping, AFilesPagesAreInThePageCache) {
  Mapping file{64 << 10, Presence::file, false};
  EXPECT_EQ(resident(file), 16U);
  EXPECT_THROW((Mapping{2 << 20, Presence::file, true}), Unsupported);
}

}  // namespace
}  // namespace longhaul::workloads::registration_cost
