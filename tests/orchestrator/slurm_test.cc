// What is submitted to Slurm, and when.
#include "orchestrator/slurm/follow.hh"

#include <gmock/gmock.h>

namespace longhaul::orchestrator::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<QueueRow> queue(const char* text) {
  return parse_queue(text, {7, 9});
}

constexpr Instant kBegin{std::chrono::hours{1}};

Decision decide(std::vector<Share>& shares, const std::vector<QueueRow>& rows) {
  return slurm::decide(shares, rows, kBegin);
}

TEST(Queue, IsReadLineByLine) {
  const auto rows = queue(
      "7|1|COMPLETED|None\n7|2|NODE_FAIL|NodeDown\n9|2|PENDING|Resources\n8|3|RUNNING|None\n12|N/A|RUNNING|None\n"
      "nonsense\n7|3|RUNNING|None");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].word, "COMPLETED");
  EXPECT_EQ(rows[1].job, 9U) << "its last job";
  EXPECT_EQ(rows[1].word, "PENDING");
  EXPECT_EQ(rows[1].reason, "Resources");
  EXPECT_EQ(rows[2].task, 3U);
}

TEST(Processors, AreThoseOfTheLargestPartition) {
  EXPECT_EQ(processors_of("1/3/0/4\n0/0/64/64\n"), 64U);
  EXPECT_EQ(processors_of("0/0/0/0\n"), 0U);
  EXPECT_EQ(processors_of("nonsense\n"), 0U);
  EXPECT_EQ(processors_of(""), 0U);
}

TEST(Queue, TellsWhatRunsFromWhatIsGone) {
  for (const char* word : {"PENDING", "CONFIGURING", "REQUEUED"}) EXPECT_EQ(task_state(word), TaskState::waiting);
  for (const char* word : {"RUNNING", "COMPLETING", "SUSPENDED"}) EXPECT_EQ(task_state(word), TaskState::running);
  for (const char* word :
       {"COMPLETED", "FAILED", "NODE_FAIL", "PREEMPTED", "TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", ""})
    EXPECT_EQ(task_state(word), TaskState::gone) << word;
}

TEST(Decide, SubmitsAllAtFirstAndIsDoneWhenAllAreComplete) {
  std::vector<Share> shares(3);
  shares[1].complete = true;  // of an earlier session
  const auto first = decide(shares, {});
  EXPECT_THAT(first.submit, ElementsAre(1, 3));
  EXPECT_FALSE(first.done);
  EXPECT_TRUE(decide(shares, queue("7|1|RUNNING|None\n7|3|PENDING|Priority")).submit.empty());
  shares[0].complete = shares[2].complete = true;
  EXPECT_TRUE(decide(shares, queue("7|1|RUNNING|None\n7|3|COMPLETED|None")).done) << "whatever Slurm believes";
}

TEST(Decide, DoubtsSlurmsWordForATaskThatGivesNothing) {
  using std::chrono::minutes;
  std::vector<Share> shares(2);
  decide(shares, {});
  const auto at = [&](minutes later, const char* rows) { return slurm::decide(shares, queue(rows), kBegin + later); };
  const auto* run = "7|1|RUNNING|None\n7|2|SUSPENDED|None";
  EXPECT_TRUE(at(minutes{0}, run).silent.empty());
  shares[0].records = 1;
  EXPECT_TRUE(at(minutes{9}, run).silent.empty());
  EXPECT_TRUE(at(minutes{18}, run).silent.empty()) << "a run came";
  EXPECT_THAT(at(minutes{19}, run).silent, ElementsAre(1)) << "who suspends a job knows that it is silent";
  EXPECT_THAT(doubt(1, shares[0]), AllOf(HasSubstr("10 min"), HasSubstr("RUNNING"), HasSubstr("`scancel 7_1`")));
  EXPECT_TRUE(at(minutes{40}, run).silent.empty()) << "once";
  // It was cancelled, and its node does not answer Slurm either.
  const auto* ends = "7|1|COMPLETING|None\n7|2|SUSPENDED|None";
  EXPECT_TRUE(at(minutes{41}, ends).submit.empty());
  EXPECT_TRUE(at(minutes{50}, ends).submit.empty());
  EXPECT_THAT(at(minutes{51}, ends).silent, ElementsAre(1));
  EXPECT_THAT(doubt(1, shares[0]), HasSubstr("taken for gone"));
  EXPECT_THAT(at(minutes{52}, ends).submit, ElementsAre(1));
  EXPECT_TRUE(at(minutes{52}, "9|1|RUNNING|None\n7|2|SUSPENDED|None").silent.empty()) << "another task";
}

TEST(Decide, SubmitsAgainWhatWasLostOnceItIsSeenGone) {
  std::vector<Share> shares(2);
  decide(shares, {});
  decide(shares, queue("7|1|RUNNING|None\n7|2|RUNNING|None"));
  const auto* lost = "7|1|RUNNING|None\n7|2|NODE_FAIL|NodeDown";
  EXPECT_TRUE(decide(shares, queue(lost)).submit.empty()) << "its last record may still come";
  EXPECT_TRUE(is_lost(shares[1]));
  EXPECT_THAT(decide(shares, queue(lost)).submit, ElementsAre(2));
  EXPECT_TRUE(decide(shares, queue(lost)).submit.empty()) << "submitted, and not yet in the queue's answer";
}

// Whoever makes progress may be lost as often as it likes (a time limit, a partition that preempts).
TEST(Decide, GivesUpAShareThatMakesNothing) {
  std::vector<Share> shares(1);
  decide(shares, {});
  const auto end = [&](std::size_t records) {
    shares[0].records = records;
    decide(shares, queue("7|1|TIMEOUT|TimeLimit"));
    return decide(shares, queue("7|1|TIMEOUT|TimeLimit"));
  };
  for (std::size_t records = 1; records < 20; ++records) EXPECT_THAT(end(records).submit, ElementsAre(1));
  EXPECT_THAT(end(19).submit, ElementsAre(1));
  EXPECT_THAT(end(19).submit, ElementsAre(1));
  const auto last = end(19);
  EXPECT_TRUE(last.submit.empty());
  EXPECT_EQ(last.given_up, 1U);
  EXPECT_FALSE(last.done);
}

// longhaul was killed: the tasks of its session go on, and are not submitted a second time.
TEST(Decide, FollowsWhatAnEarlierSessionSubmitted) {
  std::vector<Share> shares(3);
  const auto decision = decide(shares, queue("7|1|RUNNING|None\n7|2|PENDING|Resources"));
  EXPECT_THAT(decision.submit, ElementsAre(3));
}

TEST(Decide, WritesArraysShortly) {
  EXPECT_EQ(array_of_tasks({1, 2, 3, 4, 7, 9, 10}), "1-4,7,9-10");
  EXPECT_EQ(array_of_tasks({5}), "5");
  EXPECT_EQ(array_of_tasks({}), "");
  EXPECT_EQ(file_pattern("/a/100%/b"), "/a/100%%/b");
}

TEST(Waiting, IsSaidWithItsReasonsWhileNothingRuns) {
  std::vector<Share> shares(4);
  EXPECT_EQ(waiting(shares), "") << "nothing was submitted";
  decide(shares, {});
  decide(shares, queue("7|1|PENDING|None\n7|2|PENDING|None"));
  EXPECT_EQ(waiting(shares), "") << "Slurm has not looked at it";
  shares[0].complete = true;
  decide(shares, queue("7|2|PENDING|Resources\n7|3|PENDING|Priority\n7|4|PENDING|Resources"));
  EXPECT_EQ(waiting(shares), "shares 2-4 wait: Priority, Resources");
  decide(shares, queue("7|2|RUNNING|None\n7|3|PENDING|Priority\n7|4|PENDING|Resources"));
  EXPECT_EQ(waiting(shares), "");
}

TEST(Submission, SaysWhatToDo) {
  const auto said = [](std::string_view text) { return submission_error(text).value().message; };
  EXPECT_THAT(said("sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed\n"),
              HasSubstr("choose one by --partition"));
  EXPECT_THAT(said("sbatch: error: Unable to contact slurm controller (connect failure)"),
              HasSubstr("check that slurmctld runs"));
  EXPECT_THAT(said("sbatch: error: Batch job submission failed: Requested node configuration is not available"),
              HasSubstr("no node has what --sbatch asks for"));
  EXPECT_THAT(said("sbatch: error: If munged is up, restart with --num-threads=10"),
              HasSubstr("check that munged runs"));
  EXPECT_THAT(
      said("sbatch: error: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"),
      HasSubstr("a limit of your account"));
  // With slurmdbd and AccountingStorageEnforce=associations.
  EXPECT_THAT(
      said("sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"),
      HasSubstr("choose by --sbatch=--account=NAME"));
  EXPECT_THAT(said("sbatch: error: Batch job submission failed: Invalid qos specification"),
              HasSubstr("--sbatch=--qos"));
  EXPECT_EQ(submission_error("x partition").value().exit_code, ExitCode::usage);
  EXPECT_EQ(submission_error("Unable to contact").value().exit_code, ExitCode::failure);
}

}  // namespace
}  // namespace longhaul::orchestrator::slurm
