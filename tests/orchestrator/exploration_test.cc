#include "orchestrator/campaign/exploration.hh"

#include <gmock/gmock.h>

#include <set>

#include "tests/orchestrator/fixture.hh"
#include "tests/some.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCampaign = R"(name: few
workload: ping
series: [{transport: rdma, provider: rxe}]
axes: {size: [64B, 4KiB]}
fixed: {delay: 5ms, loss: 0.1%, duration: 20ms}
)";

struct Made {
  Campaign campaign;
  std::vector<CampaignCell> cells;
};

Made made(const std::string& text) {
  auto campaign = testing::read(text);
  EXPECT_TRUE(campaign) << campaign.error().message;
  auto cells = expand(*campaign);
  EXPECT_TRUE(cells) << cells.error().message;
  return {std::move(*campaign), std::move(*cells)};
}

// The faults of the cells of a text, each as "forward | back".
std::multiset<std::string> faults_of(const std::string& text, std::int64_t size = 64,
                                     const std::string& engine = "nfqueue") {
  const auto all = made(text);
  std::multiset<std::string> faults;
  for (const auto& cell : all.cells) {
    const auto& parameters = cell.cell.parameters;
    EXPECT_EQ(choice_of(parameters, "engine"), engine);
    EXPECT_EQ(integer_of(parameters, "delay"), 5'000'000);
    EXPECT_EQ(integer_of(parameters, "loss"), 1000);
    EXPECT_EQ(cell.unsupported, "");
    if (integer_of(parameters, "size", 64) != size) continue;
    const auto forward = choice_of(parameters, "faults", "none");
    faults.insert(forward + " | " + choice_of(parameters, "faults_back", forward));
  }
  return faults;
}

TEST(Exploration, CountsEachCellAsItIs) {
  const auto few = made(kCampaign);
  const auto text = counting_text(few.campaign, few.cells, {});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(made(*text).cells.size(), 2u);
  EXPECT_EQ(faults_of(*text), (std::multiset<std::string>{"count | count"}));
  EXPECT_EQ(faults_of(*text, 4096), (std::multiset<std::string>{"count | count"}));
}

TEST(Exploration, HitsEachPacketOfEachWayInTurn) {
  const auto few = made(kCampaign);
  const auto text =
      exploration_text(few.campaign, few.cells, {{.forward = 3, .back = 2}, {.forward = 1, .back = 0}}, {});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(faults_of(*text), (std::multiset<std::string>{"count | count", "drop 1 | count", "drop 2 | count",
                                                          "drop 3 | count", "count | drop 1", "count | drop 2"}));
  EXPECT_EQ(faults_of(*text, 4096), (std::multiset<std::string>{"count | count", "drop 1 | count"}));
  EXPECT_EQ(made(*text).campaign.repeat.max, 1);
}

TEST(Exploration, TakesOtherFaultsAndOnlyTheFirstPackets) {
  const auto few = made(kCampaign);
  const auto text = exploration_text(few.campaign, few.cells, {{.forward = 30, .back = 20}, {}},
                                     {.fault = "delay by 3ms", .most = 1});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(faults_of(*text),
            (std::multiset<std::string>{"count | count", "delay 1 by 3ms | count", "count | delay 1 by 3ms"}));
}

// Only one engine makes packets.
TEST(Exploration, TakesTheEngineThatCan) {
  const auto few = made(kCampaign);
  const ExplorationRule rule{.fault = "duplicate", .most = 1};
  const auto counting = counting_text(few.campaign, few.cells, rule);
  EXPECT_EQ(faults_of(*counting, 64, "edt"), (std::multiset<std::string>{"count | count"}));
  const auto text = exploration_text(few.campaign, few.cells, {{.forward = 2, .back = 1}, {}}, rule);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(faults_of(*text, 64, "edt"),
            (std::multiset<std::string>{"count | count", "duplicate 1 | count", "count | duplicate 1"}));
}

TEST(Exploration, DrawsPairsBySeedEachOnce) {
  const auto few = made(kCampaign);
  const auto with = [&](std::size_t pairs, std::uint64_t seed) {
    const auto text =
        exploration_text(few.campaign, few.cells, {{.forward = 3, .back = 3}, {}}, {.pairs = pairs, .seed = seed});
    EXPECT_TRUE(text) << text.error().message;
    return *text;
  };
  EXPECT_EQ(faults_of(with(4, 1)).size(), 1u + 6 + 4);
  EXPECT_EQ(with(4, 1), with(4, 1));
  EXPECT_NE(with(4, 1), with(4, 2));
  // All there are, and no more.
  const auto all = faults_of(with(100, 1));
  EXPECT_EQ(all.size(), 1u + 6 + 15);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(all.count("drop 1, drop 3 | count"), 1u);
  EXPECT_EQ(all.count("drop 2 | drop 2"), 1u);
}

TEST(Exploration, RefusesWhatCannotBeHit) {
  const auto alone = made("name: a\nworkload: solo\naxes: {capacity: [4KiB]}\n");
  EXPECT_THAT(counting_text(alone.campaign, alone.cells, {}).error().message, HasSubstr("crosses no emulated WAN"));
  const auto lan = made(
      "name: a\nworkload: ping\nseries: [{transport: rdma, provider: rxe}]\naxes: {size: [64B]}\n"
      "fixed: {path: lan}\n");
  EXPECT_THAT(counting_text(lan.campaign, lan.cells, {}).error().message, HasSubstr("crosses no emulated WAN"));
  const auto faulty = made(
      "name: a\nworkload: ping\nseries: [{transport: rdma, provider: rxe}]\naxes: {size: [64B]}\n"
      "fixed: {faults: drop 3, engine: nfqueue}\n");
  EXPECT_THAT(counting_text(faulty.campaign, faulty.cells, {}).error().message, HasSubstr("has faults of its own"));
  for (const std::string fault : {"lose", "delay", "drop 3", "delay by 3"}) {
    const auto text = exploration_text({}, {}, {}, {.fault = fault});
    ASSERT_FALSE(text) << fault;
    EXPECT_THAT(text.error().message, HasSubstr("--fault '" + fault + "'"));
  }
}

// The default engine cannot: a campaign says which one.
TEST(Exploration, FaultsOnTheDefaultEngineAreUnsupported) {
  const auto faulty = made(
      "name: a\nworkload: ping\nseries: [{transport: rdma, provider: rxe}]\naxes: {size: [64B]}\n"
      "fixed: {faults: drop 3}\n");
  ASSERT_EQ(faulty.cells.size(), 1u);
  EXPECT_THAT(faulty.cells[0].unsupported, HasSubstr("use engine edt or nfqueue"));
}

}  // namespace
}  // namespace longhaul::orchestrator
