#include "orchestrator/cli/job_agents.hh"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "agents/identity/pki.hh"
#include "agents/protocol/enrolment.hh"
#include "common/child.hh"
#include "common/line_reader.hh"
#include "common/memory_file.hh"
#include "common/printable.hh"
#include "common/scratch_folder.hh"
#include "common/version.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/inventory.hh"
#include "orchestrator/cli/slurm_command.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{60};  // a site's prologue may take its time
constexpr std::chrono::milliseconds kLineGlance{100};
constexpr std::chrono::seconds kEnding{5};
constexpr std::size_t kLastWords = 1000;
constexpr int kLooks = 10;
constexpr std::chrono::milliseconds kBetweenLooks{300};
// Longer than a job; nobody has the authority's key when the agents are there.
constexpr auto kJobLifetime = std::chrono::hours{24 * 30};

std::string last_words(const OwnFd& file) {
  auto text = file_content(file.get());
  if (text.size() > kLastWords) text.erase(0, text.size() - kLastWords);
  text.erase(text.find_last_not_of('\n') + 1);
  return printable(text);
}

// Of a job whose agents are gone, to go on with a sentence; empty: it runs.
std::string word_of_the_end(std::uint64_t job) {
  for (int look = 1;; ++look) {
    const auto now = ask_for_job(std::to_string(job));
    if (!now || now->running()) return {};
    if (now->word == "COMPLETING" && look < kLooks) {  // what comes after it says why
      std::this_thread::sleep_for(kBetweenLooks);
      continue;
    }
    return fmt::format(" (job {} has ended: {}, {}; --resume goes on in another job on the same nodes)", job,
                       printable(now->word), printable(now->reason));
  }
}

}  // namespace

struct JobAgents::Started {
  Started(const slurm::Allocation& job, const std::string& name, const std::string& agent) : node(name) {
    auto in = make_pipe(), out = make_pipe();
    said = memory_file("srun");
    srun = Child{{.arguments = slurm::agent_command(job.job, node, agent),
                  .descriptors = {{in.read_end.get(), STDIN_FILENO},
                                  {out.write_end.get(), STDOUT_FILENO},
                                  {said.get(), STDERR_FILENO}},
                  .new_process_group = true}};
    input = std::move(in.write_end);
    output = std::move(out.read_end);
    lines = LineReader{output.get(), agents::kLongestEnrolment};
  }

  tl::unexpected<Error> error(const std::string& what) const {
    const auto words = last_words(said);
    return fail("the agent of node {} {}{}", node, what, words.empty() ? "" : "; last it said:\n" + words);
  }

  // Its next word.
  template <typename Parse>
  auto hear(Parse parse, Clock::time_point deadline) -> decltype(parse(std::string_view{})) {
    for (;;) {
      if (interrupted()) return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
      const auto line = lines.next(kLineGlance);
      if (!line) return error(srun_ended());
      if (!*line || !agents::is_enrolment(**line)) {
        if (Clock::now() > deadline) return error(fmt::format("was not there within {} s", kPatience.count()));
        continue;
      }
      auto word = parse(**line);
      if (!word)
        return error(fmt::format("said what this longhaul ({}) does not understand: {}", version_text(),
                                 printable(word.error().message)));
      return word;
    }
  }

  std::string srun_ended() {
    const auto end = srun.wait(kEnding);
    return end ? "has ended, srun by " + end->text() : "has closed its output";
  }

  std::string node;
  OwnFd said;   // its complaints, and srun's
  OwnFd input;  // it lives as long as this is open
  OwnFd output;
  Child srun;
  LineReader lines{-1};
};

JobAgents::JobAgents(slurm::Allocation job) : job_(std::move(job)) {}

JobAgents::~JobAgents() {
  for (auto& one : started_) one.input.reset();
  const auto deadline = Clock::now() + kEnding;
  for (auto& one : started_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (!one.srun.wait(std::max(left, std::chrono::milliseconds{0}))) one.srun.terminate();
  }
}

Result<std::unique_ptr<JobAgents>> JobAgents::start(const slurm::Allocation& job,
                                                    const std::vector<slurm::JobNode>& nodes) {
  std::unique_ptr<JobAgents> all{new JobAgents{job}};
  const auto agent = (fs::read_symlink("/proc/self/exe").parent_path() / "longhaul-agent").string();
  try {
    for (const auto& node : nodes) all->started_.emplace_back(job, node.name, agent);
  } catch (const std::system_error& error) {
    return refuse("Slurm's srun cannot be started ({}): install slurm-client", error.code().message());
  }
  if (auto enrolled = all->enrol(); !enrolled) return tl::unexpected(enrolled.error());
  return all;
}

Result<void> JobAgents::enrol() {
  const ScratchFolder scratch{"longhaul-pki"};  // while certificates are made, no longer
  const auto folder = scratch.path() / "pki";
  const agents::Validity validity{.lifetime = kJobLifetime};
  if (auto made = agents::pki_init(folder, fmt::format("longhaul job {}", job_.job), validity); !made) return made;
  const auto ca = read_file((folder / "ca.pem").string());
  if (!ca) return tl::unexpected(ca.error());
  const auto pair = agents::make_key_pair();
  const auto own = agents::pki_certify(folder, {.role = agents::PeerRole::controller, .name = "longhaul"},
                                       pair.public_key, validity);
  if (!own) return tl::unexpected(own.error());
  own_.emplace(*ca, *own, pair.key);

  const auto deadline = Clock::now() + kPatience;
  for (auto& one : started_) {
    auto request = one.hear(agents::enrolment_request_from_json, deadline);
    if (!request) return tl::unexpected(request.error());
    if (request->node != one.node) return one.error("is called " + printable(request->node));
    const auto cert =
        agents::pki_certify(folder, {.role = agents::PeerRole::agent, .name = one.node}, request->public_key, validity);
    if (!cert) return one.error("wants a certificate for " + cert.error().message);
    try {
      write_all(one.input.get(), to_json(agents::EnrolmentGrant{.ca = *ca, .cert = *cert}) + "\n",
                "answering an agent");
    } catch (const std::system_error&) {
      return one.error(one.srun_ended());
    }
    facts_.emplace(one.node, std::move(request->facts));
  }
  for (auto& one : started_) {
    const auto ready = one.hear(agents::enrolment_ready_from_json, deadline);
    if (!ready) return tl::unexpected(ready.error());
    ports_.emplace(one.node, ready->port);
  }
  return {};
}

std::string JobAgents::ended() {
  for (auto& one : started_)
    if (const auto end = one.srun.poll())
      return one.error(fmt::format("has ended, srun by {}{}", end->text(), word_of_the_end(job_.job))).value().message;
  return {};
}

bool JobAgents::lost_in_running_job() {
  const bool lost = std::any_of(started_.begin(), started_.end(), [](Started& one) { return one.srun.poll(); });
  return lost && word_of_the_end(job_.job).empty();
}

}  // namespace longhaul::orchestrator
