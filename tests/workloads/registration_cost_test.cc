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

// As the kernel writes it with funcgraph-tail and without processors.
constexpr const char* kTrace = R"(# tracer: function_graph
#
#     DURATION                  FUNCTION CALLS
#      |   |                     |   |   |   |
               |  rxe_reg_user_mr [rdma_rxe]() {
               |    ib_umem_get [ib_uverbs]() {
   4.500 us    |      pin_user_pages_fast();
 + 12.250 us   |    } /* ib_umem_get [ib_uverbs] */
 ! 120.000 us  |  } /* rxe_reg_user_mr [rdma_rxe] */
               |  rxe_reg_user_mr [rdma_rxe]() {
               |    ib_umem_get [ib_uverbs]() {
   5.500 us    |      pin_user_pages_fast();
 + 13.750 us   |    } /* ib_umem_get [ib_uverbs] */
 # 1080.000 us |  } /* rxe_reg_user_mr [rdma_rxe] */
)";

TEST(Steps, AFunctionGraphIsReadByFunction) {
  const auto calls = read_function_graph(kTrace);
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
  EXPECT_FALSE(steps_of(read_function_graph(""), {1}));
  EXPECT_FALSE(steps_of(read_function_graph("garbage | more\n ++ us | }\n"), {1}));
  EXPECT_FALSE(steps_of(read_function_graph("   1.0 us |  rxe_reg_user_mr();\n"), {1}));
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
