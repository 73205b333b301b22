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

using namespace std::chrono_literals;

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
  EXPECT_THAT(calls.at("rxe_reg_user_mr"), testing::ElementsAre(120us, 1080us));
  EXPECT_THAT(calls.at("ib_umem_get"), testing::ElementsAre(12250ns, 13750ns));
  EXPECT_THAT(calls.at("pin_user_pages_fast"), testing::ElementsAre(4500ns, 5500ns));
}

TEST(Steps, StepsAreOfTheMedianRegistration) {
  const Calls calls{{"rxe_reg_user_mr", {1ms, 100ns, 110ns}},
                    {"ib_umem_get", {900us, 60ns, 61ns}},
                    {"pin_user_pages_fast", {800us, 20ns, 21ns}}};
  const auto steps = steps_of(calls, {2ms, 150ns, 160ns});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->pinning, 21ns);
  EXPECT_EQ(steps->translating, 40ns);
  EXPECT_EQ(steps->handing_over, 49ns);
  EXPECT_EQ(steps->rest, 50ns);
}

TEST(Steps, LargeMemoryIsPinnedInSeveralCalls) {
  const auto steps = steps_of({{"siw_reg_user_mr", {100ns, 100ns}},
                               {"siw_umem_get", {80ns, 80ns}},
                               {"pin_user_pages", {10ns, 20ns, 30ns, 10ns, 20ns, 30ns}}},
                              {120ns, 120ns});
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->pinning, 60ns);
  EXPECT_EQ(steps->translating, 20ns);
}

// Linux 6.1 and 6.12.
TEST(Steps, SiwPinsByEitherFunction) {
  for (const std::string pinning : {"pin_user_pages", "pin_user_pages_fast"}) {
    const auto steps = steps_of({{"siw_reg_user_mr", {100ns}}, {"siw_umem_get", {80ns}}, {pinning, {30ns}}}, {120ns});
    ASSERT_TRUE(steps) << pinning;
    EXPECT_EQ(steps->pinning, 30ns);
    EXPECT_EQ(steps->translating, 50ns);
  }
}

TEST(Steps, EachFunctionIsTracedOnce) {
  auto names = traced_functions();
  EXPECT_EQ(names.size(), 6U);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(Steps, WhatIsNoTraceHasNoSteps) {
  EXPECT_FALSE(steps_of(read_calls(""), {1ns}));
  EXPECT_FALSE(steps_of(read_calls("garbage | more\nenter x y\n1 2 3 4\n1 2 3 type: 4\n"), {1ns}));
  EXPECT_FALSE(steps_of(read_calls("leave 7 rxe_reg_user_mr\n1 0 5 type: 7\n"), {1ns}));
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
