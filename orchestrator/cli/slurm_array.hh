// A Slurm job array, followed to its end: what is lost is submitted again.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "orchestrator/cli/slurm_command.hh"
#include "orchestrator/events/event.hh"
#include "orchestrator/slurm/follow.hh"

namespace longhaul::orchestrator {

struct ArrayOptions {
  std::string name;              ///< of its jobs, as squeue shows it
  std::filesystem::path folder;  ///< absolute: the script, the jobs' numbers, what each task said
  std::string script;            ///< the same for all tasks: SLURM_ARRAY_TASK_ID is each one's number, from 1
  std::size_t tasks = 0;
  bool shared = true;  ///< the nodes have `folder`, too; else what a task said stays on its node, in /tmp
  SlurmOptions slurm;
};

/// As many tasks as the partition has processors, and no more than `most`.
Result<std::size_t> default_tasks(const SlurmOptions& options, std::size_t most);

/// One array, of one session of longhaul.
class JobArray {
 public:
  JobArray(ArrayOptions options, Sink& sink);

  /// Writes the script; to resume, finds it, unchanged, and the jobs that there are.
  Result<void> prepare(bool resume);

  /// Notes of share `number` (from 1) whether it is complete, and its records. An error cancels all.
  using Look = std::function<Result<void>(std::size_t number, slurm::Share& share)>;
  /// Told each time when all were looked at.
  using Looked = std::function<Result<void>(const std::vector<slurm::Share>& shares)>;

  /// Submits the tasks and follows them until all are complete. Ctrl-C, a task that comes to nothing again and again,
  /// and an error of `look` or `looked` cancel the jobs.
  Result<void> follow(const Look& look, const Looked& looked);

 private:
  Result<void> follow_jobs(const Look& look, const Looked& looked);
  Result<void> look_at_all(const Look& look, const Looked& looked);
  Result<void> submit(const std::vector<std::size_t>& tasks);
  void cancel();
  std::string log_of(const std::string& task) const;
  Error lost(std::size_t number) const;

  ArrayOptions options_;
  Sink& sink_;
  std::vector<slurm::Share> shares_;
  std::vector<std::uint64_t> jobs_;
};

}  // namespace longhaul::orchestrator
