// The report page in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <map>
#include <sstream>

#include "degen/impairment/spec.hh"
#include "model/cell.hh"
#include "results/report/report.hh"
#include "results/simulation/page.hh"
#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSimulation = R"({"schema":1,"version":"0","profiles":[
  {"name":"wu2003","registering":{"per_page":0.77,"per_call":7.42},"deregistering":{"per_page":0.22,"per_call":1.1}}],
 "policies":[{"name":"lru","help":"oldest first"},{"name":"mrrc","help":"</script>"}],
 "traces":[{"name":"web <1>","requests":1000,"pages":5000,"skipped":2,"sizes":[100,200,700],"bounded":true,"rows":[
  {"policy":"lru","bound":false,"capacity_bytes":4194304,"cost_profile":"wu2003","hit_ratio":0.5,"cost_us":900.0,"cost_saved":0.4},
  {"policy":"lru","bound":false,"capacity_bytes":8388608,"cost_profile":"wu2003","hit_ratio":0.6,"cost_us":700.0,"cost_saved":0.5},
  {"policy":"mrrc","bound":false,"capacity_bytes":4194304,"cost_profile":"wu2003","hit_ratio":0.6,"cost_us":800.0,"cost_saved":0.5},
  {"policy":"mrrc","bound":false,"capacity_bytes":8388608,"cost_profile":"wu2003","hit_ratio":0.7,"cost_us":600.0,"cost_saved":0.6},
  {"policy":"pfoo-l","bound":true,"capacity_bytes":4194304,"cost_profile":"wu2003","hit_ratio":0.8,"cost_us":500.0,"cost_saved":0.7},
  {"policy":"pfoo-l","bound":true,"capacity_bytes":8388608,"cost_profile":"wu2003","hit_ratio":0.9,"cost_us":400.0,"cost_saved":0.8}]}]})";

std::string slurp(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// READs of RPC by both designs over rxe and sockets beside it, by 1 and 8 threads, without delay and at 5 ms, 6 runs
// each.
synthetic::Campaign calls() {
  constexpr std::int64_t kMillisecond = 1'000'000;
  auto result = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
  result.runs.clear();
  auto& manifest = result.manifest;
  manifest.cells.clear();
  manifest.name = "calls";
  manifest.campaign_text = "name: calls\nworkload: rpc\n";
  for (const std::string way : {"read-write", "read-read", "sockets"}) {
    const bool sockets = way == "sockets";
    for (const std::int64_t delay : {std::int64_t{0}, 5 * kMillisecond}) {
      for (const std::int64_t threads : {1, 8}) {
        Parameters parameters{{"transport", Value{sockets ? "tcp" : "rdma"}},
                              {sockets ? "rival" : "provider", Value{"rxe"}},
                              {"size", Value{32768}}};
        if (way == "read-read") parameters["design"] = Value{way};
        if (delay > 0) parameters["delay"] = Value{delay};
        if (threads > 1) parameters["threads"] = Value{threads};
        const double trips = static_cast<double>((way == "read-read" ? 4 : 2) * delay + kMillisecond);
        const double bits = 8 * 32768 * static_cast<double>(threads);
        synthetic::add_cell(result, "rpc", parameters, Role::client, [&](int repetition) -> synthetic::Measured {
          const double time = trips + 1000 * repetition;
          return {{"operation", {.value = time, .samples = 50}},
                  {"throughput", {.value = 1e9 * bits / time, .samples = 50}}};
        });
      }
    }
  }
  return result;
}

// What the page became, and what its console got (which Chromium passes on to standard error).
struct Browsed {
  std::string dom;
  std::string console;
};

Browsed browse(const fs::path& page, const fs::path& scratch) {
  const auto dom = scratch / "dom.html", log = scratch / "console.txt";
  const auto command = fmt::format(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --log-level=0 "
      "--user-data-dir='{}' "
      "--window-size=1280,1000 --dump-dom 'file://{}' > '{}' 2> '{}'",
      (scratch / "profile").string(), page.string(), dom.string(), log.string());
  if (std::system(command.c_str()) != 0) return {};
  Browsed browsed{.dom = slurp(dom), .console = {}};
  std::istringstream lines{slurp(log)};
  for (std::string line; std::getline(lines, line);)
    if (line.find("CONSOLE") != std::string::npos) browsed.console += line + "\n";
  return browsed;
}

class PageInBrowser : public testing::Test {
 protected:
  // A browser takes seconds to start: all pages are opened side by side, once.
  static void SetUpTestSuite() {
    if (std::system("command -v chromium > /dev/null 2>&1") != 0) return;
    auto nothing = synthetic::campaign({.delays_ns = {0}, .sizes = {64}});
    nothing.runs.clear();
    const std::pair<const char*, synthetic::Campaign> campaigns[] = {
        {"whole", synthetic::campaign()},
        {"awkward", synthetic::awkward()},
        {"nothing", nothing},
        {"virtual", synthetic::campaign({.virtual_clock = true})},
        {"alone", synthetic::alone()},
        {"transfers", synthetic::transfers()},
        {"calls", calls()}};
    std::map<std::string, std::future<Browsed>> opening;
    for (const auto& [name, campaign] : campaigns)
      opening[name] = std::async(std::launch::async,
                                 [campaign = campaign, name = std::string{name}] { return open(campaign, name); });
    opening["simulation"] = std::async(std::launch::async, open_simulation);
    for (auto& [name, result] : opening) pages()[name] = result.get();
  }
  void SetUp() override {
    if (pages().empty()) GTEST_SKIP() << "chromium is not installed (scripts/bootstrap installs it)";
  }
  static std::map<std::string, Browsed>& pages() {
    static std::map<std::string, Browsed> all;
    return all;
  }

 private:
  static Browsed open(const synthetic::Campaign& campaign, const std::string& name) {
    const TemporaryDirectory scratch;
    const auto directory = scratch.path() / name;
    EXPECT_TRUE(synthetic::write(campaign, directory));
    const Vocabulary catalog{.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
    const auto words = name == "calls" ? catalog : synthetic::vocabulary();
    const auto written = write_report(directory, *analyse_directory(directory.string(), words));
    EXPECT_TRUE(written && written->files.size() == 3);
    return browse(directory / "report.html", scratch.path());
  }
  static Browsed open_simulation() {
    const TemporaryDirectory scratch;
    std::ofstream{scratch.path() / "simulate.json"} << kSimulation;
    EXPECT_TRUE(write_simulation_page(scratch.path()));
    return browse(scratch.path() / "simulate.html", scratch.path());
  }
};

TEST_F(PageInBrowser, DrawsASimulation) {
  const auto& browsed = pages().at("simulation");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("On web &lt;1&gt; (1\u2009000 requests), at the costs of wu2003: mrrc saves most "
                                     "over all capacities, 50.0 % of the cost at 4 MiB where plain LRU saves 40.0 %"));
  EXPECT_THAT(browsed.dom, HasSubstr("Cost, as a multiple of mrrc at 8 MiB"));
  EXPECT_THAT(browsed.dom, HasSubstr("pages of 4 KiB, rounded down to a power of two"));
  EXPECT_THAT(browsed.dom, HasSubstr("no policy does better than pfoo-l"));
}

TEST(SimulationPage, RefusesWhatIsNone) {
  const TemporaryDirectory scratch;
  EXPECT_THAT(write_simulation_page(scratch.path()).error().message, HasSubstr("simulate.json: cannot be read"));
  EXPECT_THAT(simulation_page("{").error().message, HasSubstr("not JSON"));
  EXPECT_THAT(simulation_page("[]").error().message, HasSubstr("not what `longhaul simulate` writes"));
  EXPECT_THAT(simulation_page(R"({"schema":9,"traces":[1],"profiles":[1],"policies":[1]})").error().message,
              HasSubstr("another version"));
}

TEST_F(PageInBrowser, DrawsEverythingWithoutAComplaint) {
  const auto& browsed = pages().at("whole");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("data-rendered=\"latency ratio size distribution cpu-near cpu-far\""));
  EXPECT_THAT(browsed.dom, HasSubstr("one-way delay asked [ms]"));
  EXPECT_THAT(browsed.dom, HasSubstr("latency: sockets / RDMA"));
  EXPECT_THAT(browsed.dom, HasSubstr("Latency over delay and size"));
  EXPECT_THAT(browsed.dom, HasSubstr("emulated processors: absolute times describe the lab, not a network"));
  EXPECT_THAT(browsed.dom, HasSubstr("software RDMA: rxe, siw"));
}

TEST_F(PageInBrowser, CopesWithAwkwardCampaigns) {
  const auto& browsed = pages().at("awkward");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("achieved 5.9 ms, asked"));
  EXPECT_THAT(browsed.dom, HasSubstr("window: 128 packets a round trip"));
  EXPECT_THAT(browsed.dom, HasSubstr("data-rendered="));
}

TEST_F(PageInBrowser, DrawsWhatRunsAloneAlongItsOwnAxis) {
  const auto& browsed = pages().at("alone");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("data-rendered=\"latency\""));
  EXPECT_THAT(browsed.dom, HasSubstr("Hit ratio against capacity"));
  EXPECT_THAT(browsed.dom, HasSubstr("policy mrrc"));
  EXPECT_THAT(browsed.dom, HasSubstr("4 MiB"));
  EXPECT_THAT(browsed.dom, HasSubstr("capacity 1 MiB, objects 500"));
  EXPECT_THAT(browsed.dom, HasSubstr("nothing: no cell crosses one"));
  EXPECT_THAT(browsed.dom, HasSubstr("This campaign needed no testbed."));
}

TEST_F(PageInBrowser, DrawsTransfers) {
  const auto& browsed = pages().at("transfers");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("time line of a transfer's phases"));
  EXPECT_THAT(browsed.dom, HasSubstr("the client registers: 0 – 400 µs"));
  EXPECT_THAT(browsed.dom, HasSubstr("critical path saved"));
  EXPECT_THAT(browsed.dom, HasSubstr("Which to take: the least time until the data is there"));
  EXPECT_THAT(browsed.dom, HasSubstr("<b>sockets</b>"));
  EXPECT_THAT(browsed.dom, HasSubstr("6 of 6 cells are within 10 % of what is predicted by each cell’s own"));
}

TEST_F(PageInBrowser, DrawsAPapersFiguresForEachDelay) {
  const auto& browsed = pages().at("calls");
  EXPECT_EQ(browsed.console, "");
  const auto visible = browsed.dom.substr(0, browsed.dom.find("<script"));
  EXPECT_THAT(visible, HasSubstr("<h3>Figure 7: IOzone Read Bandwidth on Solaris"));
  EXPECT_THAT(visible, HasSubstr("<figcaption>no delay, size 32KiB</figcaption>"));
  EXPECT_THAT(visible, HasSubstr("<figcaption>5ms each way, size 32KiB</figcaption>"));
  EXPECT_THAT(visible, Not(HasSubstr("<h3>Figure 8")));
  EXPECT_THAT(visible, HasSubstr("<li>Figure 8: the campaign has fewer than two points for it"));
  EXPECT_THAT(visible, HasSubstr(">rxe (software) read-read</text>"));
  EXPECT_THAT(browsed.dom, HasSubstr("paper-figure-0-0 paper-figure-0-1"));
  EXPECT_THAT(visible, Not(HasSubstr("NaN")));
}

TEST_F(PageInBrowser, DrawsTheProcessorsOfBothEnds) {
  const auto& browsed = pages().at("whole");
  EXPECT_THAT(browsed.dom, HasSubstr("Processor time of both ends"));
  EXPECT_THAT(browsed.dom, HasSubstr("busy [% of one processor]"));
  EXPECT_THAT(browsed.dom, HasSubstr(">per operation</option>"));
  EXPECT_THAT(browsed.dom, HasSubstr("The server<span class=\"quiet\">: processor time of the server"));
}

// All runs of a cell are the same: intervals without width, and bands without height.
TEST_F(PageInBrowser, SaysThatTheClockIsVirtual) {
  const auto& browsed = pages().at("virtual");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("data-rendered=\"latency ratio size distribution cpu-near cpu-far\""));
  EXPECT_THAT(browsed.dom, HasSubstr(">measured by a virtual clock: a fixed cost per instruction, no caches"));
  EXPECT_THAT(browsed.dom, HasSubstr("An instruction takes 2 ns"));
  EXPECT_THAT(browsed.dom, HasSubstr("All of it was measured by a virtual clock"));
  const auto visible = browsed.dom.substr(0, browsed.dom.find("<script"));
  EXPECT_THAT(visible, HasSubstr("Processor time of both ends"));
  EXPECT_THAT(visible, Not(HasSubstr("absolute times describe the lab")));
  EXPECT_THAT(visible, Not(HasSubstr("NaN")));
}

TEST_F(PageInBrowser, CopesWithNothingMeasured) {
  const auto& browsed = pages().at("nothing");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("Not answered"));
  EXPECT_THAT(browsed.dom, HasSubstr("not measured: 0 of 6 runs"));
}

}  // namespace
}  // namespace longhaul::results
