// The report page in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <map>
#include <semaphore>
#include <sstream>

#include "common/sha256.hh"
#include "degen/impairment/spec.hh"
#include "model/cell.hh"
#include "results/report/comparison_page.hh"
#include "results/report/history_page.hh"
#include "results/report/report.hh"
#include "results/simulation/page.hh"
#include "tests/results/stranger.hh"
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

synthetic::Campaign shared() {
  auto result = synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .noise = 0});
  synthetic::share(result, 1.1);
  return result;
}

// What the page became, and what its console got (which Chromium passes on to standard error).
struct Browsed {
  std::string dom;
  std::string console;
};

Browsed browse(const fs::path& page, const fs::path& scratch, const std::string& fragment = "") {
  // More at a time are slower than one after the other, and the last of them would not be through in time.
  static std::counting_semaphore<> browsers{4};
  browsers.acquire();
  const auto dom = scratch / "dom.html", log = scratch / "console.txt";
  const auto command = fmt::format(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --log-level=0 "
      "--user-data-dir='{}' "
      "--window-size=1280,1000 --dump-dom 'file://{}#{}' > '{}' 2> '{}'",
      (scratch / "profile").string(), page.string(), fragment, dom.string(), log.string());
  const auto status = std::system(command.c_str());
  browsers.release();
  if (status != 0) return {.dom = {}, .console = fmt::format("chromium ended with {}", status)};
  Browsed browsed{.dom = slurp(dom), .console = {}};
  std::istringstream lines{slurp(log)};
  for (std::string line; std::getline(lines, line);)
    if (line.find("CONSOLE") != std::string::npos) browsed.console += line + "\n";
  return browsed;
}

// Opens what a reader's mouse would (the tip of every line's first point, every part that is folded), then counts what
// the page itself never makes.
constexpr const char* kProbe = R"(
for (const element of document.querySelectorAll('.chart')) {
  const chart = echarts.getInstanceByDom(element);
  (chart?.getOption().series ?? []).forEach((one, at) => {
    if (one.type === 'line' && one.data.length) chart.dispatchAction({type: 'showTip', seriesIndex: at, dataIndex: 0});
  });
}
for (const element of document.querySelectorAll('details')) element.open = true;
document.body.dataset.tips = document.querySelectorAll('.tip').length > 0 ? 'shown' : 'none';
document.body.dataset.strangers = document.querySelectorAll('img, iframe, object, embed, base, form, [onerror], [onload]').length;
document.body.dataset.scripts = document.scripts.length;
)";

// A page as it is, and another script at its end: one that the page's policy knows, or does not.
std::string with_script(std::string page, const std::string& script, bool known) {
  page.insert(page.rfind("</body>"), "<script>" + script + "</script>");
  if (known) page.insert(page.find("; style-src"), " 'sha256-" + Sha256{}.add(script).base64() + "'");
  return page;
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
        {"shared", shared()},
        {"nothing", nothing},
        {"virtual", synthetic::campaign({.virtual_clock = true})},
        {"alone", synthetic::alone()},
        {"transfers", synthetic::transfers()},
        {"calls", calls()}};
    std::map<std::string, std::future<Browsed>> opening;
    for (const auto& [name, campaign] : campaigns)
      opening[name] = std::async(std::launch::async,
                                 [campaign = campaign, name = std::string{name}] { return open(campaign, name); });
    opening["simulation"] = std::async(std::launch::async, [] { return open_simulation(kSimulation); });
    const auto probed = [](const std::string& page, const std::string& fragment = "") {
      return std::async(std::launch::async, [=] { return open(with_script(page, kProbe, true), fragment); });
    };
    opening["stranger"] = probed(page_of_stranger([](const std::string& word) { return word + stranger::kScript; }));
    opening["stranger's words"] = probed(page_of_stranger(stranger::all_but_axes(stranger::kMarkup)));
    opening["stranger's names"] =
        probed(page_of_stranger(stranger::all_but_axes(stranger::kMarkup, {"latency"})), "claim=all");
    opening["stranger's simulation"] = probed(*simulation_page(simulation_of_stranger()));
    opening["stranger's comparison"] =
        probed(comparison_of_stranger([](const std::string& word) { return word + stranger::kMarkup; }));
    opening["stranger's history"] = probed(history_of_stranger(
        [](const std::string& word) { return word == "latency" ? word : word + stranger::kMarkup; }));
    opening["history"] = std::async(std::launch::async, [] {
      auto later = summarised(synthetic::campaign({.seed = 2, .noise = 0.01, .slower = 1.2}));
      later.manifest.started += 86'400'000'000'000;
      const auto made = history({{"monday", summarised(synthetic::campaign({.noise = 0.01}))}, {"tuesday", later}},
                                "latency", "", synthetic::vocabulary());
      return open(history_page(made, synthetic::vocabulary()), "light");
    });
    opening["comparison"] = std::async(std::launch::async, [] {
      const auto slower = synthetic::campaign({.seed = 2, .noise = 0.01, .slower = 1.2});
      return open(comparison_page(compare(summarised(synthetic::campaign({.noise = 0.01})), summarised(slower),
                                          synthetic::vocabulary()),
                                  synthetic::vocabulary()),
                  "light");
    });
    opening["added"] = std::async(std::launch::async, [] {
      const auto page = page_of_stranger([](const std::string& word) { return word; });
      return open(with_script(page, "document.body.dataset.ran = 'yes';", false), "");
    });
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
  static Browsed open(const std::string& page, const std::string& fragment) {
    const TemporaryDirectory scratch;
    std::ofstream{scratch.path() / "page.html", std::ios::binary} << page;
    return browse(scratch.path() / "page.html", scratch.path(), fragment);
  }
  static std::string page_of_stranger(const stranger::Change& change) {
    const auto words = stranger::vocabulary(change);
    const auto campaign = stranger::campaign(change);
    return page_of(analyse(*summarise(campaign.manifest, campaign.runs, campaign.facts, words), words));
  }
  static Summary summarised(const synthetic::Campaign& campaign) {
    return *summarise(campaign.manifest, campaign.runs, campaign.facts, synthetic::vocabulary());
  }
  static std::string comparison_of_stranger(const stranger::Change& change) {
    const auto words = stranger::vocabulary(change);
    const auto campaign = stranger::campaign(change);
    const auto summary = *summarise(campaign.manifest, campaign.runs, campaign.facts, words);
    return comparison_page(compare(summary, summary, words), words);
  }
  static std::string history_of_stranger(const stranger::Change& change) {
    const auto words = stranger::vocabulary(change);
    const auto campaign = stranger::campaign(change);
    const auto summary = *summarise(campaign.manifest, campaign.runs, campaign.facts, words);
    return history_page(history({{change("one"), summary}, {change("two"), summary}}, change("latency"), "", words),
                        words);
  }
  // Its words, and a number that is none.
  static std::string simulation_of_stranger() {
    std::string document = kSimulation;
    const auto replace = [&](const std::string& what, const std::string& with) {
      for (auto at = document.find(what); at != std::string::npos; at = document.find(what, at + with.size()))
        document.replace(at, what.size(), with);
    };
    const std::string markup = R"('\"><img src=x onerror=alert(1)>)";
    for (const std::string word : {"wu2003", "lru", "mrrc", "pfoo-l", "oldest first", "web <1>"})
      replace("\"" + word + "\"", "\"" + word + markup + "\"");
    replace("7.42", "\"" + markup + "\"");
    return document;
  }
  static Browsed open_simulation(const char* document) {
    const TemporaryDirectory scratch;
    std::ofstream{scratch.path() / "simulate.json"} << document;
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

TEST_F(PageInBrowser, DrawsAComparison) {
  const auto& browsed = pages().at("comparison");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("What has changed from the first campaign to the second?"));
  EXPECT_THAT(browsed.dom, HasSubstr("rdma over rxe"));
  EXPECT_THAT(browsed.dom, HasSubstr("latency, each point a cell, with its 95 % interval"));
  EXPECT_THAT(browsed.dom, HasSubstr("second against first"));
}

TEST_F(PageInBrowser, DrawsAHistory) {
  const auto& browsed = pages().at("history");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("How did latency move?"));
  EXPECT_THAT(browsed.dom, HasSubstr("32 cells over 2 campaigns"));
  EXPECT_THAT(browsed.dom, HasSubstr("campaign, in the order of time"));
  EXPECT_THAT(browsed.dom, HasSubstr("tuesday"));
}

// Whatever a stranger's store holds is text, in every corner of the page.
TEST_F(PageInBrowser, MakesNoMarkupOfAStrangersStrings) {
  for (const std::string name : {"stranger", "stranger's words", "stranger's names", "stranger's simulation",
                                 "stranger's comparison", "stranger's history"}) {
    const auto& browsed = pages().at(name);
    EXPECT_EQ(browsed.console, "") << name;
    EXPECT_THAT(browsed.dom, HasSubstr("data-strangers=\"0\"")) << name;
    EXPECT_THAT(browsed.dom, HasSubstr("data-scripts=\"4\"")) << name;
    EXPECT_THAT(browsed.dom, HasSubstr("&lt;img src=x onerror=alert(1)&gt;")) << name;
  }
  for (const std::string name : {"stranger's words", "stranger's names", "stranger's simulation"})
    EXPECT_THAT(pages().at(name).dom, HasSubstr("data-tips=\"shown\"")) << name;
  EXPECT_THAT(pages().at("stranger's words").dom, HasSubstr("data-rendered=\"latency ratio size distribution"));
  EXPECT_THAT(pages().at("stranger's names").dom, HasSubstr("figure-W1"));
}

TEST_F(PageInBrowser, RunsNoScriptButItsOwn) {
  const auto& browsed = pages().at("added");
  EXPECT_THAT(browsed.dom, HasSubstr("data-rendered="));
  EXPECT_THAT(browsed.dom, Not(HasSubstr("data-ran")));
  EXPECT_THAT(browsed.console, HasSubstr("Content Security Policy"));
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

TEST_F(PageInBrowser, ShowsTheTestbedsThatSharedACampaignBesideEachOther) {
  const auto& browsed = pages().at("shared");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("2 testbeds shared the repetitions"));
  EXPECT_THAT(browsed.dom, HasSubstr("<td>west-client, west-server, west-router</td><td class=\"number\">12</td>"
                                     "<td class=\"number\">1.092</td>"));
  EXPECT_THAT(pages().at("whole").dom, ::testing::Not(::testing::ContainsRegex("[0-9] testbeds shared")));
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
