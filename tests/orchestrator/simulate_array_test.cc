// A simulation as a job array of a real Slurm.
#include <gmock/gmock.h>
#include <signal.h>

#include <fstream>
#include <iterator>

#include "tests/slurm_cluster.hh"

namespace longhaul::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

class SimulateArray : public SlurmTest {
 protected:
  // Two traces at three capacities. `requests`: of each.
  static std::vector<std::string> command(const std::string& out, int requests, std::vector<std::string> more = {}) {
    std::vector<std::string> all{"simulate"};
    for (int seed = 1; seed <= 2; ++seed)
      all.insert(all.end(), {"--generate", fmt::format("requests={},objects=400,seed={}", requests, seed)});
    all.insert(all.end(), {"--policy", "all", "--capacity", "1MiB,2MiB,4MiB", "--out", path(out)});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::string csv(const std::string& out) { return read_file(path(out + "/simulate.csv")); }
};

TEST_F(SimulateArray, GivesTheSameBytesAsOneMachine) {
  ASSERT_EQ(longhaul(command("plain", 5000)).code, 0);
  const auto array = longhaul(command("array", 5000, {"--slurm", "--shards", "4", "--sbatch=--time=5"}));
  ASSERT_EQ(array.code, 0) << array.err;
  EXPECT_THAT(array.err, HasSubstr("4 of 4 shares are simulated"));
  EXPECT_THAT(array.out, HasSubstr("simulate.html"));
  EXPECT_EQ(csv("array"), csv("plain"));
  EXPECT_EQ(read_file(path("array/simulate.json")), read_file(path("plain/simulate.json")));
  EXPECT_FALSE(fs::exists(path("array/slurm"))) << "all of it is joined";
  EXPECT_THAT(longhaul({"compare", path("plain"), path("array")}).out, HasSubstr("agree (100 %), 0 differ"));
  // As many shares as there is work, at most.
  const auto most = longhaul(command("most", 5000, {"--slurm", "--shards", "100"}));
  EXPECT_THAT(most.err, HasSubstr("6 of 6 shares are simulated"));
  EXPECT_EQ(csv("most"), csv("plain"));
}

// Ctrl-C in the middle, another session, a share that is taken away.
TEST_F(SimulateArray, WhatIsLostIsSimulatedAgain) {
  constexpr int kRequests = 100000;
  ASSERT_EQ(longhaul(command("large", kRequests)).code, 0);
  const std::vector<std::string> slurm{"--slurm", "--shards", "6"};
  auto process = start_longhaul(command("lost", kRequests, slurm), path("lost.log"));
  ASSERT_TRUE(
      holds_within(60s, [] { return fs::exists(path("lost/slurm/shares")) || !SlurmCluster::queue().empty(); }));
  process.send_signal(SIGTERM);
  const auto end = process.wait(30s);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 130) << read_file(path("lost.log"));
  EXPECT_THAT(read_file(path("lost.log")), AllOf(HasSubstr("the jobs are cancelled"), HasSubstr("--resume goes on")));
  EXPECT_THAT(longhaul(command("lost", kRequests, slurm)).err, HasSubstr("go on with it by --resume"));

  auto with_resume = slurm;
  with_resume.emplace_back("--resume");
  EXPECT_THAT(longhaul(command("lost", kRequests + 1, with_resume)).err, HasSubstr("begun with other options"));
  auto resumed = start_longhaul(command("lost", kRequests, with_resume), path("resumed.log"));
  const auto jobs = [] {
    std::ifstream file{path("lost/slurm/jobs")};
    return std::vector<std::string>{std::istream_iterator<std::string>{file}, {}};
  };
  ASSERT_TRUE(holds_within(60s, [&] { return jobs().size() >= 2 || !resumed.running(); }));
  run_program({"scancel", jobs().back() + "_6"});
  const auto over = resumed.wait(std::chrono::minutes{5});
  ASSERT_TRUE(over && over->ok()) << read_file(path("resumed.log"));
  EXPECT_EQ(csv("lost"), csv("large"));
}

TEST_F(SimulateArray, WhatCannotBeSubmittedIsSaid) {
  const auto refused = [](const std::vector<std::string>& words, int code, const char* why) {
    const auto run = longhaul(words);
    EXPECT_EQ(run.code, code);
    EXPECT_THAT(run.err, HasSubstr(why));
  };
  refused(command("no", 100, {"--slurm", "--partition", "nope", "--shards", "2"}), 2, "choose one by --partition");
  refused(command("bad", 100, {"--slurm", "--trace", "nowhere.lis"}), 2, "nowhere.lis: No such file");
  refused(command("bad", 100, {"--slurm", "--resume"}), 2, "there is none to resume");
  EXPECT_FALSE(fs::exists(path("bad/slurm")));
}

TEST_F(SimulateArray, WhatTasksWaitForIsSaid) {
  auto process = start_longhaul(command("later", 100, {"--slurm", "--sbatch=--begin=now+1hour"}), path("later.log"));
  EXPECT_TRUE(holds_within(60s, [&] {
    return read_file(path("later.log")).find("shares 1-4 wait: BeginTime") != std::string::npos || !process.running();
  })) << read_file(path("later.log"));
  process.send_signal(SIGTERM);
  const auto end = process.wait(30s);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code, 130);
  const auto memory = longhaul(command("memory", 100, {"--slurm", "--sbatch=--mem=1T"}));
  EXPECT_EQ(memory.code, 2);
  EXPECT_THAT(memory.err, HasSubstr("no node has what --sbatch asks for"));
}

TEST_F(SimulateArray, AShareThatCannotRunIsGivenUpWithItsWords) {
  write_file(path("here.lis"), "0 8 0 0\n8 8 0 1\n");
  const auto given_up = run_program({"/bin/sh", "-c",
                                     fmt::format("cd {} && exec {} simulate --trace here.lis --policy lru --slurm "
                                                 "--sbatch=--chdir=/ --out {}",
                                                 path(""), bin("longhaul"), path("given_up"))});
  EXPECT_EQ(given_up.code, 1);
  EXPECT_THAT(given_up.err, HasSubstr("made no run in 3 submissions"));
  EXPECT_THAT(given_up.err, HasSubstr("here.lis: No such file"));
  EXPECT_FALSE(fs::exists(path("given_up/results.db")));
}

}  // namespace
}  // namespace longhaul::testing
