#include "degen/engines/planner.hh"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "degen/engines/edt/plan.hh"
#include "degen/engines/netem/plan.hh"
#include "degen/engines/nfqueue/plan.hh"
#include "degen/impairment/distribution.hh"

namespace longhaul::degen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

const Sides kSides{.client = {{"ra0"}, {"ra1", 9000}}, .server = {{"rb0"}}};

ImpairmentPlan plan_of(const Parameters& parameters, std::string_view engine = "netem", const Lateness& lateness = {}) {
  return plan_for(make_impairment(parameters).value(), engine, kSides, lateness).value();
}

std::vector<NetemQdisc> qdiscs_of(const Parameters& parameters, const Lateness& lateness = {}) {
  return netem::qdiscs_of(plan_of(parameters, "netem", lateness));
}

TEST(ImpairmentPlan, NothingAskedIsNothingMade) {
  EXPECT_TRUE(plan_of({}).empty());
  EXPECT_TRUE(plan_of({}, "nfqueue").empty());
  EXPECT_EQ(nfqueue::ruleset_of(plan_of({}, "nfqueue")), "");
}

TEST(ImpairmentPlan, ADirectionIsImpairedWhereItLeavesTheRouter) {
  const auto qdiscs = qdiscs_of({{"delay", 5'000'000}, {"delay_back", 2'000'000}});
  ASSERT_EQ(qdiscs.size(), 3u);
  EXPECT_EQ(qdiscs[0].interface, "rb0");
  EXPECT_EQ(qdiscs[0].latency, 5ms);
  EXPECT_EQ(qdiscs[1].interface, "ra0");
  EXPECT_EQ(qdiscs[1].latency, 2ms);
  EXPECT_EQ(qdiscs[2].interface, "ra1");
  const auto one_way = plan_of({{"delay", 5'000'000}, {"delay_back", 0}});
  ASSERT_EQ(one_way.egresses.size(), 1u);
  EXPECT_EQ(one_way.limit(Way::back), 0u);
}

TEST(ImpairmentPlan, LatenessComesOffAndNeverBelowZero) {
  const auto plan = plan_of({{"delay", 1'000'000}}, "netem", {.forward = 300us, .back = 2ms});
  EXPECT_EQ(plan.programmed_forward, 700us);
  EXPECT_EQ(plan.programmed_back, 0us);
  EXPECT_EQ(netem::qdiscs_of(plan)[0].latency, 700us);
  EXPECT_EQ(netem::qdiscs_of(plan)[1].latency, 0us);
  // Early is corrected too, but a direction without delay gets none.
  EXPECT_EQ(plan_of({{"delay", 1'000'000}}, "nfqueue", {.forward = -10us}).programmed_forward, 1010us);
  EXPECT_EQ(plan_of({{"loss", 10}}, "nfqueue", {.forward = -10us}).programmed_forward, 0us);
}

TEST(ImpairmentPlan, QueueHoldsRateTimesDelay) {
  // 10 Gbit/s x 100 ms / 1500 bytes = 83334 packets are on the way when no rate is given.
  EXPECT_EQ(queue_limit({.delay = 100ms}, 200ms, 1500), 83334 + kMinQueue);
  EXPECT_EQ(queue_limit({.delay = 100ms}, 200ms, 9000), 13889 + kMinQueue);
  // 100 Mbit/s x 20 ms = 167 packets on the way, and as many for the round trip of 40 ms twice over.
  EXPECT_EQ(queue_limit({.delay = 20ms, .rate = {100'000'000}}, 40ms, 1500), 167 + 334 + kMinQueue);
  // A normal jitter reaches 4 deviations further.
  EXPECT_EQ(queue_limit({.delay = 20ms, .jitter = 5ms, .distribution = Distribution::normal, .rate = {100'000'000}},
                        40ms, 1500),
            334 + 334 + kMinQueue);
  // A copy takes a place beside its packet.
  EXPECT_EQ(queue_limit({.delay = 20ms, .rate = {100'000'000}, .duplicate = {1000}}, 40ms, 1500),
            2 * (167 + 334 + kMinQueue));
  EXPECT_EQ(queue_limit({.delay = 10s}, 20s, 1500), kMaxQueue);
  EXPECT_GT(queue_limit({.loss = {1}}, 0ns, 1500), 100u);
}

TEST(ImpairmentPlan, AQueueOfStatedLengthIsInFrontOfTheLink) {
  // 50 wait, one is on the link, 167 are on the way (100 Mbit/s x 20 ms).
  EXPECT_EQ(queue_limit({.delay = 20ms, .rate = {100'000'000}, .queue = 50}, 40ms, 1500), 167 + 50 + 1);
  EXPECT_EQ(queue_patience({.rate = {100'000'000}}, 1500), 0ns);
  EXPECT_EQ(queue_patience({.rate = {100'000'000}, .queue = 50}, 1500), Nanoseconds{std::int64_t{51} * 1514 * 80});
  const Parameters parameters{{"delay", 20'000'000}, {"rate", 100'000'000}, {"queue", 50}};
  EXPECT_EQ(qdiscs_of(parameters)[0].limit, 218u);
  // Smaller packets fit into the same time.
  const auto queue = nfqueue::queues_of(plan_of(parameters, "nfqueue"))[0];
  EXPECT_EQ(queue.patience, Nanoseconds{std::int64_t{51} * 1514 * 80});
  EXPECT_EQ(queue.limit, 218u * 26);
  const auto link = edt::links_of(plan_of(parameters, "edt"))[0];
  EXPECT_EQ(link.patience, queue.patience);
  EXPECT_EQ(link.fq.limit, 218u * 26);
  // Nothing has changed where none is stated.
  EXPECT_EQ(nfqueue::queues_of(plan_of({{"delay", 20'000'000}, {"rate", 100'000'000}}, "nfqueue"))[0].limit,
            167u + 334 + kMinQueue);
}

TEST(ImpairmentPlan, NetemParameters) {
  const auto qdisc = qdiscs_of(
      {{"delay", 10'000'000}, {"jitter", 1'000'000}, {"loss", 500'000}, {"reorder", 250'000}, {"rate", 8'000'000}})[0];
  EXPECT_EQ(qdisc.jitter, 1ms);
  EXPECT_EQ(qdisc.loss, 0x80000000u);
  EXPECT_EQ(qdisc.reorder, 0x40000000u);
  EXPECT_EQ(qdisc.rate, 1'000'000u);
  EXPECT_FALSE(qdisc.bursts);
  EXPECT_FALSE(qdisc.ecn);
  EXPECT_EQ(qdisc.corrupt, 0u);
  EXPECT_EQ(qdiscs_of({{"corrupt", 500'000}})[0].corrupt, 0x80000000u);
  EXPECT_TRUE(qdiscs_of({{"loss", 1}, {"ecn", 1}})[0].ecn);
}

TEST(ImpairmentPlan, EveryInterfaceDrawsByItselfAndEachWayWhateverTheOtherDoes) {
  const auto seeds = [](const Parameters& parameters, std::uint32_t seed) {
    std::vector<std::uint64_t> found;
    const auto plan = plan_for(make_impairment(parameters).value(), "edt", kSides, {}, {seed}).value();
    for (const auto& egress : plan.egresses) found.push_back(egress.seed);
    return found;
  };
  const auto both = seeds({{"loss", 1000}}, 7);
  ASSERT_EQ(both.size(), 3u);
  EXPECT_NE(both[0], both[1]);
  EXPECT_NE(both[1], both[2]);
  EXPECT_EQ(seeds({{"loss", 1000}}, 7), both);
  EXPECT_NE(seeds({{"loss", 1000}}, 8)[0], both[0]);
  EXPECT_EQ(seeds({{"loss", 1000}, {"loss_back", 0}}, 7)[0], both[0]);
  EXPECT_EQ(seeds({{"loss", 0}, {"loss_back", 1000}}, 7)[0], both[1]);
  // The engines are told.
  const auto plan = plan_for(make_impairment({{"loss", 1000}}).value(), "edt", kSides, {}, {7}).value();
  EXPECT_EQ(edt::links_of(plan)[0].seed, both[0]);
  EXPECT_EQ(nfqueue::queues_of(plan)[0].seed, both[0]);
  EXPECT_EQ(netem::qdiscs_of(plan, true)[0].seed, both[0]);
  EXPECT_FALSE(netem::qdiscs_of(plan)[0].seed);
}

TEST(ImpairmentPlan, NetemTakesASeedSinceLinux67) {
  EXPECT_TRUE(netem::draws_by_seed("6.7.0"));
  EXPECT_TRUE(netem::draws_by_seed("6.12.43+deb13-amd64"));
  EXPECT_FALSE(netem::draws_by_seed("6.1.0-44-amd64"));
  const auto check = [](const Parameters& parameters, const Seed& seed, std::string_view release) {
    return netem::check_seed(plan_for(make_impairment(parameters).value(), "netem", kSides, {}, seed).value(), release);
  };
  EXPECT_TRUE(check({{"loss", 1000}}, {.value = 7, .asked = false}, "6.1.0"));
  EXPECT_TRUE(check({{"loss", 1000}}, {.value = 7, .asked = true}, "6.7.0"));
  EXPECT_TRUE(check({{"delay", 1000}}, {.value = 7, .asked = true}, "6.1.0"));  // nothing is drawn
  EXPECT_THAT(check({{"loss", 1000}}, {.value = 7, .asked = true}, "6.1.0").error().message,
              testing::AllOf(HasSubstr("seed: engine netem"), HasSubstr("6.1.0"), HasSubstr("use engine edt")));
}

TEST(ImpairmentPlan, JitterThatKeepsOrderNeedsARateInNetem) {
  EXPECT_GT(qdiscs_of({{"delay", 10'000}, {"jitter", 1'000}})[0].rate, 10'000'000'000u);
  EXPECT_EQ(qdiscs_of({{"delay", 10'000}, {"jitter", 1'000}, {"jitter_order", "free"}})[0].rate, 0u);
  EXPECT_EQ(qdiscs_of({{"delay", 10'000}})[0].rate, 0u);
}

TEST(ImpairmentPlan, NetemPlaysAScheduleByItsSteps) {
  const auto plan = plan_of({{"delay", 5'000'000},
                             {"rate", 8'000'000},
                             {"schedule", "1s delay 20ms loss 50%, 2s rate 80Mbit/s, repeat 3s"},
                             {"schedule_back", "500ms delay 1ms"}});
  const auto at = [&](Nanoseconds since) { return netem::qdiscs_of(plan, true, since)[0]; };
  EXPECT_EQ(at(0s).latency, 5ms);
  EXPECT_EQ(at(0s).loss, 0u);
  EXPECT_EQ(at(1s).latency, 20ms);
  EXPECT_EQ(at(1s).loss, 0x80000000u);
  EXPECT_EQ(at(1s).rate, 1'000'000u);
  EXPECT_EQ(at(2500ms).rate, 10'000'000u);
  EXPECT_EQ(at(3s).latency, 5ms);
  // Draws begin anew with each step, and so they are others; within one they are the same.
  EXPECT_EQ(at(1s).seed, at(1999ms).seed);
  EXPECT_NE(at(1s).seed, at(4s).seed);
  EXPECT_EQ(netem::next_change(plan, 0s), 500ms) << "of the way back";
  EXPECT_EQ(netem::next_change(plan, 500ms), 1s);
  EXPECT_EQ(netem::next_change(plan, 2s), 3s);
  EXPECT_EQ(netem::next_change(plan_of({{"schedule", "1s delay 20ms"}}), 1s), std::nullopt);
  EXPECT_EQ(netem::next_change(plan_of({{"delay", 1'000}}), 0s), std::nullopt);
}

TEST(ImpairmentPlan, AShorterDelayThatKeepsOrderNeedsARateInNetem) {
  EXPECT_GT(qdiscs_of({{"schedule", "1s delay 20ms, 2s delay 1ms"}})[0].rate, 10'000'000'000u);
  EXPECT_EQ(qdiscs_of({{"schedule", "1s delay 20ms, 2s delay 1ms"}, {"jitter_order", "free"}})[0].rate, 0u);
}

TEST(ImpairmentPlan, BurstsOfLossesKeepTheirMean) {
  const auto bursts = loss_model({.loss = {100'000}, .loss_burst = 4});
  ASSERT_TRUE(bursts);
  const double enter = bursts->enter / 4294967295.0;
  const double leave = bursts->leave / 4294967295.0;
  EXPECT_NEAR(1 / leave, 4, 1e-6);
  EXPECT_NEAR(enter / (enter + leave), 0.1, 1e-6);
  EXPECT_EQ(qdiscs_of({{"loss", 100'000}, {"loss_burst", 4}})[0].loss, 0u);
  EXPECT_FALSE(loss_model({.loss = {0}, .loss_burst = 4}));
}

TEST(ImpairmentPlan, GilbertElliottIsAskedOfEveryEngineAsItIs) {
  const Parameters parameters{
      {"ge_enter", 10'000}, {"ge_leave", 250'000}, {"ge_loss_bad", 500'000}, {"ge_loss_good", 1000}};
  const LossModel model{.enter = kernel_probability({10'000}),
                        .leave = 0x40000000,
                        .loss_bad = 0x80000000,
                        .loss_good = kernel_probability({1000})};
  const auto qdisc = qdiscs_of(parameters)[0];
  EXPECT_EQ(qdisc.bursts, model);
  EXPECT_EQ(qdisc.loss, 0u);
  const auto terms = edt::terms_of(edt::links_of(plan_of(parameters, "edt"))[0], {}, 1);
  EXPECT_EQ(terms.enter, model.enter);
  EXPECT_EQ(terms.leave, model.leave);
  EXPECT_EQ(terms.loss_bad, model.loss_bad);
  EXPECT_EQ(terms.loss_good, model.loss_good);
  EXPECT_FALSE(terms.delay_only);
  // Gilbert's simple model is the one whose states lose all and nothing.
  const auto simple = loss_model({.loss = {100'000}, .loss_burst = 4}).value();
  EXPECT_EQ(simple.loss_bad, kCertain);
  EXPECT_EQ(simple.loss_good, 0u);
}

TEST(ImpairmentPlan, KernelProbabilityIsExactAtItsEnds) {
  EXPECT_EQ(kernel_probability({0}), 0u);
  EXPECT_EQ(kernel_probability({1'000'000}), 0xffffffffu);
  EXPECT_EQ(kernel_probability({1}), 4295u);
}

TEST(ImpairmentPlan, NfqueueMakesOneQueueAnEgressInterface) {
  const auto plan = plan_of({{"delay", 5'000'000}}, "nfqueue");
  const auto queues = nfqueue::queues_of(plan);
  ASSERT_EQ(queues.size(), 3u);
  EXPECT_EQ(queues[0].number, kFirstQueue);
  EXPECT_EQ(queues[2].number, kFirstQueue + 2);
  EXPECT_EQ(queues[2].interface, "ra1");
  EXPECT_EQ(queues[2].way, Way::back);
  EXPECT_EQ(nfqueue::ruleset_of(plan),
            "table inet longhaul_degen {\n"
            "  flags owner\n"
            "  chain forward {\n"
            "    type filter hook forward priority 0; policy accept;\n"
            "    iifname { \"ra0\", \"ra1\" } oifname \"rb0\" counter queue flags bypass to 56928\n"
            "    iifname { \"rb0\" } oifname \"ra0\" counter queue flags bypass to 56929\n"
            "    iifname { \"rb0\" } oifname \"ra1\" counter queue flags bypass to 56930\n"
            "  }\n"
            "}\n");
}

std::vector<EdtLink> links_of(const Parameters& parameters) {
  return edt::links_of(plan_of(parameters, "edt"));
}

TEST(ImpairmentPlan, EdtHoldsPacketsWhereTheyLeaveAndNotesWhereTheyCome) {
  const auto links = links_of({{"delay", 5'000'000}});
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].interface, "rb0");
  EXPECT_THAT(links[0].origins, ElementsAre("ra0", "ra1"));
  EXPECT_EQ(links[2].interface, "ra1");
  EXPECT_THAT(links[2].origins, ElementsAre("rb0"));
  EXPECT_EQ(links[0].fq, (FqQdisc{.limit = 4167 + kMinQueue, .horizon = 1'005'000}));
  EXPECT_THAT(edt::arrivals_of(plan_of({{"delay", 5'000'000}}, "edt")), ElementsAre("ra0", "ra1", "rb0"));
  // One way only: no program where the other way's packets come in.
  const auto forward = plan_of({{"delay", 5'000'000}, {"delay_back", 0}}, "edt");
  EXPECT_THAT(edt::arrivals_of(forward), ElementsAre("ra0", "ra1"));
  EXPECT_THAT(planner("edt").footprint(forward).interfaces, ElementsAre("rb0", "ra0", "ra1"));
  EXPECT_FALSE(planner("edt").footprint(forward).table);
}

TEST(ImpairmentPlan, EdtTerms) {
  const auto links = links_of(
      {{"delay", 10'000'000}, {"jitter", 1'000'000}, {"loss", 500'000}, {"reorder", 250'000}, {"rate", 8'000'000}});
  const std::array<std::uint32_t, 2> origins{3, 4};
  const auto terms = edt::terms_of(links[0], origins, 9);
  EXPECT_EQ(terms.delay, 10'000'000u);
  EXPECT_EQ(terms.jitter, 1'000'000u);
  EXPECT_EQ(terms.loss, 0x80000000u);
  EXPECT_EQ(terms.reorder, 0x40000000u);
  EXPECT_EQ(terms.rate, 8'000'000u);
  EXPECT_EQ(terms.seed, 9u);
  EXPECT_EQ(terms.origins, 2u);
  EXPECT_EQ(terms.origin[1], 4u);
  EXPECT_EQ(terms.table[0], -8190);
  EXPECT_FALSE(terms.delay_only);
  EXPECT_TRUE(terms.keep_order);
  const auto bursts = edt::terms_of(links_of({{"loss", 100'000}, {"loss_burst", 4}})[0], {}, 1);
  EXPECT_EQ(bursts.loss, 0u);
  EXPECT_EQ(bursts.leave, 0x40000000u);
  EXPECT_FALSE(bursts.delay_only);
  EXPECT_TRUE(edt::terms_of(links_of({{"delay", 1'000}})[0], {}, 1).delay_only);
  EXPECT_FALSE(bursts.ecn);
  EXPECT_TRUE(edt::terms_of(links_of({{"loss", 100}, {"ecn", 1}})[0], {}, 1).ecn);
}

TEST(ImpairmentPlan, FqHoldsWhatIsAskedOfEdt) {
  // Longer than the longest delay, a full queue included.
  EXPECT_EQ(links_of({{"delay", 10'000'000'000}})[0].fq.horizon, 11'000'000u);
  EXPECT_EQ(links_of({{"delay", 10'000'000'000}})[0].fq.limit, kMaxQueue);
  const auto slow = links_of({{"delay", 1'000'000}, {"rate", 20'000}})[0];
  EXPECT_EQ(slow.patience, Nanoseconds{std::int64_t{1514} * 8 * (1 + 1 + kMinQueue) * 50'000} - 1ms);
  EXPECT_GT(std::chrono::microseconds{slow.fq.horizon}, slow.patience + 1ms);
  // Smaller packets than full ones fit into the time of the link's queue, too.
  EXPECT_EQ(slow.fq.limit, (1 + 1 + kMinQueue) * 26);
  // A flow for each packet, where they may overtake each other.
  const auto free = links_of({{"delay", 5'000'000}, {"jitter", 1'000'000}, {"jitter_order", "free"}})[0];
  EXPECT_EQ(free.fq.buckets_log, 16u);
  EXPECT_FALSE(edt::terms_of(free, {}, 1).keep_order);
}

// A packet that comes as the link goes down behind a full queue is held the longest: fq must not take that for a
// mistake.
TEST(ImpairmentPlan, FqHoldsWhatASchedulesLinkHoldsBack) {
  const auto plan = plan_of(
      {{"delay", 5'000'000}, {"rate", 8'000'000}, {"queue", 99}, {"schedule", "1s down, 21s rate 8Mbit/s, repeat 30s"}},
      "edt");
  const auto link = edt::links_of(plan)[0];
  EXPECT_EQ(link.room, 100 * 1514);
  // 20 s, what is left of the queue then, delay and a second.
  EXPECT_GE(link.fq.horizon, 21'156'000u);
  EXPECT_LE(link.fq.horizon, 21'400'000u);
  const auto terms = edt::terms_of(link, {}, 1, 0, 7s);
  EXPECT_EQ(terms.begin, 7'000'000'000u);
  EXPECT_EQ(terms.repeat, 30'000'000'000u);
  EXPECT_EQ(terms.work, 80'000'000ULL * EDT_WORK_PER_BIT);
  EXPECT_EQ(terms.moments, 3u);
  EXPECT_EQ(terms.places, 4u);
  EXPECT_EQ(edt::moments_of(link).size(), 4u);
  EXPECT_FALSE(terms.delay_only);
  EXPECT_TRUE(edt::moments_of(edt::links_of(plan_of({{"delay", 1'000}}, "edt"))[0]).empty());
}

TEST(ImpairmentPlan, EdtNeedsAKernelThatKeepsDeliveryTimes) {
  for (const auto* release : {"5.18.0", "6.1.0-44-amd64", "6.12.43", "10.0", "strange"})
    EXPECT_TRUE(edt::check_kernel(release)) << release;
  for (const auto* release : {"5.17.9", "5.10.0-33-amd64", "4.19.0"})
    EXPECT_THAT(edt::check_kernel(release).error().message, testing::AllOf(HasSubstr("5.18"), HasSubstr(release)));
}

TEST(ImpairmentPlan, RefusesWhatAnEngineCannotDoByName) {
  const auto duplicate = make_impairment({{"duplicate_back", 10}}).value();
  EXPECT_TRUE(check_engine(duplicate, "netem"));
  EXPECT_THAT(check_engine(duplicate, "nfqueue").error().message,
              testing::AllOf(HasSubstr("duplicate_back"), HasSubstr("nfqueue"), HasSubstr("use engine edt or netem")));
  EXPECT_TRUE(check_engine(duplicate, "edt"));
  const auto flips = make_impairment({{"corrupt", 10}}).value();
  EXPECT_TRUE(check_engine(flips, "netem"));
  EXPECT_TRUE(check_engine(flips, "nfqueue"));
  EXPECT_THAT(check_engine(flips, "edt").error().message,
              testing::AllOf(HasSubstr("corrupt"), HasSubstr("edt"), HasSubstr("use engine netem or nfqueue")));
  const auto long_queue = make_impairment({{"rate", 20'000}, {"queue", 1000}}).value();
  EXPECT_TRUE(check_engine(long_queue, "nfqueue"));
  EXPECT_THAT(check_engine(long_queue, "edt").error().message, HasSubstr("queue: 1000 packets at 20kbit/s"));
  EXPECT_TRUE(check_engine(make_impairment({{"rate", 20'000'000}, {"queue", 1000}}).value(), "edt"));
  const auto slow = make_impairment({{"rate", 19'000}}).value();
  EXPECT_TRUE(check_engine(slow, "netem"));
  EXPECT_THAT(check_engine(slow, "edt").error().message,
              testing::AllOf(HasSubstr("rate"), HasSubstr("edt"), HasSubstr("20")));
  EXPECT_THAT(plan_for({}, "netmen", kSides, {}).error().message, HasSubstr("did you mean 'netem'"));
}

TEST(Distribution, TablesHaveTheirMeanAndSpread) {
  for (const auto distribution : {Distribution::normal, Distribution::pareto}) {
    const auto table = distribution_table(distribution);
    double sum = 0, squares = 0;
    for (const double value : table) {
      sum += value / 8192;
      squares += value / 8192 * value / 8192;
    }
    EXPECT_NEAR(sum / kDistributionSize, 0, 0.03);
    // Cut at 4 deviations; the Pareto's tail holds much of its variance.
    EXPECT_NEAR(squares / kDistributionSize, distribution == Distribution::normal ? 1 : 0.6, 0.1);
    EXPECT_TRUE(std::is_sorted(table.begin(), table.end()));
  }
  const auto uniform = distribution_table(Distribution::uniform);
  EXPECT_EQ(uniform.front(), -8190);
  EXPECT_EQ(uniform.back(), 8190);
}

TEST(Distribution, DrawsStayWithinTheJitter) {
  for (std::uint32_t random = 0; random < 10'000; random += 7) {
    EXPECT_LE(std::abs(draw_deviation(Distribution::uniform, 1ms, random).count()), 1'000'000);
    EXPECT_LE(std::abs(draw_deviation(Distribution::normal, 1ms, random).count()), 4'000'000);
  }
}

}  // namespace
}  // namespace longhaul::degen
