#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <random>

#include "degen/impairment/spec.hh"
#include "results/claims/check.hh"
#include "results/claims/judge.hh"
#include "results/claims/wan.hh"
#include "tests/some.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::results {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Measured ratio(double low, double value, double high) {
  const Interval interval{low, high, 0.95};
  return {.ratio = {.value = value, .interval = interval}, .joint = interval};
}

TEST(Judge, EqualOnlyWhereTheWholeIntervalIs) {
  EXPECT_EQ(equal_within(ratio(0.9, 1, 1.1), 1.2), Judgement::yes);
  EXPECT_EQ(equal_within(ratio(0.9, 1, 1.3), 1.2), Judgement::unsure);
  EXPECT_EQ(equal_within(ratio(1.3, 1.4, 1.5), 1.2), Judgement::no);
  EXPECT_EQ(equal_within(ratio(0.5, 0.6, 0.7), 1.2), Judgement::no);
  EXPECT_EQ(equal_within(Measured{}, 1.2), Judgement::unsure);
}

TEST(Judge, AheadSomewhereAndNowhereBehind) {
  EXPECT_EQ(leads({ratio(1.1, 1.2, 1.3), ratio(0.9, 1, 1.1)}), Judgement::yes);
  EXPECT_EQ(leads({ratio(1.1, 1.2, 1.3), ratio(0.7, 0.8, 0.9)}), Judgement::no);
  EXPECT_EQ(leads({ratio(0.8, 1, 1.2)}), Judgement::unsure);
  EXPECT_EQ(leads({ratio(0.97, 1, 1.02), ratio(0.98, 1, 1.04)}), Judgement::no);  // equal is not ahead
  EXPECT_EQ(leads({}), Judgement::unsure);
}

TEST(Judge, SmallerOnlyWhereIntervalsDoNotOverlap) {
  EXPECT_EQ(smaller(ratio(1, 1.1, 1.2), ratio(1.3, 1.4, 1.5)), Judgement::yes);
  EXPECT_EQ(smaller(ratio(1, 1.1, 1.35), ratio(1.3, 1.4, 1.5)), Judgement::unsure);
  EXPECT_EQ(smaller(ratio(1.3, 1.4, 1.5), ratio(1, 1.1, 1.2)), Judgement::no);
}

// What refutes a claim must be seen in spite of all the other places that were looked at.
TEST(Judge, RefusesOnlyByIntervalsThatHoldTogether) {
  const std::vector<double> low{1, 1.01, 1.02, 1.03, 1.04, 1.05};
  std::vector<double> high;
  for (const auto value : low) high.push_back(1.3 * value);
  const auto by_itself = compared(high, low, 1);
  const auto of_twenty = compared(high, low, 20);
  const auto of_thirty = compared(high, low, 30);
  EXPECT_EQ(by_itself.ratio, of_twenty.ratio);
  EXPECT_LT(of_twenty.joint->low, by_itself.joint->low);
  EXPECT_FALSE(of_thirty.joint) << "six runs beside six cannot tell that much";
  EXPECT_EQ(below(of_twenty, 1), Judgement::no);
  EXPECT_EQ(below(of_thirty, 1), Judgement::unsure);
  EXPECT_EQ(above(of_thirty, 1), Judgement::yes) << "what must hold everywhere needs no more than 95 %";
  EXPECT_EQ(leads({of_thirty}), Judgement::unsure);
  const std::vector<double> same(6, 2.0);
  EXPECT_TRUE(compared(same, same, 1000).joint) << "without scatter nothing is left to chance";
}

// As by a virtual clock, where runs do not scatter.
TEST(Judge, EqualWithoutScatterIsDecided) {
  const auto one = ratio(1, 1, 1);
  EXPECT_EQ(above(one, 1), Judgement::no);
  EXPECT_EQ(below(one, 1), Judgement::no);
  EXPECT_EQ(above(ratio(1, 1, 1.1), 1), Judgement::unsure);
  EXPECT_EQ(smaller(one, one), Judgement::no);
  EXPECT_EQ(smaller(ratio(1, 1, 1.1), one), Judgement::unsure);
  EXPECT_EQ(smaller(one, ratio(2, 2, 2)), Judgement::yes);
  EXPECT_EQ(leads({one, ratio(1.1, 1.2, 1.3)}), Judgement::yes);
  EXPECT_EQ(leads({one, ratio(1, 1, 1)}), Judgement::no);
  EXPECT_EQ(equal_within(one, 1.05), Judgement::yes);
}

// A campaign in memory: cells of the real catalog with values made up here.
class Claims : public ::testing::Test {
 protected:
  Vocabulary vocabulary_{.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
  Summary summary_;

  // `value` is the median of six runs that differ by a percent.
  void add(const std::string& workload, Parameters parameters, const std::string& transport, double value,
           double spread = 0.01) {
    const auto* spec = vocabulary_.workload(workload);
    CellSummary cell;
    cell.workload = workload;
    cell.transport = transport;
    cell.provider = transport == "rdma" ? "siw" : "kernel";
    cell.rival = transport == "rdma" ? "" : "siw";
    parameters["transport"] = transport;
    if (transport == "rdma") parameters["provider"] = "siw";
    if (transport == "tcp") parameters["rival"] = "siw";
    if (const auto it = parameters.find("delay"); it != parameters.end())
      cell.forward.asked = std::get<std::int64_t>(it->second);
    cell.parameters = parameters;
    cell.cell_id = fmt::format("{}", summary_.cells.size());
    cell.status = Status::ok;
    cell.usable = 6;
    cell.soft = true;
    MetricSummary metric{.name = spec->metrics.front().name,
                         .unit = spec->metrics.front().unit,
                         .better = spec->metrics.front().better,
                         .values = {},
                         .samples = 60,
                         .median = value,
                         .interval = Interval{value * (1 - 3 * spread), value * (1 + 3 * spread), 0.97},
                         .p99 = {},
                         .pooled = {}};
    for (int i = -3; i <= 3; ++i)
      if (i != 0) metric.values.push_back(value * (1 + spread * i));
    cell.metrics = {metric};
    summary_.cells.push_back(std::move(cell));
  }
  void pair(const std::string& workload, const Parameters& parameters, double rdma, double sockets,
            double spread = 0.01) {
    add(workload, parameters, "rdma", rdma, spread);
    add(workload, parameters, "tcp", sockets, spread);
  }

  // A cell of the emulated path under test, by several metrics of it.
  void path(const Parameters& parameters, const std::map<std::string, double>& metrics, double spread = 0.01) {
    add("packets", parameters, "tcp", 1, spread);
    auto& cell = summary_.cells.back();
    cell.metrics.clear();
    cell.virtual_clock = true;
    cell.forward.values.assign(6, static_cast<double>(cell.forward.asked));
    for (const auto& [name, value] : metrics)
      cell.metrics.push_back({.name = name,
                              .unit = {},
                              .values = std::vector<double>(6, value),
                              .samples = 6000,
                              .median = value,
                              .interval = Interval{value * (1 - 3 * spread), value * (1 + 3 * spread), 0.97},
                              .p99 = {},
                              .pooled = {}});
  }

  std::vector<Finding> findings(const std::string& id) {
    for (const auto& one : some(check_claims(summary_, vocabulary_, wan_claims())))
      if (one.claim->id == id) return one.findings;
    return {};
  }
  Finding finding(const std::string& id) {
    if (const auto all = findings(id); !all.empty()) return all.front();
    return {.group = "nobody", .verdict = Verdict::not_decidable, .reason = "no cells", .evidence = {}, .cells = {}};
  }
  Verdict verdict(const std::string& id) { return finding(id).verdict; }
};

TEST_F(Claims, WithoutCellsNothingIsSaid) {
  for (const auto& one : some(check_claims(summary_, vocabulary_, wan_claims()))) EXPECT_THAT(one.findings, IsEmpty());
  EXPECT_THAT(to_text(check_claims(summary_, vocabulary_, wan_claims()), summary_),
              HasSubstr("No cells of this campaign speak of W1, W2"));
}

TEST_F(Claims, EveryClaimNamesAWorkloadAMetricAndAnAxisThatExist) {
  for (const auto& claim : some(wan_claims())) {
    EXPECT_NE(vocabulary_.metric(claim.workload, claim.metric), nullptr) << claim.id;
    EXPECT_TRUE(claim.x == "delay" || vocabulary_.parameter(claim.workload, claim.x) != nullptr) << claim.id;
    for (const auto* text : {&claim.source, &claim.statement, &claim.criterion})
      EXPECT_FALSE(text->empty()) << claim.id;
  }
}

TEST_F(Claims, W1EqualAtEverySize) {
  pair("latency", {{"size", 64}}, 100e3, 105e3);
  pair("latency", {{"size", 16384}}, 300e3, 280e3);
  EXPECT_EQ(verdict("W1"), Verdict::holds);
  pair("latency", {{"size", 65536}}, 300e3, 600e3);
  EXPECT_EQ(verdict("W1"), Verdict::does_not_hold);
  EXPECT_EQ(finding("W1").evidence.size(), 3U);
  EXPECT_EQ(finding("W1").evidence[2].at, "size 64KiB");
  EXPECT_NEAR(finding("W1").evidence[2].ratio.value, 2, 0.1);
  EXPECT_EQ(finding("W1").cells.size(), 6U);
  EXPECT_EQ(finding("W1").group, "siw");
}

TEST_F(Claims, W1IsNotDecidedByWideIntervals) {
  pair("latency", {{"size", 64}}, 100e3, 110e3, 0.15);
  const auto found = finding("W1");
  EXPECT_EQ(found.verdict, Verdict::not_decidable);
  EXPECT_THAT(found.reason, HasSubstr("too wide"));
}

TEST_F(Claims, W2LooksAtItsOwnCellsOnly) {
  pair("latency", {{"size", 64}, {"delay", 1'000'000}}, 1e6, 3e6);  // another size
  pair("latency", {{"size", 1024}}, 1e6, 3e6);                      // no delay
  EXPECT_EQ(finding("W2").group, "nobody");
  pair("latency", {{"size", 1024}, {"delay", 1'000'000}}, 1.1e6, 1.12e6);
  pair("latency", {{"size", 1024}, {"delay", 20'000'000}}, 20.1e6, 20.2e6);
  EXPECT_EQ(verdict("W2"), Verdict::holds);
}

TEST_F(Claims, W3NeedsRdmaToReachItEarlier) {
  pair("overlap", {{"compute", 50'000}}, 0.5, 0.3);
  pair("overlap", {{"compute", 242'000}}, 0.93, 0.7);
  pair("overlap", {{"compute", 1'000'000}}, 0.98, 0.95);
  add("overlap", {{"compute", 242'000}, {"progress", std::string{"thread"}}}, "tcp", 0.99);  // not the paper's sockets
  const auto found = finding("W3");
  EXPECT_EQ(found.verdict, Verdict::holds) << found.reason;
  EXPECT_THAT(found.reason, HasSubstr("by RDMA at 242us, by sockets at 1ms"));
}

TEST_F(Claims, W3ATieIsNoLead) {
  pair("overlap", {{"compute", 50'000}}, 0.5, 0.3);
  pair("overlap", {{"compute", 242'000}}, 0.97, 0.93);
  const auto found = finding("W3");
  EXPECT_EQ(found.verdict, Verdict::does_not_hold) << found.reason;
  EXPECT_THAT(found.reason, HasSubstr("by RDMA at 242us, by sockets at 242us"));
}

TEST_F(Claims, W3DoesNotHoldWhereSocketsLead) {
  pair("overlap", {{"compute", 50'000}}, 0.3, 0.4);
  pair("overlap", {{"compute", 1'000'000}}, 0.98, 0.95);
  EXPECT_EQ(verdict("W3"), Verdict::does_not_hold);
}

TEST_F(Claims, W4NeedsALeadThatShrinks) {
  pair("overlap", {{"delay", 1'000'000}}, 0.12, 0.08);
  pair("overlap", {{"delay", 20'000'000}}, 0.006, 0.0059);
  EXPECT_EQ(verdict("W4"), Verdict::holds) << finding("W4").reason;
  pair("overlap", {{"delay", 5'000'000}}, 0.02, 0.03);
  EXPECT_EQ(verdict("W4"), Verdict::does_not_hold);
}

TEST_F(Claims, W5ReadsAreFlatAndSocketsWait) {
  pair("progress", {{"load", 0}}, 100e3, 110e3);
  pair("progress", {{"load", 10'000'000}}, 105e3, 10.1e6);
  EXPECT_EQ(verdict("W5"), Verdict::holds) << finding("W5").reason;
  EXPECT_THAT(finding("W5").reason, HasSubstr("sockets take 91.8 times as long is so by construction"));
}

TEST_F(Claims, W5DoesNotHoldForReadsThatFeelTheLoad) {
  pair("progress", {{"load", 0}}, 100e3, 110e3);
  pair("progress", {{"load", 10'000'000}}, 150e3, 10.1e6);
  EXPECT_EQ(verdict("W5"), Verdict::does_not_hold);
}

TEST_F(Claims, W6StaysAheadByLess) {
  for (const auto& [delay, rdma, sockets] :
       {std::tuple{0, 0.1e6, 10.1e6}, {1'000'000, 2.1e6, 12.1e6}, {20'000'000, 40.1e6, 50.1e6}})
    pair("progress", {{"load", 10'000'000}, {"delay", delay}}, rdma, sockets);
  EXPECT_EQ(verdict("W6"), Verdict::holds) << finding("W6").reason;
}

TEST_F(Claims, W7AndW8NeedAnAdapter) {
  pair("cpu_load", {{"size", 16384}}, 1.05, 2.5);
  pair("cpu_load", {{"size", 16384}, {"delay", 20'000'000}}, 1.02, 2.1);
  EXPECT_EQ(verdict("W7"), Verdict::not_decidable);
  EXPECT_THAT(finding("W8").reason, HasSubstr("siw is software in the kernel; measured: under traffic the application "
                                              "takes up to 1.05 times as long with RDMA, 2.50 times with sockets"));
  for (auto& cell : summary_.cells) cell.soft = false;
  EXPECT_EQ(verdict("W7"), Verdict::holds);
  EXPECT_EQ(verdict("W8"), Verdict::holds);
  pair("cpu_load", {{"size", 1024}}, 1.5, 1.4);
  for (auto& cell : summary_.cells) cell.soft = false;
  EXPECT_EQ(verdict("W7"), Verdict::does_not_hold);
}

TEST_F(Claims, W9CannotBeDecidedBySoftware) {
  pair("latency", {{"path", std::string{"lan"}}, {"size", 64}}, 50e3, 100e3);
  const auto found = finding("W9");
  EXPECT_EQ(found.verdict, Verdict::not_decidable);
  EXPECT_THAT(found.reason, HasSubstr("siw is software in the kernel; measured: sockets / RDMA is 2.00"));
  for (auto& cell : summary_.cells) cell.soft = false;
  EXPECT_EQ(verdict("W9"), Verdict::holds);
}

TEST_F(Claims, W10ComparesProtocolsOfOneTransport) {
  for (const auto& [size, eager, write] :
       {std::tuple{1024, 5.2e6, 15.2e6}, {65536, 6e6, 15.3e6}, {4194304, 90e6, 80e6}}) {
    const Parameters cell{{"size", size}, {"delay", 5'000'000}};
    auto other = cell;
    other["protocol"] = std::string{"write"};
    pair("rendezvous", cell, eager, eager * 1.02);
    pair("rendezvous", other, write, write * 1.02);
  }
  const auto found = finding("W10");
  EXPECT_EQ(found.group, "siw write, 5ms");
  EXPECT_EQ(found.verdict, Verdict::holds) << found.reason;
  EXPECT_THAT(found.reason,
              HasSubstr("2.92 times as long as eager at size 1KiB, 0.89 times at size 4MiB; it is ahead from 4MiB on"));
  EXPECT_EQ(findings("W10").back().group, "sockets beside siw write, 5ms");
}

TEST_F(Claims, W10NeedsTheSizeFromWhichTheCopyCostsMore) {
  const auto add_pair = [&](std::int64_t size, double eager, double write) {
    const Parameters cell{{"size", size}, {"delay", 5'000'000}};
    auto other = cell;
    other["protocol"] = std::string{"write"};
    add("rendezvous", cell, "rdma", eager);
    add("rendezvous", other, "rdma", write);
  };
  add_pair(1024, 5.2e6, 15.2e6);
  add_pair(65536, 6e6, 15.3e6);
  EXPECT_EQ(verdict("W10"), Verdict::not_decidable);
  EXPECT_THAT(finding("W10").reason, HasSubstr("where it costs more was not seen"));
  add_pair(4194304, 90e6, 80e6);
  EXPECT_EQ(verdict("W10"), Verdict::holds) << finding("W10").reason;
  add_pair(8388608, 100e6, 130e6);
  EXPECT_EQ(verdict("W10"), Verdict::does_not_hold) << finding("W10").reason;
}

TEST_F(Claims, W11ComparesThePathWithWhatWasAskedOfIt) {
  const std::string nfqueue = "nfqueue";
  const std::string free = "free";
  path({{"delay", 5'000'000}, {"burst", 16}}, {{"stretch", 1.02}, {"loss", 0}, {"duplicates", 0}, {"reordered", 0}});
  path({{"delay", 5'000'000}, {"loss", 10'000}}, {{"loss", 0.0101}, {"duplicates", 0}, {"reordered", 0}});
  path({{"delay", 5'000'000}, {"jitter", 1'000'000}, {"jitter_order", free}}, {{"spread", 1.01e6}, {"loss", 0}});
  path({{"delay", 5'000'000}, {"jitter", 1'000'000}, {"jitter_order", free}, {"distribution", std::string{"normal"}}},
       {{"spread", 1.35e6}});
  path({{"delay", 5'000'000}, {"jitter", 1'000'000}}, {{"spread", 0.4e6}});  // in order: not judged
  path({{"delay", 5'000'000}, {"engine", nfqueue}, {"reorder", 20'000}}, {{"reordered", 0.0201}, {"loss", 0}});
  path({{"delay", 5'000'000}, {"engine", nfqueue}, {"corrupt", 10'000}}, {{"loss", 0.0098}});  // so it should
  const auto holds = findings("W11");
  ASSERT_EQ(holds.size(), 2U);
  EXPECT_EQ(holds.front().group, "netem");
  EXPECT_EQ(holds.front().verdict, Verdict::holds) << holds.front().reason;
  EXPECT_EQ(holds.front().evidence.size(), 9U);
  EXPECT_EQ(holds.front().evidence[3].at, "delay 5ms, loss 1%");
  EXPECT_EQ(holds.front().evidence[3].what, "loss, measured / asked");
  EXPECT_EQ(holds.back().verdict, Verdict::holds) << holds.back().reason;

  // One of six is beyond, which settles nothing; then all are.
  summary_.cells.front().forward.values = {5.0e6, 5.01e6, 5.02e6, 5.03e6, 5.04e6, 5.2e6};
  EXPECT_EQ(findings("W11").front().verdict, Verdict::not_decidable) << findings("W11").front().reason;
  summary_.cells.front().forward.values = {5.07e6, 5.07e6, 5.07e6, 5.08e6, 5.08e6, 5.09e6};
  EXPECT_EQ(findings("W11").front().verdict, Verdict::does_not_hold);
  EXPECT_THAT(findings("W11").front().reason, HasSubstr("the delay is 1.015 of what was asked"));

  path({{"delay", 1'000'000}, {"engine", nfqueue}, {"burst", 16}}, {{"stretch", 12.0}});
  path({{"delay", 2'000'000}, {"engine", nfqueue}}, {{"loss", 0.001}});
  path({{"delay", 3'000'000}, {"engine", nfqueue}, {"duplicate", 10'000}}, {{"duplicates", 0.005}});
  const auto fails = findings("W11").back();
  EXPECT_EQ(fails.verdict, Verdict::does_not_hold);
  for (const auto* fault : {"delay 1ms: bursts get 12.00 times as long", "delay 2ms: 0.1 % loss unasked",
                            "delay 3ms, duplicate 1%: duplicate is 0.50 of what was asked"})
    EXPECT_THAT(fails.reason, HasSubstr(fault));
}

// An emulator that does what it is asked, but for a factor: campaigns of six runs a cell, drawn anew each time.
class SimulatedPaths : public Claims {
 protected:
  void campaign(double factor) {
    summary_.cells.clear();
    const std::string free = "free";
    for (const std::int64_t delay : {1'000'000, 20'000'000, 100'000'000}) {
      path({{"delay", delay}}, {{"loss", 0}});
      delays(static_cast<double>(delay) * factor);
    }
    for (const std::int64_t loss : {1'000, 10'000}) {
      path({{"delay", 5'000'000}, {"loss", loss}}, {{"loss", 0}});
      delays(5e6 * factor);
      events(static_cast<double>(loss) / 1e6 * factor);
    }
    path({{"delay", 20'000'000}, {"jitter", 5'000'000}, {"jitter_order", free}}, {{"spread", 0}});
    for (auto& spread : summary_.cells.back().metrics.front().values) {
      std::vector<double> drawn(600);
      for (auto& one : drawn) one = std::uniform_real_distribution{-5e6 * factor, 5e6 * factor}(random_);
      std::sort(drawn.begin(), drawn.end());
      spread = drawn[450] - drawn[150];
    }
  }
  int verdicts(double factor, Verdict wanted) {
    int count = 0;
    for (int i = 0; i < 100; ++i) {
      campaign(factor);
      count += verdict("W11") == wanted ? 1 : 0;
    }
    return count;
  }

 private:
  void delays(double value) {
    for (auto& one : summary_.cells.back().forward.values) one = value + std::normal_distribution{0.0, 2e3}(random_);
  }
  void events(double share) {
    constexpr int kPackets = 5000;
    auto& metric = summary_.cells.back().metrics.front();
    metric.samples = 6 * kPackets;
    for (auto& value : metric.values) value = std::binomial_distribution{kPackets, share}(random_) / double{kPackets};
  }
  std::mt19937 random_{11};
};

TEST_F(SimulatedPaths, APerfectEmulatorPassesAndAWrongOneFails) {
  EXPECT_GE(verdicts(1, Verdict::holds), 95);
  EXPECT_GE(verdicts(1.02, Verdict::does_not_hold), 95);
  EXPECT_GE(verdicts(0.98, Verdict::does_not_hold), 95);
}

TEST_F(Claims, CellsThatDifferInOtherAxesAreNoCourse) {
  pair("latency", {{"size", 64}, {"warmup", 1}}, 100e3, 105e3);
  pair("latency", {{"size", 64}, {"clients", 8}}, 100e3, 105e3);
  EXPECT_THAT(finding("W1").reason, HasSubstr("differ in other axes"));
}

// A campaign that varies another axis from its usual course has that course nevertheless.
TEST_F(Claims, OfSeveralCoursesTheOneThatSetsTheFewestAxesIsFollowed) {
  pair("latency", {{"size", 64}}, 100e3, 105e3);
  pair("latency", {{"size", 65536}}, 200e3, 210e3);
  const auto plain = finding("W1").reason;
  pair("latency", {{"size", 64}, {"clients", 8}}, 900e3, 105e3);
  EXPECT_EQ(finding("W1").reason, plain + "; of several cells at the same size those that set the fewest axes");
}

// A single place is no course, however plain it is.
TEST_F(Claims, ACourseOfTwoPlacesIsPreferredToOneOfASinglePlace) {
  pair("latency", {{"size", 64}}, 900e3, 105e3);
  pair("latency", {{"size", 64}, {"clients", 8}}, 100e3, 105e3);
  pair("latency", {{"size", 65536}, {"clients", 8}}, 200e3, 210e3);
  const auto& followed = finding("W1");
  EXPECT_THAT(followed.reason, HasSubstr("those that set the fewest axes"));
  EXPECT_EQ(followed.cells.size(), 4U);
}

TEST_F(Claims, JsonHasWhatAReaderNeedsToJudge) {
  pair("latency", {{"size", 64}}, 100e3, 105e3);
  const auto document = boost::json::parse(to_json(check_claims(summary_, vocabulary_, wan_claims()), summary_));
  const auto& w1 = document.at("claims").at(0);
  EXPECT_EQ(w1.at("id").as_string(), "W1");
  const auto& found = w1.at("findings").at(0);
  EXPECT_EQ(found.at("verdict").as_string(), "holds");
  EXPECT_TRUE(found.at("evidence").at(0).as_object().contains("low"));
}

}  // namespace
}  // namespace longhaul::results
