#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/orchestrator/fixture.hh"
#include "tests/some.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::orchestrator {
namespace {

using testing::cells_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kHead = "name: n\nworkload: ping\n";
const std::string kSeries = "series:\n  - {transport: rdma, provider: rxe}\n";  // lines 3 and 4

struct Wrong {
  std::string text;
  std::string message;
};

class WrongCampaign : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongCampaign, IsRefusedWithItsPlace) {
  const auto cells = cells_of(GetParam().text);
  ASSERT_FALSE(cells) << GetParam().text;
  EXPECT_EQ(cells.error().message, GetParam().message);
  EXPECT_EQ(cells.error().exit_code, ExitCode::usage);
}

INSTANTIATE_TEST_SUITE_P(
    Shape, WrongCampaign,
    ::testing::Values(
        Wrong{"", "c.yaml:1:1: expected one YAML document, got an empty file"},
        Wrong{"name: n\n---\nname: m\n", "c.yaml:1:1: expected one YAML document, got several"},
        Wrong{", name: n\n", "c.yaml:1:1: expected one YAML document, got several"},
        Wrong{"}\n", "c.yaml:1:1: not YAML: illegal flow end"},
        Wrong{"- a\n", "c.yaml:1:1: expected a campaign: a map with name, workload, series, axes ..., got a list"},
        Wrong{"name: [\n", "c.yaml:2:1: not YAML: end of sequence flow not found"},
        Wrong{"workload: ping\n", "c.yaml:1:1: key 'name' is missing: expected a name"},
        Wrong{kHead + "serie: []\n",
              "c.yaml:3:1: unknown key 'serie' in the campaign; did you mean 'series'? It takes name, description, "
              "workload, series, axes, fixed, repeat, max_cells, experiments"},
        Wrong{"name: n\n",
              "c.yaml:1:1: key 'workload' is missing: expected the name of a workload, or a list of 'experiments'"},
        Wrong{kHead + "experiments: [{workload: ping}]\n",
              "c.yaml:2:11: a campaign has either 'workload' or 'experiments', each entry with its workload"},
        Wrong{"name: n\nexperiments: []\n",
              "c.yaml:2:14: expected a list for 'experiments', such as [{workload: latency, axes: {delay: [0, "
              "5ms]}}], got an empty one"},
        Wrong{"name: n\nexperiments: [ping]\n",
              "c.yaml:2:15: expected an experiment: a map with workload, series, axes, fixed, got 'ping'"},
        Wrong{"name: n\nexperiments:\n  - {axes: {delay: [0]}}\n",
              "c.yaml:3:5: key 'workload' is missing: expected the name of a workload"},
        Wrong{"name: n\nexperiments:\n  - {workload: ping, repeat: {min: 3}}\n",
              "c.yaml:3:22: unknown key 'repeat' in an experiment; it takes workload, series, axes, fixed"},
        Wrong{kHead + "name: m\n", "c.yaml:3:1: key 'name' is given twice in the campaign, first in line 1"},
        Wrong{"name: {}\nworkload: ping\n", "c.yaml:1:7: expected a name for 'name', got a map of keys"},
        Wrong{"name: a/b\nworkload: ping\n",
              "c.yaml:1:7: expected a name of at most 64 letters, digits, '_', '-' or '.', got 'a/b'"},
        Wrong{kHead + "series: []\n",
              "c.yaml:3:9: expected a list for 'series', such as [{transport: rdma, provider: rxe}], got an empty one"},
        Wrong{kHead + "series: [rxe]\n",
              "c.yaml:3:10: expected a map of axes such as {transport: rdma, provider: rxe}, got 'rxe'"},
        Wrong{kHead + "series:\n  - {transport: rdma, transport: tcp}\n",
              "c.yaml:4:23: key 'transport' is given twice in an entry of series, first in line 4"},
        Wrong{kHead + "series:\n  - {transport: [rdma, tcp]}\n",
              "c.yaml:4:17: expected one value for 'transport' in an entry of series, got a list; what is swept "
              "belongs into 'axes'"},
        Wrong{kHead + kSeries + "axes: [delay]\n",
              "c.yaml:5:7: expected a map of lists for 'axes', such as {delay: [0, 5ms]}, got a list"},
        Wrong{kHead + kSeries + "axes: {delay: 5ms}\n",
              "c.yaml:5:15: expected a list for axis 'delay', got '5ms'; one value for all cells belongs into 'fixed'"},
        Wrong{kHead + kSeries + "axes: {delay: []}\n",
              "c.yaml:5:15: axis 'delay' is an empty list; leave it out or give it values"},
        Wrong{kHead + kSeries + "axes:\n  delay: [1ms]\n  delay: [2ms]\n",
              "c.yaml:7:3: key 'delay' is given twice in axes, first in line 6"},
        Wrong{kHead + kSeries + "repeat: {mni: 3}\n",
              "c.yaml:5:10: unknown key 'mni' in repeat; did you mean 'min'? It takes min, max, precision"}));

INSTANTIATE_TEST_SUITE_P(
    Alone, WrongCampaign,
    ::testing::Values(
        Wrong{"name: n\nworkload: solo\n" + kSeries,
              "c.yaml:4:6: axis 'transport' does not apply: workload solo runs on one node by itself and has no "
              "transport; leave it out here, and give it to the experiments that need it"},
        Wrong{"name: n\nworkload: solo\naxes: {policy: [lru, mrrc], delay: [0, 5ms]}\n",
              "c.yaml:3:29: axis 'delay' does not apply: workload solo runs on one node by itself and has no "
              "transport; leave it out here, and give it to the experiments that need it"},
        Wrong{"name: n\nworkload: card\n" + kSeries + "fixed: {path: lan}\n",
              "c.yaml:5:9: axis 'path' does not apply: workload card runs on one node by itself, nothing of it crosses "
              "a path; leave it out here, and give it to the experiments that need it"},
        Wrong{"name: n\nworkload: card\nseries: [{transport: rdma, provider: rxe}]\nfixed: {rival: rxe}\n",
              "c.yaml:4:9: axis 'rival' does not apply: workload card runs on one node by itself, nothing of it "
              "crosses a path; leave it out here, and give it to the experiments that need it"},
        Wrong{"name: n\nworkload: card\naxes: {size: [1KiB]}\n",
              "c.yaml:1:1: a cell without transport; give 'transport: rdma' in series, axes or fixed"},
        Wrong{"name: n\nworkload: card\nseries: [{transport: tcp}]\n",
              "c.yaml:3:10: workload card does not run over tcp; give 'transport: rdma'"},
        Wrong{"name: n\nworkload: card\nseries: [{transport: rdma}]\n",
              "c.yaml:3:10: transport rdma without provider; name the RDMA driver, such as 'provider: rxe'"},
        Wrong{"name: n\nworkload: solo\naxes: {polcy: [lru]}\n",
              "c.yaml:3:8: unknown axis 'polcy'; did you mean 'policy'?"}));

INSTANTIATE_TEST_SUITE_P(
    Meaning, WrongCampaign,
    ::testing::Values(
        Wrong{"name: n\nworkload: pinf\n",
              "c.yaml:2:11: unknown workload 'pinf'; did you mean 'ping'? There is ping, pong, solo, card"},
        Wrong{kHead + kSeries + "axes: {dealy: [1ms]}\n", "c.yaml:5:8: unknown axis 'dealy'; did you mean 'delay'?"},
        Wrong{kHead + kSeries + "axes: {delay: [5]}\n",
              "c.yaml:5:16: axis 'delay': expected a duration such as 5ms, 1.5us or 2s, got '5': the unit is missing"},
        Wrong{kHead + kSeries + "axes: {delay: [0, 5 parsecs]}\n",
              "c.yaml:5:19: axis 'delay': expected a duration such as 5ms, 1.5us or 2s, got '5 parsecs'"},
        Wrong{kHead + kSeries + "axes: {delay: [5MiB]}\n",
              "c.yaml:5:16: axis 'delay': expected a duration such as 5ms, 1.5us or 2s, got '5MiB'"},
        Wrong{kHead + kSeries + "axes: {delay: [-5ms]}\n",
              "c.yaml:5:16: axis 'delay': expected a duration such as 5ms, 1.5us or 2s, got '-5ms': it cannot be "
              "negative"},
        Wrong{kHead + kSeries + "axes: {delay: [1ms, 1000us]}\n",
              "c.yaml:5:21: axis 'delay' has the value 1000us twice"},
        Wrong{kHead + kSeries + "axes: {size: [8MiB]}\n", "c.yaml:5:15: axis 'size': 8MiB is outside 1B to 4MiB"},
        Wrong{kHead + kSeries + "axes: {op: [writ]}\n",
              "c.yaml:5:13: axis 'op': expected one of write, write_imm, send, got 'writ'; did you mean 'write'?"},
        Wrong{kHead + kSeries + "fixed: {delay: 1ms}\naxes: {delay: [2ms]}\n",
              "c.yaml:6:8: axis 'delay' is given twice: line 5 has it already"},
        Wrong{kHead + kSeries + "axes: {provider: [siw]}\n",
              "c.yaml:4:23: axis 'provider' is given twice: line 5 has it already"},
        Wrong{kHead + "series:\n  - {transport: tcp, rival: rxe, op: send}\n",
              "c.yaml:4:34: axis 'op' means nothing over tcp, which has no send and receive"},
        Wrong{kHead + "series:\n  - {transport: tcp, rival: rxe}\n  - {rival: rxe, transport: tcp}\n",
              "c.yaml:5:5: this entry of series is the same as the one in line 4"},
        Wrong{kHead + "axes: {delay: [0]}\n",
              "c.yaml:1:1: a cell without transport; give 'transport: tcp' or 'transport: rdma' or 'transport: ucx' or "
              "'transport: ucx_tcp' in series, axes or "
              "fixed"},
        Wrong{kHead + "series:\n  - {transport: rdma}\n",
              "c.yaml:4:5: transport rdma without provider; name the RDMA driver, such as 'provider: rxe'"},
        Wrong{kHead + "series:\n  - {transport: tcp, provider: rxe}\n",
              "c.yaml:4:5: transport tcp with provider rxe; to run tcp on the network interface of rxe's device say "
              "'rival: rxe'"},
        Wrong{kHead + kSeries + "fixed: {path: lan, delay: 1ms}\n",
              "c.yaml:4:5: an impairment on path lan; only the wan path crosses the router that impairs"},
        Wrong{kHead + kSeries + "fixed: {jitter: 2ms, delay: 1ms}\n",
              "c.yaml:4:5: jitter: 2ms is more than the delay of 1ms: no packet can leave before it came; raise delay "
              "or lower it"},
        Wrong{kHead + kSeries + "repeat: {min: 0}\n", "c.yaml:5:15: repeat.min: 0 is outside 1 to 1000"},
        Wrong{kHead + kSeries + "repeat: {min: 6, max: 5, precision: 5%}\n",
              "c.yaml:5:23: repeat.max: 5 is below repeat.min, 6"},
        Wrong{kHead + kSeries + "repeat: {min: 6, max: 9}\n",
              "c.yaml:5:23: repeat.max: without repeat.precision every cell is run repeat.min times; give a precision "
              "such as 5%"},
        Wrong{kHead + kSeries + "repeat: {min: 3, max: 5, precision: 5%}\n",
              "c.yaml:5:37: repeat.precision: the 95 % interval of a median needs 6 runs, repeat.max is 5"},
        Wrong{kHead + kSeries + "repeat: {max: 9, precision: 0}\n",
              "c.yaml:5:29: repeat.precision: expected a fraction above 0 and up to 100%, such as 5%, got '0'"},
        Wrong{kHead + kSeries + "max_cells: 1000000\n", "c.yaml:5:12: max_cells: 1000000 is outside 1 to 100000"}));

TEST(Campaign, RefusesAMillionCellsBeforeMakingThem) {
  std::string text = kHead + kSeries + "axes:\n";
  for (const auto* axis : {"delay", "jitter"}) {
    text += fmt::format("  {}: [", axis);
    for (int i = 1; i <= 1000; ++i) text += fmt::format("{}{}us", i == 1 ? "" : ", ", i);
    text += "]\n";
  }
  const auto cells = cells_of(text);
  ASSERT_FALSE(cells);
  EXPECT_EQ(cells.error().message,
            "c.yaml: the campaign has 1000000 cells (1 series x 1000 delay x 1000 jitter), the limit is 10000; sweep "
            "less, or raise it with "
            "'max_cells'");
}

TEST(Campaign, CountsWithoutOverflow) {
  Campaign campaign;
  auto& experiment = campaign.experiments.emplace_back();
  experiment.series.resize(3);
  for (int i = 0; i < 8; ++i)
    experiment.axes.push_back({.name = fmt::format("a{}", i), .values = std::vector<Value>(100'000, Value{0})});
  EXPECT_EQ(count_combinations(campaign), std::int64_t{1} << 62);
}

TEST(Campaign, ExpandsTheProductInTheFilesOrder) {
  const auto cells = cells_of(kHead +
                              "series:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: rxe}\n"
                              "axes:\n  delay: [0, 1ms]\n  size: [64B, 16KiB]\n");
  ASSERT_TRUE(cells) << cells.error().message;
  std::vector<std::string> texts;
  for (const auto& cell : *cells) texts.push_back(canonical(cell.cell));
  EXPECT_THAT(texts, ::testing::ElementsAre("ping;provider=rxe;transport=rdma",  // defaults are left out
                                            "ping;provider=rxe;size=16384;transport=rdma",
                                            "ping;delay=1000000;provider=rxe;transport=rdma",
                                            "ping;delay=1000000;provider=rxe;size=16384;transport=rdma",
                                            "ping;rival=rxe;transport=tcp", "ping;rival=rxe;size=16384;transport=tcp",
                                            "ping;delay=1000000;rival=rxe;transport=tcp",
                                            "ping;delay=1000000;rival=rxe;size=16384;transport=tcp"));
  EXPECT_EQ(cells->at(0).group, cells->at(4).group);
  EXPECT_NE(cells->at(0).group, cells->at(2).group);
}

TEST(Campaign, ExperimentsTakeWhatTheyLeaveOutFromTheTop) {
  const auto campaign = testing::read(
      "name: n\nseries:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: rxe}\n"
      "fixed: {duration: 2s}\nexperiments:\n"
      "  - {workload: ping, axes: {delay: [0, 1ms]}}\n"
      "  - {workload: pong, axes: {size: [1KiB]}}\n"
      "  - {workload: ping, axes: {delay: [1ms]}, series: [{transport: rdma, provider: siw}], fixed: {size: 64B}}\n"
      "  - {workload: ping, axes: {delay: [0]}}\n");
  ASSERT_TRUE(campaign) << campaign.error().message;
  const auto cells = expand(*campaign);
  ASSERT_TRUE(cells) << cells.error().message;
  std::vector<std::string> texts;
  for (const auto& cell : *cells) texts.push_back(canonical(cell.cell));
  EXPECT_THAT(texts, ::testing::ElementsAre("ping;duration=2000000000;provider=rxe;transport=rdma",
                                            "ping;delay=1000000;duration=2000000000;provider=rxe;transport=rdma",
                                            "ping;duration=2000000000;rival=rxe;transport=tcp",
                                            "ping;delay=1000000;duration=2000000000;rival=rxe;transport=tcp",
                                            "pong;duration=2000000000;provider=rxe;size=1024;transport=rdma",
                                            "pong;duration=2000000000;rival=rxe;size=1024;transport=tcp",
                                            "ping;delay=1000000;provider=siw;transport=rdma"));
  EXPECT_EQ(cells->at(0).group, cells->at(4).group);  // an impairment is put in place for all experiments at once
  EXPECT_EQ(workload_of(*campaign, cells->at(4)).name, "pong");
  EXPECT_EQ(describe(*campaign, cells->at(1)), "ping rdma rxe delay 1ms");
  EXPECT_EQ(describe(*campaign, cells->at(5)), "pong tcp beside rxe size 1KiB");
}

TEST(Campaign, WhatRunsAloneHasItsOwnAxesAndABlockOfItsOwn) {
  const auto campaign = testing::read(
      "name: n\nexperiments:\n"
      "  - {workload: solo, axes: {policy: [lru, mrrc], capacity: [4KiB, 1MiB]}}\n"
      "  - {workload: card, series: [{transport: rdma, provider: rxe}]}\n"
      "  - {workload: solo, series: [{policy: sieve}]}\n"
      "  - {workload: ping, series: [{transport: rdma, provider: rxe}]}\n");
  ASSERT_TRUE(campaign) << campaign.error().message;
  const auto cells = expand(*campaign);
  ASSERT_TRUE(cells) << cells.error().message;
  std::vector<std::string> texts;
  for (const auto& cell : *cells) texts.push_back(canonical(cell.cell));
  EXPECT_THAT(texts, ::testing::ElementsAre("solo", "solo;capacity=1048576", "solo;policy=mrrc",
                                            "solo;capacity=1048576;policy=mrrc", "card;provider=rxe;transport=rdma",
                                            "solo;policy=sieve", "ping;provider=rxe;transport=rdma"));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(cells->at(i).local);
    EXPECT_EQ(cells->at(i).group, cells->front().group);
    EXPECT_EQ(cells->at(i).unsupported, "");
  }
  EXPECT_FALSE(cells->at(6).local);
  EXPECT_NE(cells->at(6).group, cells->front().group);
  EXPECT_EQ(describe(*campaign, cells->at(3)), "solo policy mrrc capacity 1MiB");
}

TEST(Campaign, LeavesOutWhatATransportDoesNotHaveAndMergesWhatIsEqualThen) {
  const auto cells = cells_of(kHead +
                              "series:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: rxe}\n"
                              "axes: {op: [write, send]}\n");
  ASSERT_TRUE(cells) << cells.error().message;
  ASSERT_EQ(cells->size(), 3U);
  EXPECT_EQ(canonical(cells->at(2).cell), "ping;rival=rxe;transport=tcp");
}

TEST(Campaign, AProfileStandsForItsValues) {
  const auto cells = cells_of(kHead + kSeries + "axes: {profile: [none, trans-atlantic, leo]}\n");
  ASSERT_TRUE(cells) << cells.error().message;
  std::vector<std::string> texts;
  for (const auto& cell : *cells) texts.push_back(canonical(cell.cell));
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "ping;provider=rxe;transport=rdma", "ping;delay=39000000;provider=rxe;transport=rdma",
                       "ping;delay=25000000;provider=rxe;rate=13540000;rate_back=87250000;transport=rdma"}));
  const auto other = cells_of(kHead + kSeries + "axes: {profile: [leo], delay: [5ms]}\n");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("delay: 5ms beside profile leo, which has 25ms: leave out either"));
}

TEST(Campaign, EqualImpairmentsAreOneCellHoweverTheyAreSpelt) {
  const auto one = cells_of(kHead + kSeries + "fixed: {delay: 5ms, delay_back: 5000us}\n");
  const auto other = cells_of(kHead + kSeries + "fixed: {delay: 5ms}\n");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->front().id, other->front().id);
  const auto asymmetric = cells_of(kHead + kSeries + "fixed: {delay: 5ms, delay_back: 0}\n");
  ASSERT_TRUE(asymmetric);
  EXPECT_NE(asymmetric->front().id, other->front().id);
}

// Results of years live on it: if this fails, the code is wrong, not the test.
TEST(Campaign, IdentityNeverChanges) {
  const auto cells = cells_of(kHead + kSeries + "fixed: {delay: 5ms, size: 16KiB, op: write}\n");
  ASSERT_TRUE(cells);
  EXPECT_EQ(canonical(cells->front().cell), "ping;delay=5000000;provider=rxe;size=16384;transport=rdma");
  EXPECT_EQ(cells->front().id, "1ef26c591e40a999");
}

TEST(Campaign, KnowsWhatAProviderCannotDo) {
  const auto cells = cells_of(kHead +
                              "series:\n  - {transport: rdma, provider: siw}\n  - {transport: rdma, provider: rxe}\n"
                              "fixed: {op: write_imm}\n");
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->at(0).unsupported, "rdma over siw has no write with immediate");
  EXPECT_EQ(cells->at(1).unsupported, "");
}

TEST(Campaign, KnowsWhatAnEngineCannotDo) {
  const auto cells = cells_of(kHead +
                              "series: [{transport: tcp, rival: rxe}]\naxes: {engine: [netem, nfqueue, auto]}\n"
                              "fixed: {delay: 5ms, duplicate: 1%}\n");
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->at(0).unsupported, "");
  EXPECT_EQ(cells->at(2).unsupported, "");  // degen takes edt
  EXPECT_EQ(cells->at(1).unsupported,
            "duplicate: engine nfqueue decides on packets, it cannot make any; use engine edt or netem");
}

TEST(Campaign, KnowsWhoseWindowsMeetASchedule) {
  const auto changes = [](const std::string& rest) {
    const auto campaign = testing::read(kHead + "series: [{transport: tcp, rival: rxe}]\n" + rest);
    EXPECT_TRUE(campaign) << campaign.error().message;
    std::vector<bool> all;
    const auto cells = expand(*campaign);
    for (const auto& cell : *cells) all.push_back(changes_with_time(*campaign, cell));
    return all;
  };
  EXPECT_EQ(changes("axes: {schedule: [none, 2s delay 5ms]}\n"), (std::vector{true, true}))
      << "also the one that it is compared with";
  EXPECT_EQ(changes("axes: {delay: [5ms]}\nfixed: {schedule_back: 2s delay 5ms}\n"), std::vector{true});
  EXPECT_EQ(changes("axes: {delay: [0, 5ms]}\n"), (std::vector{false, false}));
}

TEST(Campaign, DescribesACellByWhatItIsNotFixed) {
  const auto campaign = testing::read(kHead +
                                      "series:\n  - {transport: tcp, rival: rxe}\n"
                                      "axes: {delay: [5ms], size: [16KiB]}\nfixed: {duration: 2s}\n");
  ASSERT_TRUE(campaign);
  const auto cells = expand(*campaign);
  ASSERT_TRUE(cells);
  EXPECT_EQ(describe(*campaign, cells->front()), "tcp beside rxe delay 5ms size 16KiB");
  EXPECT_EQ(workload_parameters(*campaign, cells->front()), (Parameters{{"size", 16384}, {"duration", 2'000'000'000}}));
}

TEST(Clock, IsNoCampaignsToName) {
  const std::string remedy =
      "axis 'clock' is no campaign's: the clock belongs to the testbed; leave it out here and use longhaul run --lab "
      "--clock virtual";
  const std::pair<std::string, std::string> cases[] = {
      {kHead + kSeries + "axes: {clock: [virtual]}\n", "c.yaml:5:8: "},
      {kHead + kSeries + "fixed: {clock: host}\n", "c.yaml:5:9: "},
      {kHead + "series:\n  - {transport: rdma, provider: rxe, clock: virtual}\n", "c.yaml:4:38: "},
      {"name: n\nworkload: solo\nfixed: {clock: virtual}\n", "c.yaml:3:9: "}};
  for (const auto& [text, where] : cases) {
    const auto campaign = testing::read(text);
    ASSERT_FALSE(campaign) << text;
    EXPECT_EQ(campaign.error().message, where + remedy);
  }
  // Nor is it offered.
  EXPECT_THAT(testing::read(kHead + kSeries + "axes: {clok: [1]}\n").error().message,
              ::testing::Not(HasSubstr("'clock'")));
}

TEST(Clock, IsSetForAllCellsOfATestbed) {
  const auto campaign = testing::read(
      "name: n\nexperiments:\n  - workload: ping\n    series: [{transport: tcp, rival: rxe}]\n    axes: {delay: [0, "
      "5ms]}\n  - workload: solo\n");
  ASSERT_TRUE(campaign) << campaign.error().message;
  const auto host = *expand(*campaign);
  auto cells = host;
  set_clock(cells, "host");
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(cells[i].id, host[i].id);
  set_clock(cells, "virtual");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].cell.parameters.at("clock"), Value{"virtual"});
    EXPECT_EQ(cells[i].id, cell_id(cells[i].cell));
    EXPECT_NE(cells[i].id, host[i].id);
    EXPECT_EQ(cells[i].group, host[i].group);
    EXPECT_EQ(describe(*campaign, cells[i]), describe(*campaign, host[i]));
    EXPECT_EQ(workload_parameters(*campaign, cells[i]), workload_parameters(*campaign, host[i]));
  }
  set_clock(cells, "host");
  for (std::size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(cells[i].id, host[i].id);
  EXPECT_THROW(set_clock(cells, "vitrual"), std::invalid_argument);
}

TEST(Campaign, RepeatHasItsDefaults) {
  const auto plain = testing::read(kHead + kSeries);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->repeat.min, 6);
  EXPECT_EQ(plain->repeat.max, 6);
  EXPECT_FALSE(plain->repeat.precision);
  const auto adaptive = testing::read(kHead + kSeries + "repeat: {max: 12, precision: 5%}\n");
  ASSERT_TRUE(adaptive);
  EXPECT_EQ(adaptive->repeat.max, 12);
  EXPECT_DOUBLE_EQ(adaptive->repeat.precision.value_or(0), 0.05);
}

// A file of campaigns/ with the real catalog.
Result<Campaign> ready(const std::string& name) {
  std::ifstream in{std::string{LONGHAUL_SOURCE_DIR} + "/campaigns/" + name};
  std::stringstream text;
  text << in.rdbuf();
  auto file = parse_campaign(name, text.str());
  if (!file) return tl::unexpected(file.error());
  return understand(
      std::move(*file),
      {.common = common_axes(), .impairment = degen::impairment_axes(), .workloads = workloads::catalog()});
}

// One name would set both: the link's rate, and the pace of those who send.
TEST(RealCatalog, NoWorkloadHasAParameterOfThePathsName) {
  auto paths = common_axes();
  const auto& impairment = degen::impairment_axes();
  paths.insert(paths.end(), impairment.begin(), impairment.end());
  for (const auto& workload : some(workloads::catalog()))
    for (const auto& parameter : some(workload.parameters))
      EXPECT_EQ(find_parameter(paths, parameter.name), nullptr) << workload.name << ": " << parameter.name;
}

TEST(ReadyCampaigns, AllAreUnderstoodAndCanBeDone) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator{std::string{LONGHAUL_SOURCE_DIR} + "/campaigns"}) {
    ++seen;
    const auto campaign = ready(entry.path().filename());
    ASSERT_TRUE(campaign) << campaign.error().message;
    const auto cells = expand(*campaign);
    ASSERT_TRUE(cells) << cells.error().message;
    EXPECT_GE(campaign->repeat.min, 6) << entry.path();  // else no interval
    for (const auto& cell : some(*cells))
      EXPECT_EQ(cell.unsupported, "") << entry.path() << " " << describe(*campaign, cell);
  }
  EXPECT_GT(seen, 5) << "campaigns/ holds more than that";
}

TEST(QuickCampaign, Has32CellsWithTheRealCatalog) {
  const auto campaign = ready("quick.yaml");
  ASSERT_TRUE(campaign) << campaign.error().message;
  const auto cells = expand(*campaign);
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->size(), 32U);
  std::set<std::string> groups;
  for (const auto& cell : *cells) groups.insert(cell.group);
  EXPECT_EQ(groups.size(), 4U);
  EXPECT_EQ(campaign->repeat.min, 6);
}

}  // namespace
}  // namespace longhaul::orchestrator
