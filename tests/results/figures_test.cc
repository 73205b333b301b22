// A paper's figures from cells: which places are drawn, in which panel and line.
#include "results/analyses/figures.hh"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "orchestrator/campaign/cells.hh"
#include "tests/results/made_up.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr double kMega = 1e6;

class Figures : public MadeUpCells {
 protected:
  void call(const char* procedure, Parameters more, const char* transport = "rdma") {
    more["procedure"] = std::string{procedure};
    more.try_emplace("size", 32768);
    add("rpc", std::move(more), {{"operation", 10 * kMega}, {"throughput", 100 * kMega}}, transport);
  }
  auto all() { return figures(nfs_figures(), summary_, vocabulary_); }
  Figure figure(const std::string& name) {
    for (auto& one : all())
      if (one.spec->name == name) return one;
    ADD_FAILURE() << name;
    return {};
  }
};

std::vector<std::int64_t> places(const FigureLine& line) {
  std::vector<std::int64_t> all;
  for (const auto& point : line.points) all.push_back(point.x);
  return all;
}

const Parameters kReadRead{{"design", std::string{"read-read"}}};

Parameters with(Parameters parameters, const char* name, Value value) {
  parameters[name] = std::move(value);
  return parameters;
}

TEST_F(Figures, HasAPanelForEachDelayAndALineForEachDesign) {
  for (const std::int64_t delay : {0, 5'000'000}) {
    for (const std::int64_t threads : {8, 1}) {
      const Parameters here{{"threads", threads}, {"delay", delay}};
      call("read", here);
      call("read", with(here, "design", "read-read"));
      call("read", here, "tcp");
    }
  }
  call("read", {{"threads", 2}, {"delay", 5'000'000}});         // nothing to compare with
  call("read", {{"threads", 2}, {"delay", 5'000'000}}, "tcp");  // nor here
  const auto drawn = figure("Figure 7");
  ASSERT_THAT(drawn.panels, ElementsAre(Field(&FigurePanel::name, "no delay, size 32KiB"),
                                        Field(&FigurePanel::name, "5ms each way, size 32KiB")));
  const auto& lines = drawn.panels[1].lines;
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines, ElementsAre(Field(&FigureLine::way, "read-read"), Field(&FigureLine::way, "read-write"),
                                 Field(&FigureLine::way, "sockets")));
  EXPECT_TRUE(lines[2].sockets);
  EXPECT_EQ(lines[2].link, "rxe");
  for (const auto& line : lines) EXPECT_THAT(places(line), ElementsAre(1, 8)) << line.way;
}

TEST_F(Figures, AreLeftOutWithASentenceWhereTheCampaignLacksTheirCells) {
  EXPECT_THAT(all(), IsEmpty()) << "no figure at all, no sentences";
  call("read", {});
  EXPECT_THAT(all(), IsEmpty());
  call("read", kReadRead);
  EXPECT_THAT(figure("Figure 7").panels, SizeIs(1));
  EXPECT_EQ(figure("Figure 7").left_out, "");
  EXPECT_THAT(figure("Figure 12").panels, IsEmpty());
  EXPECT_EQ(figure("Figure 12").left_out,
            "Figure 12: the campaign has fewer than two points for it (workload rpc, procedure oltp, along threads, by "
            "server_buffers)");
}

TEST_F(Figures, APanelHoldsEverythingElseAndTakesTheConditionsWithTheMostPoints) {
  for (const std::int64_t threads : {1, 8})
    for (const auto* design : {"read-write", "read-read"})
      call("write", {{"threads", threads}, {"design", std::string{design}}, {"duration", 100'000'000}});
  call("write", {{"size", 131072}});
  call("write", with(kReadRead, "size", 131072));
  call("write", with(kReadRead, "deferred", 8));
  ASSERT_THAT(figure("Figure 8").panels, ElementsAre(Field(&FigurePanel::name, "no delay, size 32KiB")));
  EXPECT_THAT(figure("Figure 8").panels[0].lines, SizeIs(2));
  summary_.cells.erase(summary_.cells.begin(), summary_.cells.begin() + 4);
  ASSERT_THAT(figure("Figure 8").panels, ElementsAre(Field(&FigurePanel::name, "no delay, size 128KiB")));
}

TEST_F(Figures, WaysOfTwoAxesTellTheSecondWhereItIsNotAsByDefault) {
  for (const std::int64_t size : {8192, 524288}) {
    call("read", {{"size", size}, {"strategy", std::string{"each-time"}}});
    call("read", {{"size", size}, {"copy", std::string{"client"}}});
  }
  const auto drawn = figure("Figure 11");
  ASSERT_THAT(drawn.panels, ElementsAre(Field(&FigurePanel::name, "no delay")));
  EXPECT_THAT(drawn.panels[0].lines,
              ElementsAre(Field(&FigureLine::way, "each-time"), Field(&FigureLine::way, "preregistered, copy client")));
  EXPECT_THAT(places(drawn.panels[0].lines[1]), ElementsAre(8192, 524288));
}

TEST_F(Figures, ClientsHaveAPanelForEachCacheOfTheServer) {
  for (const std::int64_t clients : {1, 4}) {
    call("read", {{"clients", clients}});
    call("read", {{"clients", clients}}, "tcp");
    for (const std::int64_t cache : {524288, 917504})
      call("read", {{"clients", clients}, {"store", std::string{"modelled"}}, {"cache", cache}});
  }
  call("read", {{"delay", 5'000'000}});  // one client alone is no course
  const auto drawn = figure("Figures 15 and 16");
  ASSERT_THAT(drawn.panels,
              ElementsAre(Field(&FigurePanel::name, "no delay, size 32KiB"),
                          Field(&FigurePanel::name, "no delay, store modelled, cache 512KiB, size 32KiB"),
                          Field(&FigurePanel::name, "no delay, store modelled, cache 896KiB, size 32KiB")));
  EXPECT_THAT(drawn.panels[0].lines, SizeIs(2));
  EXPECT_THAT(drawn.panels[1].lines, ElementsAre(Field(&FigureLine::way, "")));
}

TEST_F(Figures, CellsWithoutAResultAreNotDrawn) {
  call("read", {});
  call("read", kReadRead);
  summary_.cells.front().usable = 0;
  EXPECT_THAT(all(), IsEmpty());
}

// Each figure without delay and over one, each line with two places at least.
TEST_F(Figures, TheCampaignHasTheCellsOfEachOne) {
  const std::string name = "nfs-rdma-2007.yaml";
  std::stringstream text;
  text << std::ifstream{std::string{LONGHAUL_SOURCE_DIR} + "/campaigns/" + name}.rdbuf();
  auto file = orchestrator::parse_campaign(name, text.str());
  ASSERT_TRUE(file) << file.error().message;
  const auto campaign = orchestrator::understand(
      std::move(*file),
      {.common = common_axes(), .impairment = degen::impairment_axes(), .workloads = workloads::catalog()});
  ASSERT_TRUE(campaign) << campaign.error().message;
  const auto cells = orchestrator::expand(*campaign);
  ASSERT_TRUE(cells) << cells.error().message;
  for (const auto& one : *cells) {
    auto parameters = one.cell.parameters;
    const auto transport = choice_of(parameters, "transport");
    auto& cell = add(one.cell.workload, parameters, {{"operation", 1}, {"throughput", 1}}, transport);
    cell.parameters = parameters;
    cell.provider = choice_of(parameters, "provider");
    cell.rival = choice_of(parameters, "rival");
  }
  const auto drawn = all();
  ASSERT_THAT(drawn, SizeIs(nfs_figures().size()));
  for (const auto& one : drawn) {
    ASSERT_THAT(one.panels, SizeIs(testing::Ge(2U))) << one.spec->name;
    for (const auto* delay : {"no delay", "5ms each way"}) {
      const auto panel = std::find_if(one.panels.begin(), one.panels.end(),
                                      [&](const auto& it) { return it.name.starts_with(delay); });
      ASSERT_NE(panel, one.panels.end()) << one.spec->name << " " << delay;
      EXPECT_THAT(panel->lines, Not(IsEmpty()));
      for (const auto& line : panel->lines)
        EXPECT_THAT(line.points, SizeIs(testing::Ge(2U)))
            << one.spec->name << ", " << panel->name << ": " << line.link << " " << line.way;
    }
  }
}

}  // namespace
}  // namespace longhaul::results
