// longhaul explore as a user runs it: the first packet of each way is the control connection's SYN and its answer,
// whose loss costs TCP's first retransmission time-out of a second.
#include <gtest/gtest.h>

#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

constexpr const char* kExplored = R"(name: first
workload: latency
series: [{transport: rdma, provider: rxe}]
axes: {size: [1KiB]}
fixed: {delay: 5ms, duration: 25ms, min_samples: 2, warmup: 0}
)";

TEST(Explore, TheLossOfTheFirstPacketsCostsASecond) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "first.yaml", kExplored);
  const auto out = directory.path() / "out";
  const auto explored = longhaul({"explore", directory.path() / "first.yaml", "--out", out, "--most", "1"});
  ASSERT_EQ(explored.code, 0) << explored.out << explored.err;
  EXPECT_NE(explored.out.find("2 runs with faults: 2 ended well"), std::string::npos) << explored.out;
  const auto findings = boost::json::parse(read_file(out / "faults.json")).at("explorations").as_array();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_GT(findings[0].at("packets").to_number<int>(), 5);
  EXPECT_GT(findings[0].at("packets_back").to_number<int>(), 5);
  const auto& outcomes = findings[0].at("outcomes").as_array();
  ASSERT_EQ(outcomes.size(), 2U);
  for (const auto& outcome : outcomes) {
    const auto longer = outcome.at("longer_ns").to_number<double>() / 1e9;
    EXPECT_GT(longer, 0.9) << explored.out;
    EXPECT_LT(longer, 1.2) << explored.out;
  }
  // It is a campaign: what was made can be made again.
  const auto verified = longhaul({"verify", out, "--cells", "2"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;

  const auto wrong = longhaul({"explore", directory.path() / "first.yaml", "--out", out / "other", "--fault", "lose"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--fault 'lose'"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace longhaul::testing
