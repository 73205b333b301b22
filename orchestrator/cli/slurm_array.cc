#include "orchestrator/cli/slurm_array.hh"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>

#include "common/printable.hh"
#include "common/replace_file.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/inventory.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

constexpr auto kPoll = std::chrono::seconds{1};
constexpr std::size_t kTail = 2000;

}  // namespace

Result<std::size_t> default_tasks(const SlurmOptions& options, std::size_t most) {
  std::vector<std::string> command{"sinfo", "-h", "-o", "%C"};
  if (!options.partition.empty()) command.insert(command.end(), {"-p", options.partition});
  const auto said = ask_slurm(command);
  if (!said) return tl::unexpected(said.error());
  if (!said->ok) return slurm::submission_error(said->errors);
  const auto processors = slurm::processors_of(said->out);
  if (processors == 0)
    return refuse("--slurm: {} has no processors: `sinfo` shows the partitions there are: choose one by --partition",
                  options.partition.empty() ? "this cluster" : "partition " + options.partition);
  return std::clamp<std::size_t>(processors, 1, std::max<std::size_t>(most, 1));
}

JobArray::JobArray(ArrayOptions options, Sink& sink)
    : options_(std::move(options)), sink_(sink), shares_(options_.tasks) {}

Result<void> JobArray::prepare(bool resume) {
  const auto path = options_.folder / "job.sh";
  std::error_code error;
  if (resume && fs::exists(path, error)) {
    if (read_file(path.string()).value_or("") != options_.script)
      return refuse(
          "{}: it was begun with other options, shares or another place of longhaul: take those, or another --out",
          path.string());
    std::ifstream known{options_.folder / "jobs"};
    for (std::uint64_t job = 0; known >> job;) jobs_.push_back(job);
    return {};
  }
  if (resume) return refuse("{}: no such file: no job array was begun here, there is none to resume", path.string());
  if (fs::exists(path, error))
    return refuse("{}: a job array was begun here already; go on with it by --resume, or take another --out",
                  options_.folder.string());
  fs::create_directories(options_.folder, error);
  if (error) return refuse("{}: cannot be made: {}: choose another --out", options_.folder.string(), error.message());
  return replace_file(path, options_.script, 0755);
}

Result<void> JobArray::submit(const std::vector<std::size_t>& tasks) {
  std::vector<std::string> command{"sbatch",
                                   "--parsable",
                                   "--array=" + slurm::array_of_tasks(tasks),
                                   "--job-name=" + options_.name,
                                   "--output=" + log_of("%a"),
                                   "--open-mode=append",
                                   "--no-requeue"};  // what was lost is submitted here, at once
  // The folder where sbatch was started may not be on the nodes.
  if (!options_.shared) command.emplace_back("--chdir=/tmp");
  if (!options_.slurm.partition.empty()) command.push_back("--partition=" + options_.slurm.partition);
  command.insert(command.end(), options_.slurm.sbatch.begin(), options_.slurm.sbatch.end());
  command.push_back((options_.folder / "job.sh").string());
  const auto said = ask_slurm(command);
  if (!said) return tl::unexpected(said.error());
  if (!said->ok) return slurm::submission_error(said->errors);
  std::uint64_t job = 0;  // "17" or "17;cluster"
  std::from_chars(said->out.data(), said->out.data() + said->out.size(), job);
  if (job == 0) return fail("sbatch said '{}', which is no job's number", said->out);
  jobs_.push_back(job);
  std::string known;
  for (const auto one : jobs_) known += std::to_string(one) + "\n";
  if (auto kept = replace_file(options_.folder / "jobs", known); !kept) return kept;
  sink_.on(StepEvent{fmt::format("Slurm job {}: shares {}", job, slurm::array_of_tasks(tasks))});
  return {};
}

// On its node where no folder is shared.
std::string JobArray::log_of(const std::string& task) const {
  if (options_.shared) return slurm::file_pattern(options_.folder.string()) + "/" + task + ".log";
  return "/tmp/longhaul-%A_" + task + ".log";
}

Error JobArray::lost(std::size_t number) const {
  const auto& share = shares_[number - 1];
  auto log = options_.shared ? read_file((options_.folder / fmt::format("{}.log", number)).string()).value_or("")
                             : "(on its node, in " + log_of(std::to_string(number)) + ", %A: the job)";
  if (log.size() > kTail) log.erase(0, log.size() - kTail);
  return {.message = fmt::format(
              "share {} of {} made no run in {} submissions (Slurm's last word: {}, {}); it said:\n{}", number,
              shares_.size(), slurm::kFruitless, share.word.empty() ? "none" : share.word, share.reason, log),
          .exit_code = ExitCode::failure};
}

void JobArray::cancel() {
  if (!jobs_.empty()) sink_.on(StepEvent{"the jobs are cancelled"});
  for (const auto job : jobs_) static_cast<void>(ask_slurm({"scancel", "--quiet", std::to_string(job)}));
}

Result<void> JobArray::look_at_all(const Look& look, const Looked& looked) {
  for (std::size_t i = 0; i < shares_.size(); ++i)
    if (!shares_[i].complete)
      if (auto seen = look(i + 1, shares_[i]); !seen) return seen;
  return looked(shares_);
}

Result<void> JobArray::follow(const Look& look, const Looked& looked) {
  auto followed = follow_jobs(look, looked);
  if (!followed) cancel();
  return followed;
}

Result<void> JobArray::follow_jobs(const Look& look, const Looked& looked) {
  if (auto seen = look_at_all(look, looked); !seen) return seen;
  bool answers = true;
  std::string waiting;
  for (;; std::this_thread::sleep_for(kPoll)) {
    if (interrupted()) {
      auto seen = look_at_all(look, looked);  // what came since
      if (!seen) return seen;
      return tl::unexpected(Error{"interrupted: --resume goes on", ExitCode::interrupted});
    }
    const auto said = ask_slurm({"squeue", "--me", "-h", "-r", "-t", "all", "-o", "%F|%K|%T|%r"});
    if (!said) return tl::unexpected(said.error());
    // Shares go on without slurmctld: it is waited for, where there are any.
    if (!said->ok && jobs_.empty()) return slurm::submission_error(said->errors);
    if (said->ok != answers) {
      answers = said->ok;
      sink_.on(WarningEvent{answers ? "Slurm answers again"
                                    : "Slurm does not answer, it is waited for: " + printable(said->errors)});
    }
    if (auto seen = look_at_all(look, looked); !seen) return seen;
    if (!answers) continue;
    const auto then = shares_;
    const auto decision =
        slurm::decide(shares_, slurm::parse_queue(said->out, jobs_), std::chrono::steady_clock::now());
    for (std::size_t i = 0; i < shares_.size(); ++i)
      if (const auto& now = shares_[i]; now.word != then[i].word && slurm::is_lost(now))
        sink_.on(WarningEvent{fmt::format("share {}: {} ({}) after {} runs", i + 1, printable(now.word),
                                          printable(now.reason), now.records)});
    for (const auto number : decision.silent)
      sink_.on(WarningEvent{printable(slurm::doubt(number, shares_[number - 1]))});
    if (auto wait = slurm::waiting(shares_); wait != waiting) {
      if (!wait.empty()) sink_.on(StepEvent{printable(wait)});
      waiting = std::move(wait);
    }
    if (decision.given_up) return tl::unexpected(lost(*decision.given_up));
    if (decision.done) return {};
    if (!decision.submit.empty())
      if (auto submitted = submit(decision.submit); !submitted) return submitted;
  }
}

}  // namespace longhaul::orchestrator
