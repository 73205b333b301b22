// longhaul-bench simulate: what it writes, what it refuses.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/child.hh"
#include "registration/simulate/generator.hh"
#include "registration/simulate/rows.hh"

namespace longhaul::registration {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Simulate : public testing::Test {
 protected:
  Simulate() : directory_(fs::temp_directory_path() / ("longhaul-simulate-" + std::to_string(::getpid()))) {
    fs::create_directories(directory_);
  }
  ~Simulate() override { fs::remove_all(directory_); }
  static CommandOutput bench(const std::string& arguments) {
    return run_command(
        {"/bin/sh", "-c", std::string{LONGHAUL_BINARY_DIR} + "/bin/longhaul-bench simulate " + arguments + " 2>&1"});
  }
  static std::string slurp(const fs::path& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void refuses(const std::string& arguments, const std::string& expected) const {
    const auto output = bench(arguments);
    EXPECT_EQ(output.exit.code, 2) << output.out;
    EXPECT_THAT(output.out, HasSubstr(expected)) << arguments;
  }
  fs::path directory_;
};

TEST_F(Simulate, WritesWhatItFound) {
  const auto output = bench("--generate requests=20000,objects=500 --policy all --capacity 1MiB,4MiB --out " +
                            (directory_ / "out").string());
  ASSERT_TRUE(output.exit.ok()) << output.out;
  EXPECT_THAT(output.out, AllOf(HasSubstr("mrrc-figure"), HasSubstr("pfoo-l (bound)"), HasSubstr("mietke")));
  const auto csv = slurp(directory_ / "out/simulate.csv");
  EXPECT_TRUE(
      csv.starts_with("trace,policy,capacity_bytes,cost_profile,requests,hit_ratio,cost_us,cost_saved,"
                      "registrations,deregistrations,batches,hit_ratio_error,cost_saved_error\n\"requests=20000,"
                      "objects=500\",none,0,wu2003,20000,"
                      "0.000000,"))
      << csv.substr(0, 300);
  EXPECT_THAT(csv, HasSubstr(",lru,4194304,mietke,20000,"));
  EXPECT_THAT(slurp(directory_ / "out/simulate.json"), HasSubstr("\"schema\":1"));
}

TEST_F(Simulate, RefusesWithTheRemedy) {
  refuses("", "which trace? give --trace FILE or --generate RECIPE");
  refuses("--trace " + (directory_ / "none.lis").string(), "none.lis: No such file");
  refuses("--trace x.foo", "its name does not tell the format; say it with --format");
  refuses("--generate requests=1 --capacity 100B", "less than a page");
  refuses("--generate requests=1 --capacity huge", "--capacity");
  refuses("--generate requests=1 --policy lur", "did you mean 'lru'");
  refuses("--generate requests=1 --cost nowhere.json", "no such profile, and no file of that name can be read");
  std::ofstream{directory_ / "empty.lis"} << "";
  refuses("--trace " + (directory_ / "empty.lis").string(), "there is no request in it");
  std::ofstream{directory_ / "bad.lis"} << "0 8 0 0\nnot a line\n";
  refuses("--trace " + (directory_ / "bad.lis").string(), "bad.lis:2: expected 'start_block n_blocks ...'");
  const auto skipped = bench("--policy lru --skip-bad 1 --trace " + (directory_ / "bad.lis").string());
  EXPECT_TRUE(skipped.exit.ok());
  EXPECT_THAT(skipped.out, HasSubstr("1 bad lines or records were skipped"));
}

TEST_F(Simulate, TakesRangesOfCapacities) {
  const auto capacities = [](const std::string& text) {
    const auto output = bench("--generate requests=1000,objects=20 --policy lru --capacity " + text + " --json");
    std::vector<std::string> found;
    const std::string key = "\"capacity_bytes\":";
    for (auto at = output.out.find(key); at != std::string::npos; at = output.out.find(key, at + 1)) {
      auto number = output.out.substr(at + key.size());
      number.resize(number.find(','));
      if (found.empty() || found.back() != number) found.push_back(number);
    }
    return found;
  };
  using testing::ElementsAre;
  const auto once = capacities("1MiB..4MiB");
  EXPECT_THAT(std::vector(once.begin(), once.begin() + 3), ElementsAre("1048576", "2097152", "4194304"));
  const auto steps = capacities("64KiB,1MiB..3MiB/2");
  EXPECT_THAT(std::vector(steps.begin(), steps.begin() + 5),
              ElementsAre("65536", "1048576", "1482752", "2097152", "2965504"));
  refuses("--generate requests=1 --capacity 4MiB..1MiB", "its end is less than its begin");
  refuses("--generate requests=1 --capacity 1MiB..4MiB/0", "expected 1 to 64 steps");
  refuses("--generate requests=1 --capacity 1MiB..", "--capacity");
}

TEST_F(Simulate, ASampleSaysThatItIsOneAndWhatItIsNot) {
  const auto output =
      bench("--generate requests=100000,objects=20000 --policy all --capacity 64MiB --sample 5% --out " +
            (directory_ / "out").string());
  ASSERT_TRUE(output.exit.ok()) << output.out;
  EXPECT_THAT(output.out, HasSubstr("hits +-"));
  EXPECT_THAT(output.out, Not(HasSubstr("(bound)")));
  EXPECT_THAT(slurp(directory_ / "out/simulate.json"),
              AllOf(HasSubstr("\"sample\":5E-2"), HasSubstr("\"hit_ratio_error\":")));
  refuses("--generate requests=1000 --capacity 1MiB --sample 1%", "is too little for --sample 1%");
  refuses("--generate requests=1000 --sample 70%", "--sample: expected a share above 0 and up to 50%");
  refuses("--generate requests=1000 --sample much", "--sample: expected a fraction such as 0.1%");
}

// Beside one another, and yet in their order.
TEST_F(Simulate, SeveralTracesComeInTheirOrder) {
  const auto one = bench("--generate requests=300000,objects=5000,seed=1 --policy lru,mrrc --capacity 1MiB");
  const auto other = bench("--generate requests=1000,objects=50,seed=2 --policy lru,mrrc --capacity 1MiB");
  const auto both = bench(
      "--generate requests=300000,objects=5000,seed=1 --generate requests=1000,objects=50,seed=2 --policy lru,mrrc "
      "--capacity 1MiB --threads 4");
  EXPECT_EQ(both.out, one.out + other.out);
}

// What `longhaul simulate --slurm` starts.
TEST_F(Simulate, SharesJoinToTheSameBytes) {
  const std::string work =
      "--generate requests=20000,objects=400,sizes=httpd --generate requests=3000,objects=90 --policy all --capacity "
      "1MiB..4MiB ";
  const auto at = [&](const std::string& name) { return (directory_ / name).string(); };
  EXPECT_EQ(bench(work + "--parts").out, "6\n");
  const auto whole = bench(work + "--out " + at("whole"));
  for (const auto* share : {"1", "2", "3", "4"})
    ASSERT_TRUE(bench(work + "--share " + share + "/4 --out " + at(share)).exit.ok());
  const auto join = work + fmt::format("--join {} {} {} ", at("1"), at("2"), at("3"));
  const auto joined = bench(join + at("4") + " --out " + at("joined"));
  EXPECT_EQ(joined.out, whole.out);
  for (const auto* file : {"simulate.csv", "simulate.json"})
    EXPECT_EQ(slurp(directory_ / "joined" / file), slurp(directory_ / "whole" / file)) << file;
  refuses(join, "share 2 is of another simulation");
  refuses(join + at("5"), "5/simulate.json: cannot be read");
  refuses(work + "--share 5/4", "--share 5/4: expected such as 2/8");
  refuses("--parts --trace " + at("none.lis"), "none.lis: No such file");
}

// One that is ended in the middle leaves nothing that could be taken for a share.
TEST_F(Simulate, AShareIsWrittenWhenAllOfItIsThere) {
  std::ofstream{directory_ / "good.lis"} << "0 8 0 0\n8 8 0 1\n";
  std::ofstream{directory_ / "bad.lis"} << "zero eight\n";
  const auto output =
      bench(fmt::format("--policy lru --capacity 1MiB..4MiB --share 1/2 --out {0}/1 --trace {0}/good.lis "
                        "--trace {0}/bad.lis --trace {0}/bad.lis --trace {0}/bad.lis",
                        directory_.string()));
  EXPECT_EQ(output.exit.code, 2);
  EXPECT_FALSE(fs::exists(directory_ / "1/simulate.json"));
}

TEST_F(Simulate, AFaultInTheSecondTraceLeavesTheFirstOnesFigures) {
  std::ofstream{directory_ / "good.lis"} << "0 8 0 0\n8 8 0 1\n";
  std::ofstream{directory_ / "bad.lis"} << "zero eight\n";
  const auto output = bench("--policy lru --capacity 1MiB --out " + directory_.string() + " --trace " +
                            (directory_ / "good.lis").string() + " --trace " + (directory_ / "bad.lis").string());
  EXPECT_EQ(output.exit.code, 2);
  EXPECT_THAT(slurp(directory_ / "simulate.csv"), HasSubstr("good.lis,lru,1048576,wu2003,2,0.000000"));
}

TEST_F(Simulate, AnOwnCostProfileIsWeighed) {
  std::ofstream{directory_ / "mine.json"}
      << R"({"name":"mine","registering":{"per_page":0,"per_call":10},"deregistering":{"per_page":0,"per_call":0}})";
  const auto output =
      bench("--generate requests=5000,objects=100 --policy lru,gdsf-cost --capacity 1MiB --json --cost " +
            (directory_ / "mine.json").string());
  EXPECT_TRUE(output.exit.ok());
  EXPECT_THAT(output.out, AllOf(HasSubstr(R"("cost_profile":"mine")"), HasSubstr("wu2003"), HasSubstr("mietke")));
}

TEST_F(Simulate, WhatWasMeasuredIsFoundWhereCostsKeepIt) {
  const auto measured = [&] {
    return run_command({"/bin/sh", "-c",
                        "XDG_STATE_HOME=" + directory_.string() + " " + LONGHAUL_BINARY_DIR +
                            "/bin/longhaul-bench simulate --generate requests=1000,objects=20 --policy lru --capacity "
                            "1MiB --cost measured 2>&1"});
  };
  const auto nothing = measured();
  EXPECT_EQ(nothing.exit.code, 2);
  EXPECT_THAT(nothing.out, HasSubstr("longhaul costs DIR --profile NAME"));
  fs::create_directories(directory_ / "longhaul");
  std::ofstream{directory_ / "longhaul/measured-costs.json"}
      << R"({"name":"rxe","registering":{"per_page":0.4,"per_call":57},"deregistering":{"per_page":0,"per_call":9}})";
  const auto found = measured();
  EXPECT_TRUE(found.exit.ok()) << found.out;
  EXPECT_THAT(found.out, HasSubstr("rxe"));
}

// What the user starts: longhaul-bench simulates, the page comes on top.
TEST_F(Simulate, LonghaulAddsThePage) {
  const auto longhaul = [](const std::string& arguments) {
    return run_command(
        {"/bin/sh", "-c", std::string{LONGHAUL_BINARY_DIR} + "/bin/longhaul simulate " + arguments + " 2>&1"});
  };
  const auto output = longhaul("--generate requests=1000,objects=20 --policy lru,mrrc --out " + directory_.string());
  EXPECT_TRUE(output.exit.ok()) << output.out;
  EXPECT_THAT(output.out, HasSubstr((directory_ / "simulate.html").string()));
  EXPECT_THAT(slurp(directory_ / "simulate.html"), HasSubstr("Which registration cache saves most?"));
  EXPECT_THAT(output.out, HasSubstr((directory_ / "results.db").string()));
  EXPECT_THAT(slurp(directory_ / "cells.csv"), HasSubstr(",simulation,"));
  const auto again = longhaul("--generate requests=1000,objects=20 --policy lru --out " + directory_.string());
  EXPECT_TRUE(again.exit.ok()) << again.out;  // it replaces its own
  EXPECT_THAT(longhaul("--help").out, HasSubstr("mrrc-figure"));
  EXPECT_THAT(longhaul("--help").out, HasSubstr("On a Slurm cluster"));
  EXPECT_EQ(longhaul("--trace nowhere.lis").exit.code, 2);
  EXPECT_THAT(longhaul("--trace nowhere.lis --resume").out, HasSubstr("are for --slurm"));
  EXPECT_THAT(longhaul("--trace nowhere.lis --slurm").out, HasSubstr("--out DIR is missing"));
  EXPECT_THAT(longhaul("--trace nowhere.lis --slurm --shards 0").out, HasSubstr("--shards"));
}

// Its results are records like any other.
TEST_F(Simulate, ItsRecordsAreACampaigns) {
  const auto longhaul = [](const std::string& arguments) {
    return run_command({"/bin/sh", "-c", std::string{LONGHAUL_BINARY_DIR} + "/bin/longhaul " + arguments + " 2>&1"});
  };
  const auto out = directory_.string();
  const auto made = longhaul("simulate --generate requests=5000,objects=100 --policy all --capacity 1MiB --out " + out);
  ASSERT_TRUE(made.exit.ok()) << made.out;
  EXPECT_THAT(longhaul("claims " + out).out, HasSubstr("No cells of this campaign speak of"));
  EXPECT_THAT(longhaul("report " + out).out, AllOf(HasSubstr("the best hit_ratio is"), HasSubstr("report.html")));
  EXPECT_THAT(longhaul("compare " + out + " " + out).out, HasSubstr("agree (100 %), 0 differ"));
  const auto csv = slurp(directory_ / "cells.csv");
  for (const auto* word : {"pfoo-l", "belady-size", "request_pages", "share_32", "requests=5000"})
    EXPECT_THAT(csv, HasSubstr(word));
}

TEST(Lengths, AreCountedExactly) {
  Lengths lengths;
  EXPECT_EQ(lengths.median(), 0U);
  EXPECT_EQ(lengths.share_up_to(32), 0);
  for (const std::uint64_t pages : {3, 1, 2, 2, 100, 64}) lengths.add(pages);
  EXPECT_EQ(lengths.count(), 6U);
  EXPECT_EQ(lengths.median(), 2U);
  EXPECT_DOUBLE_EQ(lengths.share_up_to(2), 0.5);
  EXPECT_DOUBLE_EQ(lengths.share_up_to(64), 5.0 / 6);
  EXPECT_DOUBLE_EQ(lengths.share_up_to(1000), 1);
  EXPECT_EQ(lengths.by_power(), (std::vector<std::uint64_t>{1, 3, 0, 0, 0, 0, 2}));
}

TEST(Sweep, ThreadsMakeNoDifference) {
  const auto with = [](unsigned threads) {
    const auto trace = generate(parse_generator("requests=100000,objects=2000").value());
    const SweepOptions options{.strategies = parse_strategies("all", cost_profiles()).value(),
                               .capacities = {{.pages = 500}, {.pages = 2000}},
                               .threads = threads};
    return csv_of("t", rows_of(sweep(*trace, options).value(), options, cost_profiles()));
  };
  EXPECT_EQ(with(1), with(4));
}

TEST(Sweep, CanBeInterrupted) {
  const auto trace = generate(parse_generator("requests=1000000").value());
  const SweepOptions options{.strategies = parse_strategies("lru", cost_profiles()).value(),
                             .capacities = {{.pages = 500}},
                             .progress = [](double fraction) { return fraction < 0.3; }};
  const auto result = sweep(*trace, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().exit_code, ExitCode::interrupted);
}

}  // namespace
}  // namespace longhaul::registration
