// M1 - M9, R1 - R4 on cells made up here.
#include <gmock/gmock.h>

#include "tests/results/made_up.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class RegistrationClaims : public MadeUpCells {
 protected:
  void simulate(const char* policy, std::int64_t capacity, double hits, double cost, double share_2,
                const char* trace = "nasa.tsv") {
    add("simulation", {{"policy", std::string{policy}}, {"capacity", capacity}, {"trace", std::string{trace}}},
        {{"hit_ratio", hits}, {"cost", cost}, {"cost_saved", 1 - cost / 100}, {"share_2", share_2}}, "");
  }
  // By one seed after another.
  void make_up(const char* policy, double hits, std::int64_t seeds) {
    for (std::int64_t seed = 1; seed <= seeds; ++seed)
      add("simulation", {{"policy", std::string{policy}}, {"seed", seed}},
          {{"hit_ratio", hits * (1 + 0.001 * static_cast<double>(seed))}, {"cost", 50}, {"share_2", 0.3}}, "");
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
  EXPECT_EQ(finding("M1").group, "nasa.tsv, wu2003");
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

TEST_F(RegistrationClaims, M1AndM2KnowTwoReadingsOfPinDown) {
  simulate("pin-down", 1 << 20, 0.70, 50, 0.3);
  simulate("pin-down-pages", 1 << 20, 0.60, 90, 0.3);
  simulate("mrrc", 1 << 20, 0.77, 46, 0.3);
  EXPECT_EQ(finding("M2").verdict, Verdict::holds);
  EXPECT_EQ(finding("M2p").verdict, Verdict::does_not_hold) << "half the cost is more than a tenth";
  EXPECT_THAT(finding("M1p").reason, HasSubstr("1.283 times"));
}

TEST_F(RegistrationClaims, RequestsThatAreMadeUpAreSaidToBe) {
  simulate("pin-down", 1 << 20, 0.70, 50, 0.3);
  simulate("mrrc", 1 << 20, 0.77, 46, 0.3);
  make_up("pin-down", 0.7, 1);
  make_up("mrrc", 0.77, 1);
  auto found = findings("M1");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found.front().group, "nasa.tsv, wu2003") << "real traces first";
  EXPECT_EQ(found.back().group, "made up: httpd, wu2003");
  EXPECT_EQ(found.back().verdict, Verdict::not_decidable);
  EXPECT_THAT(found.back().reason, HasSubstr("fewer than six seeds are no interval"));
  summary_.cells.clear();
  make_up("pin-down", 0.7, 6);
  make_up("mrrc", 0.77, 6);
  found = findings("M1");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found.front().verdict, Verdict::holds) << found.front().reason;
  EXPECT_THAT(found.front().reason, HasSubstr("made up by the paper's words"));
}

TEST_F(RegistrationClaims, M3ComparesWithNoCache) {
  simulate("none", 1 << 20, 0, 100, 0.3);
  simulate("mrrc", 1 << 20, 0.8, 32, 0.3);
  EXPECT_EQ(finding("M3").verdict, Verdict::holds);
  EXPECT_THAT(finding("M3").reason, HasSubstr("68 %"));
  summary_.cells[1].metrics[0].median = 60;  // cost
  EXPECT_EQ(finding("M3").verdict, Verdict::does_not_hold);
  summary_.cells[1].metrics[0].median = 15;
  EXPECT_EQ(finding("M3").verdict, Verdict::does_not_hold) << "up to 70 % is not 85 %";
}

TEST_F(RegistrationClaims, M4AsksHowTheSizesOfRealRequestsSpread) {
  const auto verdict = [&](const char* trace, double one, double two, double four, double sixteen) {
    summary_.cells.clear();
    for (const auto* policy : {"pin-down", "mrrc"})
      add("simulation", {{"policy", std::string{policy}}, {"trace", std::string{trace}}},
          {{"hit_ratio", 0.5}, {"share_1", one}, {"share_2", two}, {"share_4", four}, {"share_16", sixteen}}, "");
    return finding("M4").verdict;
  };
  EXPECT_EQ(verdict("nasa.tsv.zst", 0.3, 0.5, 0.7, 0.95), Verdict::holds);
  EXPECT_EQ(verdict("access.log", 0.9, 0.97, 0.99, 1), Verdict::does_not_hold);
  EXPECT_EQ(verdict("p2.lis", 0.1, 0.9, 1, 1), Verdict::holds);
  EXPECT_EQ(verdict("p2.lis", 0.5, 0.9, 1, 1), Verdict::does_not_hold);
  EXPECT_EQ(verdict("ranges.csv", 0.1, 0.9, 1, 1), Verdict::not_decidable);
  EXPECT_EQ(verdict("generated", 0.3, 0.5, 0.7, 0.95), Verdict::not_decidable);
}

TEST_F(RegistrationClaims, M5ComparesWithTheWriteOfTheSameSize) {
  for (const auto& [size, time, write] : {std::tuple{4096, 9e4, 3e4}, {131072, 2e5, 1.5e5}}) {
    registering(size, "reg_mr", time);
    add("latency", {{"size", std::int64_t{size}}, {"path", std::string{"lan"}}}, {{"latency", write}});
  }
  EXPECT_EQ(finding("M5").verdict, Verdict::holds);
  for (auto& cell : summary_.cells) cell.virtual_clock = cell.workload == "latency";
  EXPECT_THAT(findings("M5"), testing::IsEmpty()) << "times of two clocks";
  for (auto& cell : summary_.cells) cell.virtual_clock = false;
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

TEST_F(RegistrationClaims, M9ComparesWhatMakesTheSameTrips) {
  add("rendezvous",
      {{"size", std::int64_t{64}}, {"protocol", std::string{"write"}}, {"strategy", std::string{"each-time"}}},
      {{"transfer", 300}});
  add("rendezvous", {{"size", std::int64_t{64}}}, {{"transfer", 100}}, "tcp");
  EXPECT_THAT(findings("M9"), testing::IsEmpty()) << "an eager message has made fewer";
  add("rendezvous", {{"size", std::int64_t{64}}, {"protocol", std::string{"write"}}}, {{"transfer", 400}}, "tcp");
  EXPECT_EQ(finding("M9").verdict, Verdict::does_not_hold);
  EXPECT_THAT(finding("M9").evidence.front().ratio.value, testing::DoubleNear(4.0 / 3, 0.01));
}

TEST_F(RegistrationClaims, R1ComparesBandwidthsAtThePapersSizes) {
  const auto sizes = [&](std::int64_t size, double with) {
    add("throughput", {{"size", size}}, {{"throughput", 3.2e9}});
    add("throughput", {{"size", size}, {"strategy", std::string{"each-time"}}}, {{"throughput", with}});
  };
  sizes(4 << 10, 2e9);
  sizes(4 << 20, 2.5e9);
  EXPECT_EQ(finding("R1").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("R1").reason, HasSubstr("not both among those measured"));
  sizes(32 << 10, 1e9);
  EXPECT_EQ(finding("R1").verdict, Verdict::holds) << finding("R1").reason;
}

TEST_F(RegistrationClaims, R2AsksWhichStepTakesMost) {
  const auto traced = [&](std::int64_t size, const char* pages, double pinning, double handing_over) {
    add("registration", {{"size", size}, {"pages", std::string{pages}}},
        {{"register", 9e4}, {"step_pinning", pinning}, {"step_translating", 100}, {"step_handing_over", handing_over}});
  };
  soft_ = true;
  add("registration", {{"size", std::int64_t{4096}}}, {{"register", 9e4}});
  EXPECT_THAT(finding("R2").reason, HasSubstr("no registration was traced"));
  summary_.cells.clear();
  traced(4096, "present", 100, 100);
  EXPECT_EQ(finding("R2").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("R2").reason, HasSubstr("33 %"));
  EXPECT_THAT(finding("R2").reason, HasSubstr("no adapter"));

  soft_ = false;
  summary_.cells.clear();
  traced(4096, "absent", 300, 900);
  traced(1 << 20, "absent", 900, 300);
  EXPECT_EQ(finding("R2").verdict, Verdict::holds) << finding("R2").reason;
  traced(1 << 21, "absent", 300, 900);
  EXPECT_EQ(finding("R2").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationClaims, R3TakesClearingFromTheFault) {
  add("registration", {{"size", std::int64_t{1} << 20}, {"pages", std::string{"absent"}}},
      {{"register", 1}, {"fault", 4500}, {"zero", 1000}});
  add("registration", {{"size", std::int64_t{1} << 20}}, {{"register", 1}, {"pin", 1800}});
  EXPECT_EQ(finding("R3").verdict, Verdict::holds);
  EXPECT_THAT(finding("R3").reason, HasSubstr("3500 ns to find, 1000 to clear, 1800 to pin"));
}

// A trace of a cell's registrations afterwards makes no difference to it.
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
