// longhaul-agent: describes its node, runs workloads for controllers, passes impairments on to degen.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <thread>

#include "agents/affinity.hh"
#include "agents/agent.hh"
#include "agents/enrolment.hh"
#include "agents/facts_table.hh"
#include "agents/limits.hh"
#include "common/address.hh"
#include "common/command_line.hh"
#include "common/log.hh"
#include "common/sanitized.hh"
#include "common/version.hh"
#include "common/watchdog.hh"
#include "observe/facts.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::agents {
namespace {

constexpr const char* kExamples = R"(Examples:
  longhaul-agent --node client --listen 0.0.0.0:7471 --ca ca.pem --cert agent-client.pem --key agent-client.key
  longhaul-agent --node router --listen 10.0.0.9:7471 --ca ca.pem --cert agent-router.pem --key agent-router.key --degen /run/degen/degen.sock
  longhaul-agent --node a --listen :7471 --ca ca.pem --cert agent-a.pem --key agent-a.key --audit /var/log/longhaul/audit.jsonl --limit-time 10min --limit-memory 4GiB
  srun --jobid 17 -w n1 -N1 -n1 longhaul-agent --enrol --node n1      as longhaul run --inventory slurm:17 starts it
  longhaul-agent --facts            what a controller would learn about this node
  longhaul-agent --facts --json

Certificates come from `longhaul pki init` and `longhaul pki issue`. A crl.pem beside the CA's file is honoured, and
missed when it goes: nobody is let in then. The agent needs no privileges; it stops on SIGTERM and takes what it started with
it. SIGHUP has it begin a new audit file where the old one was moved away. What a workload may use is limited;
`none` takes a limit away.)";

struct Options {
  std::string node;
  std::string listen;
  std::string cpus;
  std::string memory, locked, cpu, time;  ///< limits
  bool enrol = false;
  bool facts = false;
  bool json = false;
  AgentOptions agent;
};

/// "HOST:PORT", "[IPv6]:PORT", ":PORT" (everywhere).
Result<void> read_endpoint(const std::string& text, AgentOptions& options) {
  auto at = parse_host_port(text.starts_with(':') ? "0.0.0.0" + text : text, {}, 0);
  if (!at) return refuse("--listen: expected HOST:PORT such as 0.0.0.0:7471, got '{}'", text);
  options.host = std::move(at->host);
  options.port = at->port;
  return {};
}

/// The bench beside this program, where none is named.
std::string default_bench() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "longhaul-bench" : (self.parent_path() / "longhaul-bench").string();
}

Result<ProcessLimits> read_limits(const Options& options) {
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  auto limits = default_limits(observe::memory_bytes(), processors);
  if (kSanitized) limits.memory.reset();  // a shadow is larger than any node's memory
  const auto read = [](const char* name, const std::string& text, Kind kind, auto& into) -> Result<void> {
    if (text.empty()) return {};
    const auto value = parse_limit(kind, text);
    if (!value) return refuse("{}: {}", name, value.error().message);
    into.reset();
    if (*value) into.emplace(**value);
    return {};
  };
  if (auto ok = read("--limit-memory", options.memory, Kind::size, limits.memory); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = read("--limit-locked", options.locked, Kind::size, limits.locked); !ok)
    return tl::unexpected(ok.error());
  if (auto ok = read("--limit-time", options.time, Kind::duration, limits.time); !ok) return tl::unexpected(ok.error());
  if (!options.time.empty()) limits.cpu = limits.time ? std::optional{*limits.time * processors} : std::nullopt;
  if (auto ok = read("--limit-cpu", options.cpu, Kind::duration, limits.cpu); !ok) return tl::unexpected(ok.error());
  // The agent's own holds anyway, and then is what a workload that meets it is told.
  if (const auto own = observe::locked_bytes(); own && (!limits.locked || *own < *limits.locked)) limits.locked = own;
  return limits;
}

/// Tells the service manager that the loop that serves controllers turns.
class Pulse {
 public:
  explicit Pulse(boost::asio::io_context& context) : timer_(context) {
    if (watchdog_) beat();
  }
  /// Lets the io_context run out of work.
  void stop() {
    stopped_ = true;
    timer_.cancel();
  }

 private:
  /// The unit's WatchdogSec= is several times as long.
  static constexpr std::chrono::seconds kInterval{2};

  void beat() {
    watchdog_.beat();
    timer_.expires_after(kInterval);
    timer_.async_wait([this](auto error) {
      if (!error && !stopped_) beat();
    });
  }

  Watchdog watchdog_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
};

Result<void> serve(Options options) {
  if (auto ok = read_endpoint(options.listen, options.agent); !ok) return ok;
  if (!options.cpus.empty()) {
    auto cpus = parse_cpu_list(options.cpus);
    if (!cpus) return refuse("--cpus: {}", cpus.error().message);
    options.agent.cpus = std::move(*cpus);
    const ScopedAffinity possible{options.agent.cpus};  // says so now, not at the first run
  }
  auto limits = read_limits(options);
  if (!limits) return tl::unexpected(limits.error());
  options.agent.limits = *limits;
  if (options.agent.bench.empty()) options.agent.bench = default_bench();
  if (::access(options.agent.bench.c_str(), X_OK) != 0)
    return refuse("--bench: {}: {}", options.agent.bench, errno_text(errno));

  constexpr EnrolmentEnds kStarter{};
  std::optional<MemoryCredentials> given;
  if (options.enrol) {
    auto credentials = enrol(kStarter, options.node);
    if (!credentials) return tl::unexpected(credentials.error());
    given = std::move(*credentials);
    options.agent.credentials = given->credentials();
  }

  boost::asio::io_context context{1};
  auto agent = Agent::open(context, options.agent, workloads::catalog());
  if (!agent) return tl::unexpected(agent.error());
  if ((*agent)->name() != options.node)
    return refuse("--node {}: the certificate {} is that of '{}'", options.node, options.agent.credentials.cert,
                  (*agent)->name());
  boost::asio::signal_set hang_up{context};
  boost::asio::signal_set signals{context, SIGINT, SIGTERM};
  Pulse pulse{context};
  std::optional<EnrolmentWatch> starter;
  const auto end = [&] {
    (*agent)->close();
    hang_up.cancel();
    signals.cancel();
    pulse.stop();
    if (starter) starter->stop();
  };
  signals.async_wait([&](auto error, int) {
    if (!error) end();
  });
  // Whoever started it wants it no longer, or is dead.
  if (options.enrol) starter.emplace(context, kStarter, end);
  std::function<void()> reopen = [&] {
    hang_up.async_wait([&](auto error, int) {
      if (error) return;
      (*agent)->reopen_audit();
      reopen();
    });
  };
  // Without a log to begin anew a terminal that is closed ends the agent, as it does other programs.
  if (!options.agent.audit.empty()) {
    hang_up.add(SIGHUP);
    reopen();
  }
  log::info("agent {} listening on {} port {} ({})", options.node, options.agent.host, (*agent)->port(),
            version_text());
  if (options.enrol) say_ready(kStarter, (*agent)->port());
  context.run();
  return {};
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"longhaul-agent: describes its node, runs workloads for controllers, passes impairments on to degen",
               "longhaul-agent"};
  app.footer(kExamples);
  app.set_version_flag("--version", version_text());
  app.add_flag("--facts", options.facts, "print what a controller would learn about this node, and exit");
  app.add_flag("--json", options.json, "with --facts: one JSON document");
  app.add_option("--node", options.node, "this node's name, as in its certificate");
  app.add_option("--listen", options.listen,
                 "HOST:PORT for controllers; port 0 takes a free one, which --enrol does without it");
  app.add_flag("--enrol", options.enrol,
               "have no certificate: ask for one on standard output, take it from standard input, and end with that "
               "(docs/slurm.md)");
  app.add_option("--ca", options.agent.credentials.ca, "the testbed's CA certificate (PEM)");
  app.add_option("--cert", options.agent.credentials.cert, "this agent's certificate (PEM)");
  app.add_option("--key", options.agent.credentials.key, "this agent's key (PEM, mode 0600)");
  app.add_option("--bench", options.agent.bench, "path of longhaul-bench; default: beside this program");
  app.add_option("--degen", options.agent.degen_socket, "socket of this node's degen; a router has one");
  app.add_option("--cpus", options.cpus, "processors for workloads, such as 0,2-3; default: all");
  app.add_option("--audit", options.agent.audit, "append who ran what to this file, one JSON document a line");
  app.add_option("--limit-memory", options.memory, "of a workload process; default: all but a sixteenth of the node's")
      ->type_name("SIZE|none");
  app.add_option("--limit-locked", options.locked, "memory that it may lock or register; default: the same")
      ->type_name("SIZE|none");
  app.add_option("--limit-time", options.time, "from its start; default: 1 h")->type_name("TIME|none");
  app.add_option("--limit-cpu", options.cpu, "processor time of its threads; default: limit-time on every processor")
      ->type_name("TIME|none");
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  if (options.facts) {
    const auto facts = observe::node_facts();
    fmt::print("{}\n", options.json ? to_json(facts) : facts_table(facts));
    return 0;
  }
  const std::pair<const char*, const std::string*> files[] = {{"--ca", &options.agent.credentials.ca},
                                                              {"--cert", &options.agent.credentials.cert},
                                                              {"--key", &options.agent.credentials.key}};
  if (options.enrol) {
    if (options.listen.empty()) options.listen = ":0";
    for (const auto& [name, value] : files) {
      if (value->empty()) continue;
      fmt::print(stderr, "longhaul-agent: --enrol with {}: it asks for its credentials; leave one of them out\n", name);
      return static_cast<int>(ExitCode::usage);
    }
  }
  std::vector<std::pair<const char*, const std::string*>> required{{"--node", &options.node},
                                                                   {"--listen", &options.listen}};
  if (!options.enrol) required.insert(required.end(), std::begin(files), std::end(files));
  for (const auto& [name, value] : required) {
    if (!value->empty()) continue;
    fmt::print(stderr, "longhaul-agent: {} is required (see --help)\n", name);
    return static_cast<int>(ExitCode::usage);
  }
  const auto served = serve(std::move(options));
  if (served) return 0;
  fmt::print(stderr, "longhaul-agent: {}\n", served.error().message);
  return static_cast<int>(served.error().exit_code);
}

}  // namespace
}  // namespace longhaul::agents

int main(int argc, char** argv) {
  try {
    longhaul::log_to_stderr("longhaul-agent", longhaul::LogLine::is_dropped);
    return longhaul::agents::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "longhaul-agent: {}\n", error.what());
    return static_cast<int>(longhaul::ExitCode::failure);
  }
}
