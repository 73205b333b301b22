#include "orchestrator/slurm/follow.hh"

#include <algorithm>
#include <map>
#include <set>

#include "orchestrator/slurm/words.hh"

namespace longhaul::orchestrator::slurm {
namespace {

constexpr std::string_view kRunning = "RUNNING";
constexpr std::string_view kCompleting = "COMPLETING";

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TaskState task_state(std::string_view word) {
  if (is_one_of(word,
                {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}))
    return TaskState::waiting;
  if (is_one_of(word, {kRunning, kCompleting, "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}))
    return TaskState::running;
  return TaskState::gone;
}

std::vector<QueueRow> parse_queue(std::string_view text, const std::vector<std::uint64_t>& jobs) {
  std::map<std::size_t, QueueRow> last;
  while (!text.empty()) {
    auto line = cut(text, '\n');
    QueueRow row;
    const auto job = cut(line, '|'), task = cut(line, '|');
    if (!read_number(job, row.job) || !read_number(task, row.task)) continue;
    row.word = cut(line, '|');
    row.reason = line;
    if (std::find(jobs.begin(), jobs.end(), row.job) == jobs.end()) continue;
    auto& known = last[row.task];
    if (known.job <= row.job) known = std::move(row);
  }
  std::vector<QueueRow> rows;
  rows.reserve(last.size());
  for (auto& [task, row] : last) rows.push_back(std::move(row));
  return rows;
}

std::size_t processors_of(std::string_view text) {
  std::size_t most = 0;
  while (!text.empty()) {
    const auto line = cut(text, '\n');
    std::size_t total = 0;
    if (read_number(line.substr(line.rfind('/') + 1), total)) most = std::max(most, total);
  }
  return most;
}

tl::unexpected<Error> submission_error(std::string_view said) {
  const auto words = one_line(said);
  const auto has = [&](std::string_view part) { return words.find(part) != std::string::npos; };
  // Of an account its words name partitions, too.
  if (has("nvalid account") || has("nvalid qos"))
    return refuse(
        "Slurm took no job ({}): `sacctmgr show assoc user=$USER format=account,partition,qos` shows what is yours: "
        "choose by --sbatch=--account=NAME, --sbatch=--qos=NAME",
        words);
  if (has("artition"))
    return refuse("Slurm took no job ({}): `sinfo` shows the partitions there are: choose one by --partition", words);
  if (has("QOS") || has("imit") || has("quota") || has("ssociation"))
    return refuse("Slurm took no job ({}): a limit of your account: fewer --shards, or ask who runs the cluster",
                  words);
  if (has("node configuration"))
    return refuse("Slurm took no job ({}): no node has what --sbatch asks for: `sinfo -N -l` shows what they have",
                  words);
  if (has("unge")) return fail("Slurm took no job ({}): {}", words, kCheckMunge);
  if (has("contact") || has("onfiguration") || has("onnection refused") || has("fetch"))
    return fail("Slurm took no job ({}): {}", words, kCheckController);
  return fail("Slurm took no job: {}", words);
}

Decision decide(std::vector<Share>& shares, const std::vector<QueueRow>& queue, Instant now) {
  Decision decision{.submit = {}, .silent = {}, .given_up = {}, .done = true};
  std::vector<TaskState> states(shares.size(), TaskState::gone);
  for (const auto& row : queue) {
    if (row.task < 1 || row.task > shares.size()) continue;
    auto& share = shares[row.task - 1];
    states[row.task - 1] = task_state(row.word);
    if (share.job != row.job || share.word != row.word || share.records != share.records_heard) {
      share.heard = now;
      share.doubted = false;
    }
    share.job = row.job;
    share.word = row.word;
    share.reason = row.reason;
    share.records_heard = share.records;
    if (share.complete || now - share.heard < kSilence) continue;
    if (row.word == kCompleting) states[row.task - 1] = TaskState::gone;
    if ((row.word == kCompleting || row.word == kRunning) && !share.doubted) decision.silent.push_back(row.task);
    share.doubted = true;
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    auto& share = shares[i];
    // Its store's word counts: a controller that was killed may take a task for running long after its end.
    if (share.complete) continue;
    decision.done = false;
    if (states[i] != TaskState::gone) {
      // Of an earlier session, perhaps.
      if (!share.submitted) share.records_then = share.records;
      share.submitted = true;
      share.seen_gone = 0;
      continue;
    }
    if (share.submitted && ++share.seen_gone < kSeenGone) continue;
    if (share.submitted) share.fruitless = share.records > share.records_then ? 0 : share.fruitless + 1;
    if (share.fruitless >= kFruitless) {
      if (!decision.given_up) decision.given_up = i + 1;
      continue;
    }
    share.submitted = true;
    share.seen_gone = 0;
    share.records_then = share.records;
    decision.submit.push_back(i + 1);
  }
  return decision;
}

std::string doubt(std::size_t number, const Share& share) {
  const auto words = fmt::format("share {}: nothing came of it for {} min, in which Slurm says {}", number,
                                 kSilence / std::chrono::minutes{1}, share.word);
  if (share.word == kCompleting) return words + ": its node does not answer, so it is taken for gone";
  return fmt::format("{}; where its node is lost, `scancel {}_{}` lets it be submitted again", words, share.job,
                     number);
}

bool is_lost(const Share& share) {
  return !share.complete && !share.word.empty() && task_state(share.word) == TaskState::gone;
}

std::string waiting(const std::vector<Share>& shares) {
  std::vector<std::size_t> tasks;
  std::set<std::string> reasons;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i].complete || shares[i].word.empty()) continue;
    const auto state = task_state(shares[i].word);
    if (state == TaskState::running) return {};
    if (state != TaskState::waiting || shares[i].reason == "None") continue;
    tasks.push_back(i + 1);
    reasons.insert(shares[i].reason);
  }
  if (tasks.empty()) return {};
  return fmt::format("shares {} wait: {}", array_of_tasks(tasks), fmt::join(reasons, ", "));
}

std::string file_pattern(std::string_view path) {
  std::string pattern;
  for (const char c : path) pattern += c == '%' ? "%%" : std::string{c};
  return pattern;
}

std::string array_of_tasks(const std::vector<std::size_t>& tasks) {
  std::string text;
  for (std::size_t i = 0; i < tasks.size();) {
    std::size_t last = i;
    while (last + 1 < tasks.size() && tasks[last + 1] == tasks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? std::to_string(tasks[i]) : fmt::format("{}-{}", tasks[i], tasks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace longhaul::orchestrator::slurm
