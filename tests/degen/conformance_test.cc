// Every property of an impairment, of each engine that decides in our own code, over 20 seeds: what is drawn is what
// was asked for. The seeds are fixed, so the test says the same each time; and the engines say the same as each other.
// What a kernel makes of it, and raw netem, is in tests/lab/impairments_test.cc.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "degen/engines/planner.hh"
#include "degen/impairment/distribution.hh"
#include "tests/degen/deciders.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;
using test::arrivals;
using test::deciders;
using test::Outcome;

constexpr int kSeeds = 20;
constexpr int kPackets = 20'000;
// 99.9 % of chi-squared, and 0.1 %: what is drawn too evenly is not drawn.
constexpr double kMost20 = 45.3, kLeast20 = 5.9;
constexpr double kMost15 = 37.7, kMost300 = 381;

/// How far counts were from what is expected, in standard deviations, a seed each.
void expect_conforms(const std::vector<double>& deviations, const std::string& what) {
  ASSERT_EQ(deviations.size(), std::size_t{kSeeds}) << what;
  double squares = 0;
  int within = 0;
  for (const auto z : deviations) {
    squares += z * z;
    within += std::abs(z) < 1.96 ? 1 : 0;
  }
  // Of 20 intervals of 95 % each, 16 or more hold (99.7 %).
  EXPECT_GE(within, 16) << what;
  EXPECT_LT(squares, kMost20) << what;
  EXPECT_GT(squares, kLeast20) << what;
}

using Counted = std::function<bool(const Outcome&)>;

bool lost(const Outcome& outcome) {
  return !outcome.passed;
}

/// The count of packets of which `hit` is true against a share of them whose count has `spread` times the variance of
/// independent draws.
void expect_share(const Direction& direction, const Counted& hit, double share, double spread = 1,
                  const std::string& but = "") {
  for (const auto& [engine, decide] : deciders()) {
    if (engine == but) continue;
    std::vector<double> deviations;
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
      const auto outcomes = decide(direction, seed, arrivals(kPackets, 10us));
      const auto count = static_cast<double>(std::count_if(outcomes.begin(), outcomes.end(), hit));
      deviations.push_back((count - kPackets * share) / std::sqrt(kPackets * share * (1 - share) * spread));
    }
    expect_conforms(deviations, engine);
  }
}

/// Of a loss model of two states: the share lost, and the variance of the count against that of independent losses
/// (correlations of the states fall by 1 - enter - leave a packet).
struct Chain {
  double enter, leave, bad, good;
  double in_bad() const { return enter / (enter + leave); }
  double share() const { return in_bad() * bad + (1 - in_bad()) * good; }
  double spread() const {
    const auto memory = 1 - enter - leave;
    const auto covariance = std::pow(bad - good, 2) * in_bad() * (1 - in_bad()) * memory / (1 - memory);
    return 1 + 2 * covariance / (share() * (1 - share()));
  }
  /// Of packets behind a lost one.
  double again() const {
    const auto bad_and_lost = in_bad() * bad, good_and_lost = (1 - in_bad()) * good;
    return (bad_and_lost * (leave * good + (1 - leave) * bad) + good_and_lost * (enter * bad + (1 - enter) * good)) /
           (bad_and_lost + good_and_lost);
  }
};

TEST(Conformance, Losses) {
  expect_share({.delay = 1ms, .loss = {50'000}}, lost, 0.05);
  expect_share({.delay = 1ms, .loss = {1'000}}, lost, 0.001);
  expect_share({.loss = {500'000}}, lost, 0.5);
}

void expect_chain(const Direction& direction, const Chain& chain) {
  expect_share(direction, lost, chain.share(), chain.spread());
  for (const auto& [engine, decide] : deciders()) {
    double behind = 0, again = 0;
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
      const auto outcomes = decide(direction, seed, arrivals(kPackets, 10us));
      for (std::size_t i = 1; i < outcomes.size(); ++i) {
        if (!lost(outcomes[i - 1])) continue;
        behind += 1;
        again += lost(outcomes[i]) ? 1 : 0;
      }
    }
    EXPECT_NEAR(again / behind, chain.again(), 4 * std::sqrt(chain.again() * (1 - chain.again()) / behind)) << engine;
  }
}

TEST(Conformance, LossesInBursts) {
  // 5 % in bursts of 4: entered by 0.25 x 0.05 / 0.95.
  expect_chain({.delay = 1ms, .loss = {50'000}, .loss_burst = 4}, {0.25 * 0.05 / 0.95, 0.25, 1, 0});
}

TEST(Conformance, LossesByGilbertAndElliott) {
  expect_chain(
      {.delay = 1ms, .ge = {.enter = {20'000}, .leave = {100'000}, .loss_bad = {600'000}, .loss_good = {5'000}}},
      {0.02, 0.1, 0.6, 0.005});
  // A good state that is never left, and one model that is the other: independent losses.
  expect_share({.ge = {.enter = {0}, .leave = {1'000'000}, .loss_bad = {1'000'000}, .loss_good = {50'000}}}, lost,
               0.05);
}

TEST(Conformance, MarksInPlaceOfLosses) {
  for (auto direction : {Direction{.delay = 1ms, .loss = {50'000}}, Direction{.loss = {50'000}, .loss_burst = 4}}) {
    for (const auto& [engine, decide] : deciders()) {
      direction.ecn = false;
      const auto losses = decide(direction, 7, arrivals(kPackets, 10us, 1514, true));
      direction.ecn = true;
      const auto marks = decide(direction, 7, arrivals(kPackets, 10us, 1514, true));
      for (std::size_t i = 0; i < losses.size(); ++i) {
        ASSERT_EQ(marks[i].marked, lost(losses[i])) << engine << " " << i;
        ASSERT_TRUE(marks[i].passed);
      }
      EXPECT_EQ(decide(direction, 7, arrivals(kPackets, 10us)), losses) << engine;  // of those who know no marks
    }
  }
}

TEST(Conformance, Duplicates) {
  const auto twice = [](const Outcome& outcome) { return outcome.twice; };
  expect_share({.delay = 1ms, .duplicate = {50'000}}, twice, 0.05, 1, "nfqueue");
  expect_share({.duplicate = {500'000}}, twice, 0.5, 1, "nfqueue");
  // A copy is a packet like others: it is lost, too, takes its time on the link and a place in the queue.
  expect_share({.loss = {100'000}, .duplicate = {200'000}}, twice, 0.9 * 0.2 * 0.9, 1, "nfqueue");
  const auto outcomes = deciders()[0].decide(
      {.delay = 1ms, .rate = {10'000'000}, .queue = 50, .duplicate = {1'000'000}}, 1, arrivals(50, 0ms));
  for (int i = 0; i < 50; ++i) {
    const auto& outcome = outcomes[static_cast<std::size_t>(i)];
    EXPECT_EQ(outcome.passed, i < 26) << i;
    EXPECT_EQ(outcome.twice, i < 25) << i;
    EXPECT_EQ(outcome.held, outcome.passed ? 1ms + (2 * i + 1) * 1'211'200ns : 0ns) << i;
  }
}

TEST(Conformance, BitErrors) {
  const auto flipped = [](const Outcome& outcome) { return outcome.flip.has_value(); };
  expect_share({.delay = 1ms, .corrupt = {50'000}}, flipped, 0.05, 1, "edt");
  // Each bit of a packet is as likely.
  double squared = 0;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    std::vector<double> counts(16);
    double all = 0;
    for (const auto& outcome : deciders()[1].decide({.corrupt = {1'000'000}}, seed, arrivals(kPackets, 10us))) {
      ++counts[*outcome.flip % (1500 * 8) / (1500 * 8 / 16)];
      ++all;
    }
    for (const auto count : counts) squared += std::pow(count - all / 16, 2) / (all / 16);
  }
  EXPECT_LT(squared, kMost300);
}

TEST(Conformance, Reordering) {
  expect_share(
      {.delay = 5ms, .reorder = {50'000}}, [](const Outcome& outcome) { return outcome.held == 0ms; }, 0.05);
}

// The distribution's table has steps of equal probability: 16 classes of it hold as many packets each.
TEST(Conformance, Jitter) {
  constexpr Nanoseconds kJitter = 8192us;  // so that a value of the table is 1 us
  for (const auto distribution : {Distribution::uniform, Distribution::normal, Distribution::pareto}) {
    const auto table = distribution_table(distribution);
    for (const auto& [engine, decide] : deciders()) {
      double total = 0;
      for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
        std::vector<double> counts(16);
        const Direction direction{.delay = 100ms, .jitter = kJitter, .distribution = distribution, .keep_order = false};
        for (const auto& outcome : decide(direction, seed, arrivals(kPackets, 10us))) {
          const auto value = (outcome.held - 100ms) / 1us;
          const auto place = std::lower_bound(table.begin(), table.end(), value) - table.begin();
          ASSERT_LT(place, 4096);
          ASSERT_EQ(table[static_cast<std::size_t>(place)], value);
          ++counts[static_cast<std::size_t>(place / 256)];
        }
        double squared = 0;
        for (const auto count : counts) squared += std::pow(count - kPackets / 16.0, 2) / (kPackets / 16.0);
        EXPECT_LT(squared, kMost15) << engine << " seed " << seed;
        total += squared;
      }
      EXPECT_LT(total, kMost300) << engine;
    }
  }
}

TEST(Conformance, JitterThatKeepsOrderLetsNobodyLeaveBeforeAnEarlierOne) {
  for (const auto& [engine, decide] : deciders()) {
    const auto packets = arrivals(kPackets, 10us);
    const auto outcomes = decide({.delay = 5ms, .jitter = 2ms}, 1, packets);
    for (std::size_t i = 1; i < outcomes.size(); ++i)
      ASSERT_GE(packets[i].time + outcomes[i].held, packets[i - 1].time + outcomes[i - 1].held) << engine << " " << i;
  }
}

TEST(Conformance, RateDelayAndQueue) {
  // 1.2112 ms a packet; one on the link, 50 behind it.
  for (const auto& [engine, decide] : deciders()) {
    const auto outcomes = decide({.delay = 20ms, .rate = {10'000'000}, .queue = 50}, 1, arrivals(100, 0ms));
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(outcomes[i].passed, i < 51) << engine << " " << i;
      const auto held = i < 51 ? 20ms + (static_cast<int>(i) + 1) * 1'211'200ns : 0ns;
      EXPECT_EQ(outcomes[i].held, held) << engine << " " << i;
    }
  }
}

// The same words and the same seed: the same packets, to the nanosecond.
TEST(Conformance, TheEnginesSayTheSame) {
  const std::vector<Direction> asked{
      {.delay = 5ms},
      {.delay = 5ms, .loss = {20'000}},
      {.delay = 5ms, .loss = {20'000}, .loss_burst = 3},
      {.delay = 5ms, .ge = {.enter = {20'000}, .leave = {100'000}, .loss_bad = {600'000}, .loss_good = {5'000}}},
      {.delay = 5ms, .jitter = 5ms, .distribution = Distribution::normal},
      {.delay = 5ms, .jitter = 5ms, .distribution = Distribution::pareto, .keep_order = false},
      {.delay = 5ms, .reorder = {50'000}},
      {.delay = 5ms, .loss = {20'000}, .ecn = true, .rate = {1'000'000'000}, .queue = 20, .reorder = {10'000}},
      {.delay = 5ms, .jitter = 1ms, .loss = {20'000}, .loss_burst = 3, .rate = {1'000'000'000}, .queue = 20}};
  for (const auto& direction : asked) {
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      // Twice as fast as the link, where there is one.
      auto packets = arrivals(2000, 6056ns, 1514, true);
      const auto first = deciders()[0].decide(direction, seed, packets);
      const auto second = deciders()[1].decide(direction, seed, packets);
      const auto difference = std::mismatch(first.begin(), first.end(), second.begin());
      EXPECT_EQ(first, second) << describe({.forward = direction, .back = direction}) << ": packet "
                               << difference.first - first.begin();
      EXPECT_EQ(deciders()[0].decide(direction, seed, packets), first);
      EXPECT_EQ(deciders()[0].decide(direction, seed + 100, packets) == first, !direction.random());
    }
  }
}

// Faults of single packets: of the same packets, whatever else is asked, and of no probe.
TEST(Conformance, FaultsHitTheSamePackets) {
  const std::vector<Direction> asked{{},
                                     {.delay = 5ms},
                                     {.delay = 5ms, .jitter = 4ms, .loss = {20'000}},
                                     {.delay = 5ms, .jitter = 4ms, .keep_order = false, .loss = {20'000}, .ecn = true},
                                     {.delay = 5ms, .rate = {1'000'000'000}, .queue = 20, .reorder = {10'000}}};
  for (auto direction : asked) {
    direction.faults = parse_faults("drop 3, drop 20-22, delay 30 by 3ms, delay 31 by 10s, drop 1900-5000").value();
    auto packets = arrivals(2000, 6056ns, 1514, true);
    for (std::size_t i = 0; i < packets.size(); i += 10) packets[i].key = {.protocol = 17, .from = 40000, .to = 7473};
    const auto first = deciders()[0].decide(direction, 1, packets);
    const auto second = deciders()[1].decide(direction, 1, packets);
    const auto difference = std::mismatch(first.begin(), first.end(), second.begin());
    EXPECT_EQ(first, second) << describe({.forward = direction, .back = direction}) << ": packet "
                             << difference.first - first.begin();
    // The packet at 10 is a probe: number 10 is at 11, number 30 at 33.
    for (const std::size_t i : {3U, 22U, 23U, 24U}) EXPECT_FALSE(first[i].passed) << i;
    if (direction.random() || direction.limited()) continue;
    for (const auto& [i, later] : {std::pair{20U, 0ns}, {32U, 0ns}, {33U, 3ms}, {34U, 10s}, {35U, 0ns}})
      EXPECT_EQ(first[i].held, direction.delay + later) << i;
  }
}

// And where they are those of a flow: of its packets alone.
TEST(Conformance, FaultsHitTheSamePacketsOfAFlow) {
  const std::vector<FlowKey> mixed{{.protocol = 6, .from = 40000, .to = 5201},
                                   {.protocol = 6, .from = 5201, .to = 40000},
                                   {.protocol = 6, .from = 5202, .to = 40000},
                                   {.protocol = 17, .from = 40000, .to = 5201},
                                   {.protocol = 17, .from = 40000, .to = 7473},  // a probe
                                   {.protocol = 17},                             // a later fragment
                                   {.protocol = 1},
                                   {.protocol = 58},
                                   {}};
  // How many of the nine have a number.
  const std::vector<std::pair<std::string, std::size_t>> asked{
      {"", 8}, {"tcp: ", 3}, {"tcp 5201: ", 2}, {"udp: ", 2}, {"udp 5201: ", 1}, {"icmp: ", 2}, {"udp 7: ", 0}};
  for (const auto& [flow, numbered] : asked) {
    SCOPED_TRACE(flow);
    Direction direction{.delay = 5ms};
    direction.faults = parse_faults(flow + "drop 1-100000").value();
    auto packets = arrivals(static_cast<int>(mixed.size()), 6056ns);
    for (std::size_t i = 0; i < packets.size(); ++i) packets[i].key = mixed[i];
    const auto first = deciders()[0].decide(direction, 1, packets);
    EXPECT_EQ(first, deciders()[1].decide(direction, 1, packets));
    EXPECT_EQ(std::count_if(first.begin(), first.end(), [](const Outcome& one) { return !one.passed; }),
              static_cast<std::ptrdiff_t>(numbered));
  }
}

// The same where the path changes, but that one reckons with fractions of bits and the other with whole nanoseconds: in
// rates by which a packet takes a whole number of them, or who finds a queue just full would differ after a while.
TEST(Conformance, TheEnginesPlayAScheduleTheSame) {
  const std::vector<std::pair<Direction, std::string>> asked{
      {{.delay = 5ms}, "10ms delay 1ms, 20ms delay 30ms loss 5%, repeat 30ms"},
      {{.delay = 5ms, .keep_order = false}, "10ms delay 1ms, 20ms delay 30ms, repeat 30ms"},
      {{.delay = 5ms, .jitter = 1ms, .loss = {20'000}}, "10ms delay 20ms loss 0, repeat 25ms"},
      {{.delay = 5ms, .rate = {100'000'000}, .queue = 20}, "10ms down, 20ms rate 200Mbit/s, repeat 30ms"},
      {{.delay = 5ms, .rate = {100'000'000}, .queue = 500},
       "10ms rate 1Mbit/s, 20ms rate 1Gbit/s, 30ms rate 3Mbit/s delay 1ms"},
      {{.delay = 5ms, .rate = {10'000'000}, .queue = 200}, "0 down, 7ms rate 20kbit/s, 300ms rate 1Gbit/s, repeat 1s"},
      {{.delay = 5ms,
        .ge = {.enter = {20'000}, .leave = {100'000}, .loss_bad = {600'000}, .loss_good = {5'000}},
        .rate = {20'000'000},
        .queue = 20,
        .reorder = {10'000}},
       "10ms delay 1ms, 20ms down, 40ms delay 9ms rate 30280kbit/s, repeat 100ms"}};
  for (auto [direction, schedule] : asked) {
    direction.schedule = parse_schedule(schedule).value();
    const auto packets = arrivals(4000, 121'120ns, 1514, true);
    const auto first = deciders()[0].decide(direction, 1, packets);
    const auto second = deciders()[1].decide(direction, 1, packets);
    int passed = 0;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      ASSERT_EQ(first[i].passed, second[i].passed) << schedule << ": packet " << i;
      ASSERT_EQ(first[i].marked, second[i].marked) << schedule << ": packet " << i;
      EXPECT_NEAR(static_cast<double>(first[i].held.count()), static_cast<double>(second[i].held.count()), 500)
          << schedule << ": packet " << i;
      passed += first[i].passed ? 1 : 0;
    }
    EXPECT_GT(passed, 40) << schedule;
  }
}

// What the table in docs/degen.md says of each engine.
TEST(Conformance, RefusalsAreThoseOfTheTable) {
  const auto able = [](const Parameters& parameters) {
    std::vector<std::string> names;
    for (const auto& engine : engine_names())
      if (check_engine(make_impairment(parameters).value(), engine)) names.push_back(engine);
    return names;
  };
  using testing::ElementsAre;
  for (const Parameters& parameters :
       {Parameters{{"delay", 1000}, {"jitter", 1000}}, Parameters{{"loss", 10}, {"loss_burst", 3}, {"ecn", 1}},
        Parameters{{"ge_enter", 10}}, Parameters{{"delay", 1000}, {"reorder", 10}},
        Parameters{{"rate", 1'000'000}, {"queue", 10}}})
    EXPECT_THAT(able(parameters), ElementsAre("netem", "nfqueue", "edt"));
  EXPECT_THAT(able({{"corrupt", 10}}), ElementsAre("netem", "nfqueue"));
  EXPECT_THAT(able({{"duplicate", 10}}), ElementsAre("netem", "edt"));
  EXPECT_THAT(able({{"faults", "drop 3, delay 4 by 1ms"}}), ElementsAre("nfqueue", "edt"));
  EXPECT_THAT(able({{"faults", "swap 3"}}), ElementsAre("nfqueue"));
  EXPECT_THAT(able({{"faults", "duplicate 3"}}), ElementsAre("edt"));
  EXPECT_THAT(able({{"schedule", "1s delay 20ms, repeat 2s"}}), ElementsAre("netem", "nfqueue", "edt"));
  EXPECT_THAT(able({{"schedule", "1ms delay 20ms, repeat 2ms"}}), ElementsAre("nfqueue", "edt"));
  EXPECT_THAT(able({{"rate", 1'000'000}, {"schedule", "1s down, 2s rate 1Mbit/s, repeat 3s"}}),
              ElementsAre("nfqueue", "edt"));
  EXPECT_THAT(able({{"rate", 1'000'000}, {"schedule", "1s rate 20Gbit/s, repeat 3s"}}),
              ElementsAre("netem", "nfqueue"));
  EXPECT_THAT(able({{"rate", 1'000'000}, {"schedule", "1s down, 5000s rate 1Mbit/s"}}), ElementsAre("nfqueue"));
}

}  // namespace
}  // namespace longhaul::degen
