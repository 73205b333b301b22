#include "results/report/report.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <regex>

#include "common/sha256.hh"
#include "results/report/assets.hh"
#include "results/report/data.hh"
#include "tests/results/stranger.hh"
#include "tests/results/synthetic.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

std::string slurp(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// LONGHAUL_UPDATE_GOLDEN=1 writes it anew; look at the difference before it is committed.
TEST(Csv, Golden) {
  const auto path = fs::path{LONGHAUL_SOURCE_DIR} / "tests/results/golden/cells.csv";
  const auto text = csv_of(synthetic::summed(synthetic::awkward()), synthetic::vocabulary());
  if (std::getenv("LONGHAUL_UPDATE_GOLDEN") != nullptr) std::ofstream{path, std::ios::binary} << text;
  EXPECT_EQ(text, slurp(path));
}

// RFC 4180, enough of it to read our own file back.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += '"';
        ++i;
      } else if (c == '"') {
        inside = false;
      } else {
        rows.back().back() += c;
      }
    } else if (c == '"') {
      inside = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Csv, OneLinePerCellAndMetricWithEveryColumn) {
  const auto rows = read_csv(csv_of(synthetic::summed(synthetic::campaign()), synthetic::vocabulary()));
  ASSERT_EQ(rows.size(), 1U + 32 * (1 + 7 + 7));  // its own metric, then the processors of client and server
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  for (const auto& row : rows) ASSERT_EQ(row.size(), 29U);
  int own = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    EXPECT_EQ(row[column("clock")], "host");
    EXPECT_EQ(row[column("metric")] == "latency", i % 15 == 1) << i;
    if (row[column("metric")] != "latency") continue;
    ++own;
    EXPECT_EQ(row[column("status")], "ok");
    EXPECT_EQ(row[column("unit")], "us");
    EXPECT_EQ(row[column("runs")], "6");
    EXPECT_NEAR(std::stod(row[column("achieved_delay_us")]), std::stod(row[column("delay_us")]), 50);
    EXPECT_LE(std::stod(row[column("ci_low")]), std::stod(row[column("median")]));
    EXPECT_GE(std::stod(row[column("ci_high")]), std::stod(row[column("median")]));
    EXPECT_EQ(row[column("p99")].empty(), std::stoi(row[column("samples")]) < 1000);
    EXPECT_EQ(row[column("op")], row[column("transport")] == "tcp" ? "" : "write");
  }
  EXPECT_EQ(own, 32);
}

TEST(Csv, QuotedFieldsComeBack) {
  const auto rows = read_csv(csv_of(synthetic::summed(synthetic::awkward()), synthetic::vocabulary()));
  for (const auto& row : rows) ASSERT_EQ(row.size(), 29U);
  const auto quoted =
      std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row[0] == "55050b570a205763"; });
  ASSERT_NE(quoted, rows.end());
  EXPECT_EQ((*quoted)[4], "a0, \"the\" first");
  EXPECT_EQ((*quoted)[27], R"({"loss":1000,"rival":"rxe"})");
}

TEST(Csv, HoldsNoFormulaOfAStranger) {
  const stranger::Change change = [](const std::string& word) { return "=HYPERLINK(\"http://x\",1)" + word; };
  const auto words = stranger::vocabulary(change);
  const auto campaign = stranger::campaign(change);
  const auto rows = read_csv(csv_of(*summarise(campaign.manifest, campaign.runs, campaign.facts, words), words));
  ASSERT_GT(rows.size(), 24U);
  EXPECT_TRUE(rows[1][0].starts_with("'=HYPERLINK"));
  for (const auto& row : rows)
    for (const auto& field : row) EXPECT_FALSE(std::regex_search(field, std::regex{"^[=+@\\t\\r]|^-[^0-9]"})) << field;
}

TEST(ClaimsFile, HoldsThem) {
  const auto claims = boost::json::parse(claims_of(
      analyse(synthetic::summed(synthetic::campaign({.delays_ns = {0}, .sizes = {64}})), synthetic::vocabulary())));
  EXPECT_EQ(claims.at("claims").at(0).at("id").as_string(), "W1");
  EXPECT_EQ(claims.at("claims").at(0).at("findings").as_array().size(), 2U);  // rxe, siw
}

TEST(Json, HoldsWhatThePageHoldsButDistributions) {
  const auto document =
      boost::json::parse(json_of(analyse(synthetic::summed(synthetic::awkward()), synthetic::vocabulary())));
  EXPECT_EQ(document.at("cells").as_array().size(), 8U);
  EXPECT_FALSE(document.at("cells").at(0).at("metrics").at(0).as_object().contains("quantiles"));
  for (const auto* secret : {"ca", "cert", "key"}) EXPECT_FALSE(document.at("testbed").as_object().contains(secret));
}

class PageTest : public testing::Test {
 protected:
  // What the template puts between `open` and the next closing tag.
  static std::string between(const std::string& page, const std::string& open, const std::string& close) {
    const auto begin = page.find(open);
    if (begin == std::string::npos) return {};
    const auto end = page.find(close, begin + open.size());
    return page.substr(begin + open.size(), end - begin - open.size());
  }
};

TEST_F(PageTest, DataComesBackWholeThroughTheHtml) {
  const auto campaign = synthetic::awkward();
  const auto page = page_of(analyse(synthetic::summed(campaign), synthetic::vocabulary()));
  const auto json = between(page, "<script id=\"data\" type=\"application/json\">", "</script>");
  EXPECT_THAT(json, Not(HasSubstr("<")));
  const auto data = boost::json::parse(json);
  EXPECT_EQ(data.at("campaign").at("text").as_string(), campaign.manifest.campaign_text);
  EXPECT_EQ(data.at("campaign").at("name").as_string(), campaign.manifest.name);
  EXPECT_EQ(data.at("cells").at(5).at("message").as_string(), "siw has no write_imm </script>");
  EXPECT_EQ(data.at("cells").as_array().size(), 8U);
  EXPECT_THAT(between(page, "<title>", "</title>"), HasSubstr("quick &lt;/script&gt;&lt;script&gt;alert(1)"));
}

// Three elements of script end three times, whatever the texts hold.
TEST_F(PageTest, NothingEscapesItsElement) {
  const auto page = page_of(analyse(synthetic::summed(synthetic::awkward()), synthetic::vocabulary()));
  int ends = 0;
  for (auto at = page.find("</script>"); at != std::string::npos; at = page.find("</script>", at + 1)) ++ends;
  EXPECT_EQ(ends, 3);
  // The text of the campaign may speak of placeholders: nothing is put in there.
  EXPECT_THAT(page, HasSubstr("{{data}}"));
}

TEST_F(PageTest, AsksForNothingFromOutside) {
  auto page = page_of(
      analyse(synthetic::summed(synthetic::campaign({.delays_ns = {0}, .sizes = {64}})), synthetic::vocabulary()));
  const auto at = page.find(assets::echarts());
  ASSERT_NE(at, std::string::npos);
  page.erase(at, assets::echarts().size());
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_FALSE(std::regex_search(
      page, std::regex{R"((\ssrc\s*=)|(@import)|(url\()|(fetch\()|(XMLHttpRequest)|(href="(?!data:)))"}));
}

std::string texts_gone(std::string page, std::initializer_list<std::string_view> texts) {
  for (const auto text : texts)
    if (const auto at = page.find(text); at != std::string::npos) page.erase(at, text.size());
  return page;
}

TEST_F(PageTest, HasNoMarkupOfAStrangersStrings) {
  const auto own = texts_gone(page_of(analyse(synthetic::summed(synthetic::campaign()), synthetic::vocabulary())),
                              {assets::echarts(), assets::page_js()});
  const auto count = [](const std::string& text, const std::string& what) {
    int found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  const stranger::Change everything = [](const std::string& word) { return word + stranger::kScript; };
  for (const auto& change : {everything, stranger::all_but_axes(stranger::kScript)}) {
    const auto words = stranger::vocabulary(change);
    const auto campaign = stranger::campaign(change);
    const auto summary = summarise(campaign.manifest, campaign.runs, campaign.facts, words);
    ASSERT_TRUE(summary) << summary.error().message;
    const auto page = texts_gone(page_of(analyse(*summary, words)), {assets::echarts(), assets::page_js()});
    EXPECT_THAT(page, HasSubstr("alert(1)"));
    EXPECT_EQ(count(page, "<"), count(own, "<"));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
  }
}

// W3C CSP Level 3: a hash is of the text between the tags.
TEST_F(PageTest, RunsAndLooksLikeNothingButItself) {
  const auto page = page_of(analyse(synthetic::summed(synthetic::awkward()), synthetic::vocabulary()));
  const auto policy = between(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("base-uri 'none'"));
  std::string sources = "script-src";
  int scripts = 0;
  for (auto at = page.find("<script>"); at != std::string::npos; at = page.find("<script>", at + 1), ++scripts)
    sources += " 'sha256-" + Sha256{}.add(between(page.substr(at), "<script>", "</script>")).base64() + "'";
  EXPECT_EQ(scripts, 2);
  EXPECT_THAT(policy, HasSubstr(sources + "; style-src 'sha256-" +
                                Sha256{}.add(between(page, "<style>", "</style>")).base64() + "'"));
  EXPECT_THAT(std::string{assets::page_js()} + std::string{assets::simulation_js()} + std::string{assets::page_html()} +
                  std::string{assets::simulation_html()},
              Not(HasSubstr("style=\"")));
}

TEST_F(PageTest, AnswersAtTheTopWithoutJavaScript) {
  const auto page = page_of(analyse(synthetic::summed(synthetic::campaign()), synthetic::vocabulary()));
  EXPECT_THAT(between(page, "<h1>", "</h1>"), HasSubstr("Is RDMA faster than sockets"));
  EXPECT_THAT(between(page, "<p class=\"answer\">", "</p>"), HasSubstr("times as fast as sockets"));
}

}  // namespace
}  // namespace longhaul::results
