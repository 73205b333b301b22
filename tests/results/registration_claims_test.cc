// M1 - M9, R1 - R4 on cells made up here.
#include <gmock/gmock.h>

#include "tests/results/made_up.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class RegistrationClaims : public MadeUpCells {
 protected:
  void simulate(const char* policy, std::int64_t capacity, double hits, double cost, double share_2) {
    add("simulation", {{"policy", std::string{policy}}, {"capacity", capacity}},
        {{"hit_ratio", hits}, {"cost", cost}, {"cost_saved", 1 - cost / 100}, {"share_2", share_2}}, "");
  }

  void registering(std::int64_t size, const char* method, double time) {
    Parameters parameters{{"size", size}};
    if (method != std::string{"reg_mr"}) parameters["method"] = std::string{method};
    add("registration", parameters, {{"register", time}, {"deregister", time}});
  }
};

TEST_F(RegistrationClaims, M1AsksMoreHitsOfATraceOfManySizes) {
  simulate("pin-down", 1 << 20, 0.70, 50, 0.3);
  simulate("mrrc", 1 << 20, 0.77, 46, 0.3);
  simulate("pin-down", 8 << 20, 0.80, 40, 0.3);
  simulate("mrrc", 8 << 20, 0.80, 40, 0.3);
  EXPECT_EQ(finding("M1").verdict, Verdict::holds);
  EXPECT_EQ(finding("M1").group, "httpd, wu2003");
  EXPECT_EQ(finding("M2").verdict, Verdict::holds);
  summary_.cells[3].metrics[2].median = 0.7;  // hit_ratio, by name
  EXPECT_EQ(finding("M1").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationClaims, M1AsksAsManyHitsOfATraceOfOneOrTwoPages) {
  simulate("pin-down", 1 << 20, 0.70, 50, 1);
  simulate("mrrc", 1 << 20, 0.71, 50, 1);
  EXPECT_EQ(finding("M1").verdict, Verdict::holds);
  summary_.cells[1].metrics[2].median = 0.77;
  EXPECT_EQ(finding("M1").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationClaims, M2AllowsNoMoreThanTheClaimedGain) {
  simulate("pin-down", 1 << 20, 0.70, 50, 0.3);
  simulate("mrrc", 1 << 20, 0.70, 40, 0.3);
  EXPECT_EQ(finding("M2").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationClaims, M3ComparesWithNoCache) {
  simulate("none", 1 << 20, 0, 100, 0.3);
  simulate("mrrc", 1 << 20, 0.8, 32, 0.3);
  EXPECT_EQ(finding("M3").verdict, Verdict::holds);
  EXPECT_THAT(finding("M3").reason, HasSubstr("68 %"));
  summary_.cells[1].metrics[0].median = 60;  // cost
  EXPECT_EQ(finding("M3").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationClaims, M4NeedsThePapersTraces) {
  simulate("pin-down", 1 << 20, 0.70, 50, 0.3);
  simulate("mrrc", 1 << 20, 0.70, 40, 0.3);
  EXPECT_EQ(finding("M4").verdict, Verdict::not_decidable);
}

TEST_F(RegistrationClaims, M5ComparesWithTheWriteOfTheSameSize) {
  for (const auto& [size, time, write] : {std::tuple{4096, 9e4, 3e4}, {131072, 2e5, 1.5e5}}) {
    registering(size, "reg_mr", time);
    add("latency", {{"size", std::int64_t{size}}, {"path", std::string{"lan"}}}, {{"latency", write}});
  }
  EXPECT_EQ(finding("M5").verdict, Verdict::holds);
  soft_ = true;
  for (auto& cell : summary_.cells) cell.soft = true;
  EXPECT_EQ(finding("M5").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("M5").reason, HasSubstr("3.00 times as long"));
}

TEST_F(RegistrationClaims, M6ToM8CompareMethods) {
  for (const std::int64_t size : {4096, 16384, 131072}) {
    const auto pages = static_cast<double>(size) / 4096;
    registering(size, "reg_mr", 800 * pages + 9000);
    registering(size, "kernel", 5000 + pages);
    registering(size, "kernel_fast", 100 + pages);
  }
  EXPECT_EQ(finding("M6").verdict, Verdict::holds);
  EXPECT_EQ(finding("M7").verdict, Verdict::holds);
  EXPECT_EQ(finding("M8").verdict, Verdict::does_not_hold);  // 90-fold
}

TEST_F(RegistrationClaims, M9ComparesWithSendAndReceiveOverSockets) {
  add("rendezvous",
      {{"size", std::int64_t{64}}, {"protocol", std::string{"write"}}, {"strategy", std::string{"each-time"}}},
      {{"transfer", 300}});
  add("rendezvous", {{"size", std::int64_t{64}}}, {{"transfer", 100}}, "tcp");
  add("rendezvous", {{"size", std::int64_t{64}}, {"protocol", std::string{"write"}}}, {{"transfer", 400}}, "tcp");
  EXPECT_EQ(finding("M9").verdict, Verdict::holds);
  EXPECT_EQ(finding("M9").evidence.size(), 1U);
  EXPECT_THAT(finding("M9").evidence.front().ratio.value, testing::DoubleNear(1.0 / 3, 0.01));
}

TEST_F(RegistrationClaims, R1ComparesBandwidths) {
  for (const auto& [size, with] : {std::pair{32 << 10, 1e9}, {4 << 20, 2.5e9}}) {
    add("throughput", {{"size", std::int64_t{size}}}, {{"throughput", 3.2e9}});
    add("throughput", {{"size", std::int64_t{size}}, {"strategy", std::string{"each-time"}}}, {{"throughput", with}});
  }
  EXPECT_EQ(finding("R1").verdict, Verdict::holds);
}

TEST_F(RegistrationClaims, R2IsNothingASoftwareProviderDecides) {
  soft_ = true;
  auto& cell = add("registration", {{"size", std::int64_t{4096}}}, {{"register", 9e4}});
  EXPECT_THAT(finding("R2").reason, HasSubstr("no registration was traced"));
  for (const auto* step : {"step_pinning", "step_translating", "step_handing_over"}) {
    MetricSummary metric;
    metric.name = step;
    metric.median = 100;
    cell.metrics.push_back(metric);
  }
  EXPECT_EQ(finding("R2").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("R2").reason, HasSubstr("33 %"));
  EXPECT_THAT(finding("R2").reason, HasSubstr("no adapter"));
}

TEST_F(RegistrationClaims, R3TakesClearingFromTheFault) {
  add("registration", {{"size", std::int64_t{1} << 20}, {"pages", std::string{"absent"}}},
      {{"register", 1}, {"fault", 4500}, {"zero", 1000}});
  add("registration", {{"size", std::int64_t{1} << 20}}, {{"register", 1}, {"pin", 1800}});
  EXPECT_EQ(finding("R3").verdict, Verdict::holds);
  EXPECT_THAT(finding("R3").reason, HasSubstr("3500 ns to find, 1000 to clear, 1800 to pin"));
}

// Whether a cell's registrations were traced afterwards makes no difference to it.
TEST_F(RegistrationClaims, R4AsksOfHugePagesAFifth) {
  const auto pair = [&](double huge) {
    summary_.cells.clear();
    add("registration", {{"size", std::int64_t{2} << 20}, {"pages", std::string{"absent"}}, {"trace", std::int64_t{1}}},
        {{"register", 100}});
    add("registration",
        {{"size", std::int64_t{2} << 20}, {"pages", std::string{"absent"}}, {"page_size", std::int64_t{2} << 20}},
        {{"register", huge}});
    return finding("R4").verdict;
  };
  EXPECT_EQ(pair(80), Verdict::holds);
  EXPECT_EQ(pair(10), Verdict::does_not_hold);
}

}  // namespace
}  // namespace longhaul::results
