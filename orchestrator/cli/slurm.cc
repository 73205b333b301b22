#include "orchestrator/cli/slurm.hh"

#include <chrono>
#include <filesystem>
#include <map>

#include "orchestrator/cli/merge.hh"
#include "orchestrator/cli/sealed.hh"
#include "orchestrator/cli/slurm_array.hh"
#include "results/store/store.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The campaign's shares, and the campaign that grows from them.
class Shares {
 public:
  Shares(const RunOptions& options, const RunPlan& plan, std::size_t shares, Sink& sink)
      : options_(options), plan_(plan), sink_(sink), folder_(fs::absolute(options.out) / "slurm"), count_(shares) {}

  ArrayOptions array() const;
  /// Takes what a share has by now.
  Result<void> look(std::size_t number, slurm::Share& share);
  /// Keeps what all have together.
  Result<void> looked(const std::vector<slurm::Share>& shares);
  /// All are complete.
  Result<void> finish();
  /// Runs that this session saw come.
  std::size_t made() const { return told_.value_or(before_) - before_; }
  /// None: nothing has come yet.
  bool empty() const { return !store_; }
  Manifest manifest() const;

 private:
  std::string script() const;
  std::string part(std::size_t number) const;
  Result<void> open();
  Result<RunRecord> kept(const std::string& run_id);
  void tell(std::size_t records);

  const RunOptions& options_;
  const RunPlan& plan_;
  Sink& sink_;
  fs::path folder_;
  std::size_t count_;
  Joining joining_;
  std::optional<results::Store> store_;    // from the first record on
  std::map<std::string, RunRecord> kept_;  // as far as they were needed
  bool changed_ = false;
  Clock::time_point begin_ = Clock::now();
  std::size_t before_ = 0;           // records of earlier sessions
  std::optional<std::size_t> told_;  // records
};

std::string Shares::part(std::size_t number) const {
  if (options_.store.empty()) return (folder_ / "shares" / std::to_string(number)).string();
  return fmt::format("{}.{}", options_.store, number);
}

// One text for all shares: Slurm tells each its number. With a store nothing of a file system is shared: the campaign
// comes in the script, and what a share leaves on its node goes with it.
std::string Shares::script() const {
  const auto self = shell_word(fs::read_symlink("/proc/self/exe").string());
  ShareWords words{.campaign = shell_word(fs::absolute(options_.campaign).string()),
                   .share = fmt::format("\"$k/{}\"", count_),
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

ArrayOptions Shares::array() const {
  return {.name = "longhaul-" + plan_.campaign.name,
          .folder = folder_,
          .script = script(),
          .tasks = count_,
          .shared = options_.store.empty(),
          .slurm = options_.slurm};
}

// A run of an earlier session, or of another share: what has come since is read then.
Result<RunRecord> Shares::kept(const std::string& run_id) {
  if (!kept_.contains(run_id)) {
    auto runs = store_->runs();
    if (!runs) return tl::unexpected(runs.error());
    for (auto& run : *runs) kept_.insert_or_assign(run.run_id, std::move(run));
  }
  return kept_.at(run_id);
}

// What an earlier session has left is known.
Result<void> Shares::open() {
  auto store = open_store(destination_of(options_), results::OpenMode::resume);
  if (!store) store = open_store(destination_of(options_), results::OpenMode::create);
  if (!store) return tl::unexpected(store.error());
  const auto index = store->index();
  if (!index) return tl::unexpected(index.error());
  for (const auto& run : *index) joining_.knows(run.run_id, run.cell_id);
  store_.emplace(std::move(*store));
  return {};
}

Result<void> Shares::look(std::size_t number, slurm::Share& share) {
  // One that has not begun, or cannot be read now, has what it had.
  const auto store = results::Store::open(part(number), results::OpenMode::read);
  if (!store) return {};
  const auto manifest = store->manifest();
  const auto count = store->count();
  if (!manifest || !count || (*count == share.records && manifest->finished == 0)) return {};
  auto portion = read_portion(*store, share.records);
  if (!portion) return {};
  if (!store_)
    if (auto opened = open(); !opened) return opened;
  const auto records = portion->runs.size();
  const bool finished = portion->manifest.finished != 0;
  for (const auto& [digest, one] : portion->facts)
    if (auto added = store_->add_facts(digest, one); !added) return added;
  const auto fresh =
      joining_.add(part(number), std::move(*portion), [this](const std::string& run) { return kept(run); });
  if (!fresh) return tl::unexpected(fresh.error());
  for (const auto& run : *fresh)
    if (auto added = store_->add_run(run); !added) return added;
  share.records += records;
  share.complete = finished;
  changed_ = true;
  return {};
}

// What is there is the campaign as a whole: the first share's file and command are not what makes it again.
Manifest Shares::manifest() const {
  auto manifest = joining_.manifest();
  manifest.command = make_manifest(options_, plan_, {manifest.testbed}, manifest).command;
  manifest.campaign_file = options_.campaign;
  return manifest;
}

void Shares::tell(std::size_t records) {
  const auto expected = plan_.cells.size() * static_cast<std::size_t>(plan_.campaign.repeat.min);
  if (!told_) {
    before_ = records;
    sink_.on(
        StepEvent{fmt::format("{}: {} cells, {} runs at least in {} shares{}", plan_.campaign.name, plan_.cells.size(),
                              expected, count_, before_ > 0 ? fmt::format(", {} are there already", before_) : "")});
  } else if (*told_ != records) {
    const std::chrono::duration<double> since = Clock::now() - begin_;
    sink_.on(StepEvent{fmt::format("{} of {} runs, {:.1f} a minute", records, std::max(expected, records),
                                   60 * static_cast<double>(records - before_) / since.count())});
  }
  told_ = records;
}

Result<void> Shares::looked(const std::vector<slurm::Share>& shares) {
  std::size_t records = 0;
  for (const auto& share : shares) records += share.records;
  tell(records);
  if (!std::exchange(changed_, false)) return {};
  auto manifest = this->manifest();
  manifest.finished = 0;
  return store_->save_manifest(manifest);
}

Result<void> Shares::finish() {
  if (auto saved = store_->save_manifest(manifest()); !saved) return saved;
  std::error_code ignored;
  fs::remove_all(folder_ / "shares", ignored);
  return {};
}

}  // namespace

Result<CampaignSession> run_on_slurm(const RunOptions& options, const RunPlan& plan, Sink& sink) {
  const auto begin = Clock::now();
  auto settled = options;
  if (!settled.store.empty()) {
    // Shares are called after the campaign.
    const auto address = address_of(destination_of(options));
    if (!address) return tl::unexpected(address.error());
    settled.store = address->url + '#' + address->campaign;
    if (settled.store != address->text())
      return refuse("--store {}: the jobs' script would show its password: put it into ~/.pgpass", address->text());
  }
  if (!options.resume) {
    if (auto fresh = check_new(destination_of(options)); !fresh) return tl::unexpected(fresh.error());
  } else if (const auto earlier = results::Store::open(options.out, results::OpenMode::read)) {
    // Without a manifest it was killed before the first share was joined.
    if (const auto manifest = earlier->manifest()) {
      if (auto same = check_resume(*manifest, plan.campaign.file.text, options.seed, {}); !same)
        return refuse("{}: {}", options.out, same.error().message);
      if (manifest->finished != 0)
        return CampaignSession{.outcome = {}, .made = 0, .manifest = *manifest, .consoles = {}};
    }
  }
  auto count = options.shares;
  if (count == 0) {
    auto some = default_tasks(options.slurm, plan.cells.size());
    if (!some) return tl::unexpected(some.error());
    count = *some;
  }
  Shares shares{settled, plan, count, sink};
  JobArray array{shares.array(), sink};
  if (auto prepared = array.prepare(options.resume); !prepared) return tl::unexpected(prepared.error());
  CampaignSession session;
  session.outcome = array.follow([&](std::size_t number, slurm::Share& share) { return shares.look(number, share); },
                                 [&](const std::vector<slurm::Share>& all) { return shares.looked(all); });
  if (session.outcome) session.outcome = shares.finish();
  if (!session.outcome && shares.empty()) return tl::unexpected(session.outcome.error());
  session.made = static_cast<std::int64_t>(shares.made());
  session.manifest = shares.manifest();
  session.manifest.wall = std::chrono::duration_cast<Nanoseconds>(Clock::now() - begin).count();
  return session;
}

}  // namespace longhaul::orchestrator
