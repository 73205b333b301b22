// Transfers: the sequences of PAPERS.md section F as predictions, savings, F1 - F3, and which process to take.
#include <gmock/gmock.h>

#include "results/analyses/decision.hh"
#include "results/analyses/transfers/prediction.hh"
#include "results/analyses/transfers/savings.hh"
#include "tests/results/made_up.hh"

namespace longhaul::results {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr double kMs = 1e6;
constexpr double kUs = 1e3;

TEST(CriticalPathTest, IsWhatThePapersSequencesSay) {
  const TransferParts parts{.client = 30, .server = 40, .start = 100, .key = 200, .compute = 0};
  const auto write = [&](const char* protocol) { return critical_path(protocol, true, parts); };
  const auto read = [&](const char* protocol) { return critical_path(protocol, false, parts); };
  EXPECT_EQ(write("typical"), 370);  // 2d + Rc + Rs
  EXPECT_EQ(write("frrwp"), 340);    // max(Rc, 2d + Rs)
  EXPECT_EQ(write("frrwp+crw"), 340);
  EXPECT_EQ(write("advertised"), 30);
  EXPECT_EQ(read("typical"), 170);  // d + Rc + Rs
  EXPECT_EQ(read("frrwp"), 230);    // d + max(Rc, Rs), where the key's trip is as long as START's
  EXPECT_EQ(read("frrwp+crw"), 230);
  EXPECT_EQ(read("advertised"), 140);
  EXPECT_FALSE(write("eager"));
}

TEST(CriticalPathTest, WithoutDelayTheSlowerRegistrationCounts) {
  const TransferParts parts{.client = 90, .server = 40, .start = 0, .key = 0, .compute = 0};
  EXPECT_EQ(critical_path("frrwp", true, parts), 90);
  EXPECT_EQ(critical_path("frrwp", false, parts), 90);
}

TEST(CriticalPathTest, WhatTheEndsDoThemselvesCounts) {
  const TransferParts parts{
      .client = 90, .server = 80, .start = 9, .key = 9, .compute = 0, .post = 4, .turn = 2, .submission = 3};
  EXPECT_EQ(critical_path("typical", true, parts), 193) << "its START is posted behind the registration, in its trip";
  EXPECT_EQ(critical_path("frrwp", true, parts), 103) << "START goes, the server turns to it, registers, answers";
  EXPECT_EQ(critical_path("frrwp", false, parts), 106) << "START is posted, the client registers, its key goes";
  EXPECT_EQ(critical_path("advertised", true, parts), 93);
  EXPECT_EQ(critical_path("advertised", false, parts), 94);
}

TEST(CriticalPathTest, AComputationDelaysAllButTheEngine) {
  const TransferParts parts{.client = 30, .server = 40, .start = 100, .key = 100, .compute = 1000};
  EXPECT_EQ(critical_path("typical", true, parts), 1030);
  EXPECT_EQ(critical_path("frrwp", true, parts), 1030);
  EXPECT_EQ(critical_path("frrwp+crw", true, parts), 240);
  EXPECT_EQ(critical_path("frrwp", false, parts), 1140);
  EXPECT_EQ(critical_path("frrwp+crw", false, parts), 140);
}

class Transfers : public MadeUpCells {
 protected:
  /// One whose phases are exactly these; `path`: what was measured.
  CellSummary& transfer(const char* protocol, double path, std::int64_t delay = 5'000'000, Parameters more = {}) {
    if (protocol != std::string{"typical"}) more["protocol"] = std::string{protocol};
    more.try_emplace("strategy", std::string{"each-time"});
    if (delay > 0) more["delay"] = delay;
    const auto trip = static_cast<double>(delay) + 50 * kUs;
    auto& cell = add("transfer", std::move(more),
                     {{"transfer", path + 6 * kMs},
                      {"critical_path", path},
                      {"client_registration", 2 * kMs},
                      {"server_registration", 2 * kMs},
                      {"start_trip", trip},
                      {"key_trip", trip},
                      {"completion_entry", 2 * kUs},
                      {"wake_up", 50 * kUs},
                      {"system_call", 1 * kUs}});
    cell.forward.asked = cell.back.asked = delay;
    cell.forward.achieved = cell.back.achieved = static_cast<double>(delay);
    return cell;
  }
  CellSummary& paired(double path, double saved) {
    auto& cell = transfer("frrwp", path, 5'000'000, {{"paired", 1}});
    MetricSummary metric;
    metric.name = "saved";
    metric.median = saved;
    metric.values = std::vector<double>(6, saved);
    metric.interval = Interval{saved * 0.9, saved * 1.1, 0.97};
    cell.metrics.insert(cell.metrics.begin() + 6, metric);
    return cell;
  }
  void profile() {
    add("registration", {{"size", 4096}}, {{"register", 1.9 * kMs}, {"deregister", 1 * kUs}});
    add("registration", {{"size", 1 << 20}}, {{"register", 2.1 * kMs}, {"deregister", 1 * kUs}});
    add("latency", {{"op", std::string{"send"}}}, {{"latency", 50 * kUs}});
  }
};

TEST_F(Transfers, ArePredictedFromTheirPhasesAndFromTheProfile) {
  transfer("typical", 14.2 * kMs);
  profile();
  const auto all = predict_transfers(summary_, vocabulary_);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].by_phases, Optional(DoubleNear(14.1 * kMs, 1)));
  EXPECT_THAT(all[0].by_profile, Optional(DoubleNear(2 * 5.05 * kMs + 2 * 1.91 * kMs, 0.05 * kMs)));
}

TEST_F(Transfers, WhatTheEndsDidIsTakenFromTheirMoments) {
  auto& cell = transfer("frrwp", 12 * kMs, 0);
  for (const auto& [name, value] : {std::pair{"submission", 3 * kUs}, std::pair{"at_client_registering", 4 * kUs},
                                    std::pair{"at_started", 60 * kUs}, std::pair{"at_server_registering", 62 * kUs}}) {
    MetricSummary metric;
    metric.name = name;
    metric.median = value;
    cell.metrics.push_back(metric);
  }
  // The server's way is the longer one: two trips of 50 us, its turn of 2, its registration, then the submission.
  EXPECT_THAT(predict_transfers(summary_, vocabulary_)[0].by_phases, Optional(DoubleNear(2 * kMs + 105 * kUs, 1)));
}

TEST_F(Transfers, WithoutAProfileOnlyTheirPhasesTell) {
  transfer("frrwp", 12 * kMs);
  const auto all = predict_transfers(summary_, vocabulary_);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_THAT(all[0].by_phases, Optional(DoubleNear(12.1 * kMs, 1)));
  EXPECT_FALSE(all[0].by_profile);
}

TEST_F(Transfers, ACacheHasNoProfile) {
  transfer("typical", 12 * kMs, 5'000'000, {{"strategy", std::string{"mrrc"}}});
  profile();
  EXPECT_FALSE(predict_transfers(summary_, vocabulary_).front().by_profile);
}

TEST_F(Transfers, SavingsStandBesideWhatThePhasesSay) {
  transfer("typical", 14.2 * kMs);
  transfer("frrwp", 12.2 * kMs);
  transfer("frrwp", 12.2 * kMs, 20'000'000);  // nothing to compare with
  const auto all = savings(summary_);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_NEAR(all[0].saved, 2 * kMs, 0.05 * kMs);
  EXPECT_THAT(all[0].predicted, Optional(DoubleNear(2 * kMs, 1)));
  EXPECT_TRUE(all[0].due());
  ASSERT_TRUE(all[0].interval);
  EXPECT_TRUE(all[0].interval->contains(2 * kMs));
}

TEST_F(Transfers, PairsAreTakenBeforeOtherCells) {
  transfer("typical", 14.2 * kMs);
  paired(12.2 * kMs, 1.9 * kMs);
  const auto all = savings(summary_);
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].typical, nullptr);
  EXPECT_EQ(all[0].saved, 1.9 * kMs);
  EXPECT_THAT(all[0].predicted, Optional(DoubleNear(2 * kMs, 1)));
  EXPECT_NEAR(all[0].ratio.value, 12.2 / 14.1, 0.001);
}

TEST_F(Transfers, AKeyThatWaitsForABusySourceIsNoLongerTripOfTheTypicalProcess) {
  auto& cell = paired(10 * kMs, 2 * kMs);
  for (auto& metric : cell.metrics)
    if (metric.name == "key_trip") metric.median += 3 * kMs;
  // Typical: registrations of 2 ms each, two trips of 5.05; the protocol's own path has the key's wait in it.
  EXPECT_THAT(savings(summary_)[0].predicted, Optional(DoubleNear((2 + 2 + 10.1) * kMs - (2 + 10.1 + 3) * kMs, 1)));
}

TEST_F(Transfers, F1HoldsWhereARegistrationIsSaved) {
  paired(12.2 * kMs, 1.9 * kMs);
  EXPECT_EQ(finding("F1").verdict, Verdict::holds);
  EXPECT_EQ(finding("F1").group, "rxe write, 5ms");
  EXPECT_THAT(finding("F1").reason, HasSubstr("saves 1900 us, its registrations and messages say 2000"));
}

TEST_F(Transfers, F1DoesNotHoldWhereTheOverlapCosts) {
  auto& saved = paired(12.2 * kMs, 1.9 * kMs).metrics[6];
  ASSERT_EQ(saved.name, "saved");
  saved.interval = Interval{-2 * kMs, -1 * kMs, 0.97};
  saved.values = {-2 * kMs, -1.8 * kMs, -1.6 * kMs, -1.4 * kMs, -1.2 * kMs, -1 * kMs};
  EXPECT_EQ(finding("F1").verdict, Verdict::does_not_hold);
}

// A tenth of a path of 12 ms was tolerated once: more than half of what is saved.
TEST_F(Transfers, F1JudgesTheSavingItself) {
  auto& saved = paired(12.2 * kMs, 1.9 * kMs).metrics[6];
  for (auto& value : saved.values) value /= 2;
  saved.interval = Interval{0.9 * kMs, 1 * kMs, 0.97};
  EXPECT_EQ(finding("F1").verdict, Verdict::does_not_hold);
}

TEST_F(Transfers, F1IsUndecidedWhereTheSavingIsTooSmallToSee) {
  paired(499 * kMs, 1 * kMs).metrics[6].interval = Interval{-5 * kMs, 7 * kMs, 0.97};
  EXPECT_EQ(finding("F1").verdict, Verdict::not_decidable);
}

TEST_F(Transfers, F2AndF3AreNotForSoftwareToDecide) {
  soft_ = true;
  transfer("typical", 14.2 * kMs);
  transfer("frrwp", 12.2 * kMs);
  transfer("frrwp+crw", 12.1 * kMs);
  paired(12.2 * kMs, 1.9 * kMs);
  EXPECT_EQ(finding("F2").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("F2").reason, HasSubstr("a wake-up of its own"));
  EXPECT_THAT(finding("F2").reason, HasSubstr("50.0 (T2)"));
  EXPECT_EQ(finding("F3").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("F3").reason, HasSubstr("save 2100 us, 15 % of the path"));
  EXPECT_EQ(finding("F1").verdict, Verdict::holds) << "an order of events is decided by any provider";
}

TEST_F(Transfers, AnApplicationThatComputesIsJudgedByItself) {
  const Parameters computing{{"compute", 20'000'000}};
  transfer("frrwp", 24 * kMs, 5'000'000, computing);
  transfer("frrwp+crw", 12 * kMs, 5'000'000, computing);
  EXPECT_THAT(findings("F1"), IsEmpty());
  EXPECT_EQ(finding("F2").group, "rxe write, 5ms, computing 20ms");
  EXPECT_EQ(finding("F2").verdict, Verdict::holds) << "on a NIC";
}

TEST_F(Transfers, TheMapNamesTheFastestAndAllThatAreAsGood) {
  transfer("typical", 14.2 * kMs);
  transfer("frrwp", 12.2 * kMs);
  transfer("frrwp+crw", 12.21 * kMs);
  auto& sockets = add("transfer", {{"delay", 5'000'000}}, {{"transfer", 30 * kMs}}, "tcp");
  sockets.forward.asked = 5'000'000;
  const auto all = decisions(summary_, vocabulary_);
  ASSERT_THAT(all, SizeIs(1));
  const auto& choices = all[0].choices;
  ASSERT_THAT(choices, SizeIs(4));
  EXPECT_EQ(choices[0].name, "frrwp, each-time");
  EXPECT_TRUE(choices[0].as_good);
  EXPECT_EQ(choices[1].name, "frrwp+crw, each-time");
  EXPECT_TRUE(choices[1].as_good);
  EXPECT_FALSE(choices[2].as_good);
  EXPECT_EQ(choices[3].name, "sockets");
}

}  // namespace
}  // namespace longhaul::results
