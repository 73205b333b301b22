// The report page in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <map>
#include <sstream>

#include "results/report/report.hh"
#include "tests/results/synthetic.hh"
#include "tests/results/temporary.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string slurp(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
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
        {"whole", synthetic::campaign()}, {"awkward", synthetic::awkward()}, {"nothing", nothing}};
    std::map<std::string, std::future<Browsed>> opening;
    for (const auto& [name, campaign] : campaigns)
      opening[name] = std::async(std::launch::async,
                                 [campaign = campaign, name = std::string{name}] { return open(campaign, name); });
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
    const auto written = write_report(directory, synthetic::vocabulary());
    EXPECT_TRUE(written && written->files.size() == 3);
    return browse(directory / "report.html", scratch.path());
  }
};

TEST_F(PageInBrowser, DrawsEverythingWithoutAComplaint) {
  const auto& browsed = pages().at("whole");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("data-rendered=\"latency ratio size distribution\""));
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

TEST_F(PageInBrowser, CopesWithNothingMeasured) {
  const auto& browsed = pages().at("nothing");
  EXPECT_EQ(browsed.console, "");
  EXPECT_THAT(browsed.dom, HasSubstr("Not answered"));
  EXPECT_THAT(browsed.dom, HasSubstr("not measured: 0 of 6 runs"));
}

}  // namespace
}  // namespace longhaul::results
