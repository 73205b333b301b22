// longhaul-bench: the workloads, by hand or under an agent.
#include <poll.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>

#include "common/command_line.hh"
#include "common/log.hh"
#include "common/printable.hh"
#include "common/version.hh"
#include "observe/probe.hh"
#include "workloads/bench/options.hh"
#include "workloads/bench/print.hh"
#include "workloads/bench/probe.hh"
#include "workloads/bench/simulate.hh"
#include "workloads/harness/admission.hh"
#include "workloads/harness/client.hh"
#include "workloads/harness/runner.hh"
#include "workloads/harness/server.hh"
#include "workloads/suite/catalog.hh"
#include "workloads/suite/rpc_attack/run.hh"
#include "workloads/suite/runners.hh"

namespace longhaul::workloads {
namespace {

constexpr const char* kExamples = R"(
Examples:
  server:  longhaul-bench latency --listen --token WORD
  client:  longhaul-bench latency --connect 10.20.0.1 --token WORD --transport tcp
           longhaul-bench latency --connect 10.20.0.1 --token WORD --transport rdma --device rxe0 --op send --size 1KiB
  The client tells the server everything else: its options need not be repeated there.
  Without a token a server listens for its own machine only; with --open anyone is served.
)";
constexpr const char* kExitCodes =
    "Exit codes: 0 good, 1 failed (also: unsupported here), 2 wrong options, 130 interrupted.";

// The end of --help.
std::string footer_of(const WorkloadSpec& spec) {
  if (!is_local(spec)) return std::string{kExamples} + kExitCodes;
  const auto* device = spec.transports.empty() ? "" : " --device rxe0";
  return fmt::format("\nExample:\n  longhaul-bench {}{}\n  It has no other end: it runs here alone.\n{}", spec.name,
                     device, kExitCodes);
}

constexpr std::size_t kLongestName = 300;  // bytes of HOST:PORT

// Options of a command about its ends; a local one has only this end.
struct Ends {
  bool listen = false;
  std::string connect;
  std::string bind;
  std::string device;
  std::string transport;
  std::uint16_t port = kDefaultPort;
  std::string token;
  bool open = false;
  bool once = false;
  bool under_test = false;
  bool json = false;

  void add_to(CLI::App& app) {
    auto* listening = app.add_flag("--listen", listen, "be the server: serve one client after another until Ctrl-C");
    auto* connecting = app.add_option("--connect", connect,
                                      "be the client of this server; -: of the one that a line of standard input names")
                           ->type_name("HOST[:PORT]|-");
    listening->excludes(connecting);
    auto* secret = app.add_option("--token", token, "a word that both ends are given: the server serves nobody else")
                       ->type_name("WORD")
                       ->envname(kTokenVariable);
    app.add_flag("--open", open, "serve anyone who reaches this address, without a token (server)")
        ->needs(listening)
        ->excludes(secret);
    add_bind_to(app);
    add_json_to(app);
  }
  void add_bind_to(CLI::App& app) {
    app.add_option("--bind", bind, "this end's address: which interface the traffic uses")->type_name("ADDRESS");
  }
  void add_json_to(CLI::App& app) { app.add_flag("--json", json, "print one JSON document"); }
  void add_transport_to(CLI::App& app, const WorkloadSpec& spec) {
    app.add_option("--transport", transport,
                   is_local(spec) ? "what it is measured with" : "what moves the data (client)")
        ->type_name(fmt::format("{}", fmt::join(spec.transports, "|")))
        ->check(CLI::IsMember(spec.transports));
    app.add_option("--device", device, "RDMA device, or network interface for tcp, that must be used")
        ->type_name("NAME");
  }
};

int finish(const RunFailure& failure, bool json) {
  if (json) fmt::print("{}\n", error_document(failure));
  fmt::print(stderr, "longhaul-bench: {}{}\n", failure.status == Status::unsupported ? "unsupported: " : "",
             printable(failure.message));
  return static_cast<int>(failure.exit_code);
}

int refuse_usage(const std::string& message, const Ends& ends, Events& events) {
  events.emit(BenchEventKind::failed, message);
  return finish({Status::failed, message, ExitCode::usage}, ends.json);
}

int run_server(const Ends& ends, Events& events, int stop) {
  if (ends.under_test) rpc_attack::allow();
  const auto admission = admission_of(ends.token, ends.open);
  auto server = Server::open({ends.bind, ends.port, ends.device, admission}, runners());
  if (!server) {
    events.emit(BenchEventKind::failed, server.error().message);
    return finish(server.error(), ends.json);
  }
  BenchEvent ready;
  ready.kind = BenchEventKind::ready;
  ready.port = server->port();
  events.emit(std::move(ready));
  if (!events && !ends.json) {
    fmt::print("longhaul-bench: serving at {}{}; end with Ctrl-C\n", server->address(), describe(admission));
    std::fflush(stdout);
  }
  // A supervisor starts one process for one run.
  const bool once = ends.once || events;
  for (;;) {
    const auto served = server->serve_one(events, stop);
    if (!served) {
      if (once) return finish(served.error(), ends.json);
      fmt::print(stderr, "longhaul-bench: a client was not served: {}\n", printable(served.error().message));
    } else if (ends.json) {
      fmt::print("{}\n", to_json(served->record));
    } else if (!events) {
      fmt::print("served {}: {}", served->peer, describe_transport(served->record));
    }
    std::fflush(stdout);
    if (once) return 0;
  }
}

// "HOST:PORT", and where somebody knows it " OFFSET ERROR": the server's clock less ours, ns.
struct NamedServer {
  HostPort at;
  std::optional<PeerClock> clock;
};

Result<NamedServer> parse_server(const std::string& line) {
  const auto end = line.find(' ');
  auto at = parse_host_port(line.substr(0, end));
  if (!at) return tl::unexpected(at.error());
  NamedServer server{std::move(*at), {}};
  if (end == std::string::npos) return server;
  std::int64_t offset = 0;
  std::int64_t error = 0;
  std::istringstream words{line.substr(end)};
  if (!(words >> offset >> error) || error < 0 || words.rdbuf()->in_avail() != 0)
    return refuse("'{}': expected HOST:PORT, or HOST:PORT OFFSET ERROR of its clock in ns", line);
  server.clock = PeerClock{Nanoseconds{offset}, Nanoseconds{error}};
  return server;
}

// Whoever starts a client before its server writes where that is, later: the start is no part of the wait for it.
Attempt<std::string> server_named(const std::string& connect, int stop) {
  if (connect != "-") return connect;
  std::string line;
  char byte = 0;
  while (byte != '\n') {
    (void)wait_for(STDIN_FILENO, POLLIN, {observe::RawTime::max(), stop});
    const auto got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return wrong_input("--connect -: standard input ended before a line named the server (HOST:PORT)");
    if (byte != '\n') line += byte;
    if (line.size() > kLongestName) return wrong_input("--connect -: a line of more than {} bytes", kLongestName);
  }
  return line;
}

int run_client(const WorkloadSpec& spec, const Ends& ends, Parameters parameters, Events& events, int stop) {
  const auto named = server_named(ends.connect, stop);
  if (!named) {
    events.emit(BenchEventKind::failed, named.error().message);
    return finish(named.error(), ends.json);
  }
  const auto server = parse_server(*named);
  if (!server) return refuse_usage("--connect " + server.error().message, ends, events);
  if (ends.transport.empty())
    return refuse_usage(fmt::format("--transport is missing: give one of {}", fmt::join(spec.transports, ", ")), ends,
                        events);
  ClientOptions options{.server = server->at,
                        .transport = ends.transport,
                        .bind = ends.bind,
                        .device = ends.device,
                        .parameters = std::move(parameters),
                        .clock = server->clock,
                        .token = token_of(ends.token)};
  const auto result = workloads::run_client(options, spec, *find_runner(spec.name), events, stop);
  if (!result) return finish(result.error(), ends.json);
  if (ends.json) {
    fmt::print("{}\n", document(spec, *result));
  } else if (!events) {
    fmt::print("{}", table(spec, *result));
  }
  return 0;
}

int run_local(const WorkloadSpec& spec, const Ends& ends, Parameters parameters, Events& events, int stop) {
  LocalOptions options{ends.transport, ends.device, ends.bind, std::move(parameters)};
  if (options.transport.empty() && spec.transports.size() == 1) options.transport = spec.transports.front();
  if (options.transport.empty() && !spec.transports.empty())
    return refuse_usage(fmt::format("--transport is missing: give one of {}", fmt::join(spec.transports, ", ")), ends,
                        events);
  const auto record = run_local(options, spec, *find_runner(spec.name), events, stop);
  if (!record) return finish(record.error(), ends.json);
  if (ends.json) {
    fmt::print("{}\n", document(spec, *record));
  } else if (!events) {
    fmt::print("{}", table(spec, *record));
  }
  return 0;
}

// A workload's subcommand; the vector that holds it is never resized after its options were added.
struct Command {
  const WorkloadSpec* spec = nullptr;
  CLI::App* app = nullptr;
  Ends ends;
  OptionTexts texts;
};

void add_command(CLI::App& app, const WorkloadSpec& spec, Command& command) {
  command.spec = &spec;
  command.app = app.add_subcommand(spec.name, spec.summary);
  command.app->footer(footer_of(spec));
  auto& ends = command.ends;
  if (is_local(spec)) {
    ends.add_json_to(*command.app);
    if (!spec.transports.empty()) ends.add_bind_to(*command.app);
    if (!spec.transports.empty()) ends.add_transport_to(*command.app, spec);
  } else {
    ends.add_to(*command.app);
    ends.add_transport_to(*command.app, spec);
    command.app->add_option("--port", ends.port, "the server's port; 0: any free one")
        ->type_name("N")
        ->default_str(std::to_string(kDefaultPort));
    command.app->add_flag("--once", ends.once, "end after one client (server)");
    command.app->add_flag("--under-test", ends.under_test, "let clients attack it: workload rpc_attack (server)");
  }
  add_options(*command.app, spec.parameters, command.texts);
}

int run_command(const Command& command, Events& events, int stop) {
  const auto& ends = command.ends;
  const auto& spec = *command.spec;
  if (!is_local(spec) && !ends.listen && ends.connect.empty())
    return finish({Status::failed, "which end is this? give --listen, or --connect HOST", ExitCode::usage}, ends.json);
  auto parameters = read_options(*command.app, spec.parameters, command.texts);
  if (!parameters) return refuse_usage(parameters.error().message, ends, events);
  if (is_local(spec)) return run_local(spec, ends, std::move(*parameters), events, stop);
  return ends.listen ? run_server(ends, events, stop) : run_client(spec, ends, std::move(*parameters), events, stop);
}

struct ProbeCommand {
  CLI::App* app = nullptr;
  Ends ends;
  ProbeOptions options;
  std::string interval = "10ms";
  std::uint16_t port = observe::kProbePort;

  void add_to(CLI::App& parent) {
    app = parent.add_subcommand("probe", "UDP probes to and fro: the round trip that the path really has");
    app->footer(
        "\nExamples:\n  longhaul-bench probe --listen --bind 10.20.0.1 --token WORD\n  longhaul-bench probe --connect "
        "10.20.0.1 --token WORD --count 1000 --interval 1ms");
    ends.add_to(*app);
    app->add_option("--port", port, "where to answer")->type_name("N")->capture_default_str();
    app->add_option("--count", options.count, "probes to send")->type_name("N")->capture_default_str();
    app->add_option("--interval", interval, "time between two")->type_name("TIME")->capture_default_str();
  }

  int run(int stop) {
    options.bind = ends.bind;
    options.json = ends.json;
    options.token = token_of(ends.token);
    const auto result = [&]() -> Attempt<void> {
      if (ends.listen) return probe_listen(ends.bind, port, admission_of(ends.token, ends.open), stop);
      if (ends.connect.empty()) return wrong_input("which end is this? give --listen, or --connect HOST");
      auto peer = parse_host_port(ends.connect);
      if (!peer) return failed_by(peer.error());
      if (peer->port == kDefaultPort && ends.connect.find(":7470") == std::string::npos) peer->port = port;
      const auto time = parse_quantity(Kind::duration, interval);
      if (!time) return wrong_input("--interval {}", time.error().message);
      options.interval = Nanoseconds{*time};
      return probe_connect(*peer, options, stop);
    }();
    return result ? 0 : finish(result.error(), ends.json);
  }
};

int run(int argc, char** argv) {
  CLI::App app{"longhaul-bench: workloads over TCP sockets and RDMA verbs, measured by one harness", "longhaul-bench"};
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);
  app.footer(std::string{kExamples} + kExitCodes);
  std::vector<Command> commands(catalog().size());
  for (std::size_t i = 0; i < commands.size(); ++i) add_command(app, catalog()[i], commands[i]);
  ProbeCommand probe;
  probe.add_to(app);
  SimulateCommand simulate;
  simulate.add_to(app);
  if (const auto code = parse_command_line(app, argc, argv)) return *code;
  ::unsetenv(kTokenVariable);  // the tools of others that are started here need not know it

  auto events = Events::from_environment();
  if (!events) return finish({Status::failed, events.error().message, events.error().exit_code}, false);
  std::signal(SIGPIPE, SIG_IGN);  // a supervisor that is gone is an error of write(2)
  const auto signals = catch_signals();
  for (const auto& command : commands)
    if (command.app->parsed()) return run_command(command, *events, signals.get());
  return simulate.chosen() ? simulate.run(signals.get()) : probe.run(signals.get());
}

}  // namespace
}  // namespace longhaul::workloads

int main(int argc, char** argv) {
  try {
    longhaul::log_to_stderr("longhaul-bench");
    return longhaul::workloads::run(argc, argv);
  } catch (const longhaul::workloads::Interrupted&) {
    return static_cast<int>(longhaul::ExitCode::interrupted);
  } catch (const std::exception& error) {
    fmt::print(stderr, "longhaul-bench: {}\n", error.what());
    return static_cast<int>(longhaul::ExitCode::failure);
  }
}
