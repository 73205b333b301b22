// Shares of a campaign as the tasks of a Slurm job array: what is to be submitted, from what is known. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"

namespace longhaul::orchestrator::slurm {

/// Where a task is, as far as that matters here. squeue's word for it (squeue(1), JOB STATE CODES) says more.
enum class TaskState { waiting, running, gone };

/// PENDING, CONFIGURING, REQUEUED ... wait; RUNNING, COMPLETING, SUSPENDED ... run; all others are gone.
TaskState task_state(std::string_view word);

/// A line of `squeue --me -h -r -t all -o "%F|%K|%T|%r"`: a task of an array.
struct QueueRow {
  std::uint64_t job = 0;
  std::size_t task = 0;
  std::string word;    ///< RUNNING, NODE_FAIL ...
  std::string reason;  ///< why it waits, or ended
};

/// Lines of jobs that are no arrays are left out, and what is no such line. A task that was submitted several times has
/// one of its last job alone. Only jobs of `jobs`.
std::vector<QueueRow> parse_queue(std::string_view text, const std::vector<std::uint64_t>& jobs);

/// Of `sinfo -h -o %C` (allocated/idle/other/total, a line a partition): the largest total; 0: it says none.
std::size_t processors_of(std::string_view text);

/// Why Slurm took no job, with a remedy, from sbatch's own words.
tl::unexpected<Error> submission_error(std::string_view said);

/// How often a share is submitted without a record more than before, until it is given up.
inline constexpr int kFruitless = 3;
/// How often in a row a task must be seen gone: its last record may reach us (NFS) after Slurm's word of its end.
inline constexpr int kSeenGone = 2;
/// How long a task may run without a record until Slurm's word for it is doubted: a node that lost its network runs,
/// for Slurm, until SlurmdTimeout is over (slurm.conf(5)), and with 0 for ever. A lab boots in less than a minute.
inline constexpr auto kSilence = std::chrono::minutes{10};

using Instant = std::chrono::steady_clock::time_point;

/// A share, by its number from 1: what is known of it, and what was done.
struct Share {
  bool complete = false;    ///< its store says that it ended
  std::size_t records = 0;  ///< runs in its store
  bool submitted = false;
  std::size_t records_then = 0;  ///< when it was submitted last
  int fruitless = 0;
  int seen_gone = 0;
  std::uint64_t job = 0;  ///< whose task it is
  std::string word;       ///< squeue's last about it
  std::string reason;     ///< ditto
  Instant heard{};        ///< when a record or another word of it came last
  std::size_t records_heard = 0;
  bool doubted = false;  ///< said that it is silent, since
};

struct Decision {
  std::vector<std::size_t> submit;      ///< numbers, ascending
  std::vector<std::size_t> silent;      ///< since kSilence, each told once
  std::optional<std::size_t> given_up;  ///< the first that has had its tries
  bool done = false;                    ///< all are complete
};

/// Notes what squeue said and decides. `shares[0]` is number 1. One that is ending (COMPLETING) and silent is taken for
/// gone: its node does not answer Slurm.
Decision decide(std::vector<Share>& shares, const std::vector<QueueRow>& queue, Instant now);

/// What is said of a share that is silent, with what to do.
std::string doubt(std::size_t number, const Share& share);

/// Its task ended before it was complete.
bool is_lost(const Share& share);

/// What Slurm says of tasks that wait while none runs, "shares 1-4 wait: PartitionConfig" (squeue(1), JOB REASON
/// CODES); empty: one runs, or there is no reason.
std::string waiting(const std::vector<Share>& shares);

/// A path in sbatch's --output, where '%' begins a pattern (sbatch(1), filename pattern).
std::string file_pattern(std::string_view path);

/// sbatch's --array: "1-4,7".
std::string array_of_tasks(const std::vector<std::size_t>& tasks);

}  // namespace longhaul::orchestrator::slurm
