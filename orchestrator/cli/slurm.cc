#include "orchestrator/cli/slurm.hh"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/printable.hh"
#include "common/replace_file.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/merge.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/cli/slurm_command.hh"
#include "orchestrator/slurm/follow.hh"
#include "results/store/store.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::seconds{1};
constexpr std::size_t kTail = 2000;

std::string slurp(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// As many as the partition has processors, and no more than cells.
Result<std::size_t> default_shares(const RunOptions& options, const RunPlan& plan) {
  std::vector<std::string> command{"sinfo", "-h", "-o", "%C"};
  if (!options.slurm.partition.empty()) command.insert(command.end(), {"-p", options.slurm.partition});
  const auto said = ask_slurm(command);
  if (!said) return tl::unexpected(said.error());
  if (!said->ok) return slurm::submission_error(said->errors);
  const auto processors = slurm::processors_of(said->out);
  if (processors == 0)
    return refuse("--slurm: {} has no processors: `sinfo` shows the partitions there are: choose one by --partition",
                  options.slurm.partition.empty() ? "this cluster" : "partition " + options.slurm.partition);
  return std::clamp<std::size_t>(processors, 1, std::max<std::size_t>(plan.cells.size(), 1));
}

/// The campaign's job array, by what is in DIR/slurm.
class Array {
 public:
  Array(const RunOptions& options, const RunPlan& plan, std::size_t shares, Sink& sink)
      : options_(options), plan_(plan), sink_(sink), folder_(fs::absolute(options.out) / "slurm"), shares_(shares) {}

  /// The script, and which jobs there are already.
  Result<void> prepare(bool resume);
  Result<void> follow();
  std::vector<std::string> parts() const;
  std::size_t made() const { return records() - before_; }

 private:
  std::size_t records() const;
  void cancel();
  std::string script() const;
  std::string part(std::size_t number) const;
  void look(std::size_t number);
  Result<void> submit(const std::vector<std::size_t>& tasks);
  std::string log_of(const std::string& task) const;
  Error lost(std::size_t number) const;

  const RunOptions& options_;
  const RunPlan& plan_;
  Sink& sink_;
  fs::path folder_;
  std::vector<slurm::Share> shares_;
  std::vector<std::uint64_t> jobs_;
  Clock::time_point begin_ = Clock::now();
  std::size_t before_ = 0;  // records of earlier sessions
};

std::string Array::part(std::size_t number) const {
  if (options_.store.empty()) return (folder_ / "shares" / std::to_string(number)).string();
  return fmt::format("{}.{}", options_.store, number);
}

std::vector<std::string> Array::parts() const {
  std::vector<std::string> all;
  for (std::size_t number = 1; number <= shares_.size(); ++number) all.push_back(part(number));
  return all;
}

std::size_t Array::records() const {
  std::size_t sum = 0;
  for (const auto& share : shares_) sum += share.records;
  return sum;
}

// One text for all shares: Slurm tells each its number. With a store nothing of a file system is shared: the campaign
// comes in the script, and what a share leaves on its node goes with it.
std::string Array::script() const {
  const auto self = shell_word(fs::read_symlink("/proc/self/exe").string());
  ShareWords words{.campaign = shell_word(fs::absolute(options_.campaign).string()),
                   .share = fmt::format("\"$k/{}\"", shares_.size()),
                   .out = shell_word((folder_ / "shares").string()) + "/\"$k\"",
                   .store = {}};
  if (options_.store.empty())
    return fmt::format("#!/bin/sh\nk=$SLURM_ARRAY_TASK_ID\nexec {} {}\n", self, share_command(options_, words));
  words.campaign = "\"$d/campaign.yaml\"";
  words.out = "\"$d/share\"";
  words.store = shell_word(options_.store + ".") + "\"$k\"";
  return fmt::format(
      "#!/bin/sh\nk=$SLURM_ARRAY_TASK_ID\nd=$(mktemp -d) || exit 1\ntrap 'rm -rf \"$d\"' EXIT\n"
      "printf %s {} >\"$d/campaign.yaml\"\n{} {}\n",
      shell_word(plan_.campaign.file.text), self, share_command(options_, words));
}

Result<void> Array::prepare(bool resume) {
  const auto path = folder_ / "job.sh";
  const auto text = script();
  std::error_code error;
  if (resume && fs::exists(path, error)) {
    if (slurp(path) != text)
      return refuse(
          "{}: the campaign was begun with other options, shares or another place of longhaul: take those, or "
          "another --out",
          path.string());
    std::ifstream known{folder_ / "jobs"};
    for (std::uint64_t job = 0; known >> job;) jobs_.push_back(job);
    return {};
  }
  if (resume) return refuse("{}: no such file: nothing to resume", path.string());
  if (fs::exists(path, error))
    return refuse("{} holds a campaign already; go on with it by --resume, or take another --out", options_.out);
  fs::create_directories(options_.store.empty() ? folder_ / "shares" : folder_, error);
  if (error) return refuse("{}: cannot be made: {}: choose another --out", folder_.string(), error.message());
  return replace_file(path, text, 0755);
}

// What its store has of a share; one that cannot be read now has what it had.
void Array::look(std::size_t number) {
  auto& share = shares_[number - 1];
  const auto store = results::Store::open(part(number), results::OpenMode::read);
  if (!store) return;
  const auto count = store->count();
  if (!count) return;
  share.records = *count;
  const auto manifest = store->manifest();
  share.complete = manifest && manifest->finished != 0;
}

Result<void> Array::submit(const std::vector<std::size_t>& tasks) {
  std::vector<std::string> command{"sbatch",
                                   "--parsable",
                                   "--array=" + slurm::array_of_tasks(tasks),
                                   "--job-name=longhaul-" + plan_.campaign.name,
                                   "--output=" + log_of("%a"),
                                   "--open-mode=append",
                                   "--no-requeue"};  // what was lost is submitted here, at once
  // The folder where sbatch was started may not be on the nodes.
  if (!options_.store.empty()) command.emplace_back("--chdir=/tmp");
  if (!options_.slurm.partition.empty()) command.push_back("--partition=" + options_.slurm.partition);
  command.insert(command.end(), options_.slurm.sbatch.begin(), options_.slurm.sbatch.end());
  command.push_back((folder_ / "job.sh").string());
  const auto said = ask_slurm(command);
  if (!said) return tl::unexpected(said.error());
  if (!said->ok) return slurm::submission_error(said->errors);
  std::uint64_t job = 0;  // "17" or "17;cluster"
  std::from_chars(said->out.data(), said->out.data() + said->out.size(), job);
  if (job == 0) return fail("sbatch said '{}', which is no job's number", said->out);
  jobs_.push_back(job);
  std::string known;
  for (const auto one : jobs_) known += std::to_string(one) + "\n";
  if (auto kept = replace_file(folder_ / "jobs", known); !kept) return kept;
  sink_.on(StepEvent{fmt::format("Slurm job {}: shares {}", job, slurm::array_of_tasks(tasks))});
  return {};
}

// On its node where no folder is shared.
std::string Array::log_of(const std::string& task) const {
  if (options_.store.empty()) return slurm::file_pattern(folder_.string()) + "/" + task + ".log";
  return "/tmp/longhaul-%A_" + task + ".log";
}

Error Array::lost(std::size_t number) const {
  const auto& share = shares_[number - 1];
  auto log = options_.store.empty() ? slurp(folder_ / fmt::format("{}.log", number))
                                    : "(on its node, in " + log_of(std::to_string(number)) + ", %A: the job)";
  if (log.size() > kTail) log.erase(0, log.size() - kTail);
  return {.message = fmt::format(
              "share {} of {} made no run in {} submissions (Slurm's last word: {}, {}); it said:\n{}", number,
              shares_.size(), slurm::kFruitless, share.word.empty() ? "none" : share.word, share.reason, log),
          .exit_code = ExitCode::failure};
}

void Array::cancel() {
  for (const auto job : jobs_) static_cast<void>(ask_slurm({"scancel", "--quiet", std::to_string(job)}));
}

Result<void> Array::follow() {
  for (std::size_t number = 1; number <= shares_.size(); ++number) look(number);
  before_ = records();
  const auto expected = plan_.cells.size() * static_cast<std::size_t>(plan_.campaign.repeat.min);
  sink_.on(StepEvent{fmt::format("{}: {} cells, {} runs at least in {} shares{}", plan_.campaign.name,
                                 plan_.cells.size(), expected, shares_.size(),
                                 before_ > 0 ? fmt::format(", {} are there already", before_) : "")});
  bool answers = true;
  std::size_t told = before_;
  for (;; std::this_thread::sleep_for(kPoll)) {
    if (interrupted()) {
      cancel();
      return tl::unexpected(Error{"interrupted: the jobs are cancelled, --resume goes on", ExitCode::interrupted});
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
    for (std::size_t i = 0; i < shares_.size(); ++i)
      if (!shares_[i].complete) look(i + 1);
    if (const auto all = records(); all != told) {
      const std::chrono::duration<double> since = Clock::now() - begin_;
      const auto left = expected > all ? expected - all : 0;
      sink_.on(StepEvent{fmt::format("{} of {} runs, {:.1f} a minute", all, all + left,
                                     60 * static_cast<double>(all - before_) / since.count())});
      told = all;
    }
    if (!answers) continue;
    const auto then = shares_;
    const auto decision = slurm::decide(shares_, slurm::parse_queue(said->out, jobs_));
    for (std::size_t i = 0; i < shares_.size(); ++i)
      if (const auto& now = shares_[i]; now.word != then[i].word && slurm::is_lost(now))
        sink_.on(WarningEvent{fmt::format("share {}: {} ({}) after {} runs", i + 1, printable(now.word),
                                          printable(now.reason), now.records)});
    if (decision.given_up) {
      cancel();
      return tl::unexpected(lost(*decision.given_up));
    }
    if (decision.done) return {};
    if (!decision.submit.empty())
      if (auto submitted = submit(decision.submit); !submitted) return submitted;
  }
}

}  // namespace

Result<CampaignSession> run_on_slurm(const RunOptions& options, const RunPlan& plan, Sink& sink) {
  const auto begin = Clock::now();
  auto settled = options;
  settled.resume = false;
  // What is there is the campaign as a whole: the first share's file and command are not what makes it again.
  const auto joined = [&]() -> Result<CampaignSession> {
    auto directory = open_directory(destination_of(settled), true, plan.campaign, options.seed);
    if (!directory) return tl::unexpected(directory.error());
    CampaignSession session;
    session.manifest = directory->manifest.value_or(Manifest{});
    session.manifest.command = make_manifest(settled, plan, {session.manifest.testbed}, session.manifest).command;
    session.manifest.campaign_file = options.campaign;
    if (auto kept = directory->store.save_manifest(session.manifest); !kept) return tl::unexpected(kept.error());
    return session;
  };
  if (options.resume && results::holds_store(options.out)) return joined();

  if (!settled.store.empty()) {
    // Shares are called after the campaign.
    const auto address = address_of(destination_of(options));
    if (!address) return tl::unexpected(address.error());
    settled.store = address->url + '#' + address->campaign;
    if (settled.store != address->text())
      return refuse("--store {}: the jobs' script would show its password: put it into ~/.pgpass", address->text());
  }
  if (auto fresh = check_new(destination_of(settled)); !fresh) return tl::unexpected(fresh.error());
  auto shares = options.shares;
  if (shares == 0) {
    auto some = default_shares(options, plan);
    if (!some) return tl::unexpected(some.error());
    shares = *some;
  }
  Array array{settled, plan, shares, sink};
  if (auto prepared = array.prepare(options.resume); !prepared) return tl::unexpected(prepared.error());
  if (auto followed = array.follow(); !followed) return tl::unexpected(followed.error());
  if (auto merged = merge(array.parts(), destination_of(settled)); !merged) return tl::unexpected(merged.error());
  std::error_code ignored;
  fs::remove_all(fs::path{options.out} / "slurm" / "shares", ignored);
  auto session = joined();
  if (!session) return session;
  session->made = static_cast<std::int64_t>(array.made());
  session->manifest.wall = std::chrono::duration_cast<Nanoseconds>(Clock::now() - begin).count();
  return session;
}

}  // namespace longhaul::orchestrator
