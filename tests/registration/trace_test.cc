#include "registration/simulate/trace.hh"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace longhaul::registration {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Traces : public testing::Test {
 protected:
  Traces() : directory_(fs::temp_directory_path() / ("longhaul-trace-" + std::to_string(::getpid()))) {
    fs::create_directories(directory_);
  }
  ~Traces() override { fs::remove_all(directory_); }
  fs::path file(const std::string& name, const std::string& bytes) const {
    std::ofstream{directory_ / name, std::ios::binary} << bytes;
    return directory_ / name;
  }
  static Result<std::vector<Pages>> read(const fs::path& path, Format format, const ReadOptions& options = {}) {
    auto trace = open_trace(path, format, options);
    if (!trace) return tl::unexpected(trace.error());
    std::vector<Pages> all;
    std::vector<Pages> batch;
    for (;;) {
      if (auto ok = (*trace)->next(batch); !ok) return tl::unexpected(ok.error());
      if (batch.empty()) return all;
      all.insert(all.end(), batch.begin(), batch.end());
    }
  }

 private:
  fs::path directory_;
};

TEST_F(Traces, BlocksOfArcAreAddresses) {
  const auto path = file("t.lis", "0 8 0 0\n16 9 0 1\n");
  EXPECT_THAT(*read(path, Format::arc), ElementsAre(Pages{0, 1}, Pages{2, 2}));
}

TEST_F(Traces, BadLinesAreNamedOrSkipped) {
  const auto path = file("t.lis", "0 8 0 0\nnonsense\n8 0 0 1\n");
  const auto refused = read(path, Format::arc);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("t.lis:2: expected 'start_block n_blocks ...'"));
  EXPECT_THAT(refused.error().message, HasSubstr("--skip-bad"));
  EXPECT_THAT(read(path, Format::arc, {.skip_bad = 1}).error().message, HasSubstr("t.lis:3: a range of no bytes"));
  EXPECT_EQ(read(path, Format::arc, {.skip_bad = 2})->size(), 1U);
}

TEST_F(Traces, WebObjectsLieInTheOrderOfFirstSightWithAGap) {
  const auto path = file("log.tsv",
                         "time\tmethod\turl\tresponse\tbytes\n"
                         "1\tGET\t/a\t200\t5000\n2\tGET\t/b\t404\t9\n3\tGET\t/big\t200\t200000\n4\tGET\t/a\t304\t0\n");
  EXPECT_THAT(*read(path, Format::nasa), ElementsAre(Pages{0, 2}, Pages{3, 32}, Pages{35, 17}, Pages{0, 2}));
}

// A line may stand for millions of requests: they come batch by batch.
TEST_F(Traces, AHugeObjectIsGivenInPortions) {
  const auto path = file("log.tsv", "1\tGET\t/huge\t200\t34359738368\n2\tGET\t/a\t200\t1\n");
  const auto trace = open_trace(path, Format::nasa, {});
  ASSERT_TRUE(trace);
  constexpr std::uint64_t kPages = 34359738368 / 4096;
  std::vector<Pages> requests;
  std::uint64_t next = 0;
  while (next < kPages) {
    ASSERT_TRUE((*trace)->next(requests));
    ASSERT_FALSE(requests.empty());
    ASSERT_LE(requests.size(), 65536U);
    for (const auto& one : requests) {
      if (next == kPages) {
        EXPECT_EQ(one, (Pages{kPages + 1, 1})) << "the next object, behind a gap";
        continue;
      }
      ASSERT_EQ(one, (Pages{next, 32}));
      next += one.count;
    }
  }
  if (requests.back().count == 32) {
    ASSERT_TRUE((*trace)->next(requests));
    EXPECT_THAT(requests, ElementsAre(Pages{kPages + 1, 1}));
  }
  ASSERT_TRUE((*trace)->next(requests));
  EXPECT_TRUE(requests.empty());
}

TEST_F(Traces, AnAnswerBeyondAnyFilesSizeIsABadLine) {
  const auto path = file("log.tsv", "1\tGET\t/a\t200\t1099511627776\n1\tGET\t/b\t200\t1099511627777\n");
  EXPECT_THAT(read(path, Format::nasa).error().message,
              HasSubstr("log.tsv:2: 1099511627777 bytes in one answer: more than 1 TiB"));
  EXPECT_FALSE(read(file("x.log", "h - - [x] \"GET /a HTTP/1.0\" 200 18446744073709551615\n"), Format::clf));
}

TEST_F(Traces, CommonLogFormatIsTheSame) {
  const auto path = file("access.log",
                         "h - - [01/Aug/1995:00:00:01 -0400] \"GET /a HTTP/1.0\" 200 5000\n"
                         "h - - [01/Aug/1995:00:00:02 -0400] \"GET /a\" 304 -\n");
  EXPECT_THAT(*read(path, Format::clf), ElementsAre(Pages{0, 2}, Pages{0, 2}));
  EXPECT_FALSE(read(file("x.log", "no log\n"), Format::clf));
}

TEST_F(Traces, CsvIsReadByItsHeader) {
  EXPECT_THAT(*read(file("t.csv", "time,length,address\n1,4096,8192\n"), Format::csv), ElementsAre(Pages{2, 1}));
  EXPECT_THAT(read(file("u.csv", "a,b\n1,2\n"), Format::csv).error().message, HasSubstr("columns address and length"));
}

TEST_F(Traces, ATruncatedRecordIsNamedByItsOffset) {
  const auto refused = read(file("t.vscsi", std::string(40, '\1')), Format::vscsi);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("byte"));
}

TEST_F(Traces, FormatsAreGuessedByName) {
  EXPECT_EQ(guess_format("arc_P2.lis.zst").value(), Format::arc);
  EXPECT_EQ(guess_format("x.vscsi").value(), Format::vscsi);
  EXPECT_FALSE(guess_format("x"));
  EXPECT_THAT(parse_format("acr").error().message, HasSubstr("nasa, clf, arc"));
}

}  // namespace
}  // namespace longhaul::registration
