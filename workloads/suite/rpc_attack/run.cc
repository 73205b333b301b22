#include "workloads/suite/rpc_attack/run.hh"

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <sstream>
#include <system_error>

#include "common/well_known.hh"
#include "observe/clock.hh"
#include "workloads/harness/helper.hh"
#include "workloads/protocols/rpc/client.hh"
#include "workloads/protocols/rpc/server.hh"
#include "workloads/suite/rpc_attack/late.hh"
#include "workloads/suite/rpc_attack/patient.hh"
#include "workloads/suite/rpc_attack/suspect.hh"

namespace longhaul::workloads::rpc_attack {
namespace {

constexpr std::size_t kLoot = 64;  // bytes that a guess asks for
// That a hostile client waits for a reply, or as many times the slowest so far.
constexpr std::int64_t kRoundTrips = 20;
constexpr std::chrono::milliseconds kLeast{400};
constexpr std::uint32_t kLastByte = 0xff;
constexpr std::uint32_t kSeed = 2007;

bool allowed = false;

enum class Attack { none, guess, withhold, late_write, flood, stall, mislead };

// Each try ends its connection.
bool ends_connection(Attack attack) {
  return attack == Attack::guess || attack == Attack::flood || attack == Attack::mislead;
}

// What it does to others is what counts.
bool disturbs(Attack attack) {
  return attack == Attack::flood || attack == Attack::stall || attack == Attack::mislead;
}

// By WRITEs, for which the server has to read.
bool writes(Attack attack) {
  return attack == Attack::flood || attack == Attack::mislead;
}

rpc::Misdeed misdeed_of(Attack attack) {
  switch (attack) {
    case Attack::withhold:
      return rpc::Misdeed::withholds;
    case Attack::flood:
      return rpc::Misdeed::floods;
    case Attack::stall:
      return rpc::Misdeed::stalls;
    case Attack::mislead:
      return rpc::Misdeed::misleads;
    case Attack::none:
    case Attack::guess:
    case Attack::late_write:
      break;
  }
  return rpc::Misdeed::none;
}

struct Setup {
  Attack attack = Attack::none;
  std::size_t tries = 0;
  bool knows_neighbour = true;
  rpc::Options options;
};

Setup setup_of(const WorkloadSpec& spec, const Parameters& parameters) {
  const auto number = [&](const char* name) { return integer(parameters, spec.parameters, name); };
  const auto word = [&](const char* name) { return text(parameters, spec.parameters, name); };
  Setup setup;
  setup.attack = word("attack") == "guess"        ? Attack::guess
                 : word("attack") == "withhold"   ? Attack::withhold
                 : word("attack") == "late-write" ? Attack::late_write
                 : word("attack") == "flood"      ? Attack::flood
                 : word("attack") == "stall"      ? Attack::stall
                 : word("attack") == "mislead"    ? Attack::mislead
                                                  : Attack::none;
  setup.tries = static_cast<std::size_t>(number("tries"));
  setup.options.design = rpc::design_of(word("design"));
  setup.options.size = static_cast<std::size_t>(number("size"));
  setup.options.credits = static_cast<std::size_t>(number("credits"));
  setup.options.shared_domain = word("domain") == "shared";
  setup.options.give_back = Nanoseconds{number("give_back")};
  setup.knows_neighbour = word("known") == "neighbour";
  // The honest client's, and the attack's: one for each try that ends it.
  setup.options.clients = 1 + (setup.attack == Attack::none ? 0 : ends_connection(setup.attack) ? setup.tries : 1);
  if (writes(setup.attack)) setup.options.threads = setup.options.credits + 1;
  if (setup.attack == Attack::late_write) {
    setup.options.client_buffers = {.strategy = "each-time", .deferred = static_cast<std::size_t>(number("deferred"))};
    setup.options.threads = setup.tries + 1;  // a buffer for each call, so that the next leaves it alone
  }
  return setup;
}

Setup setup_of(const PairedSession& session) {
  return setup_of(session.spec(), session.parameters());
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  if (role == Role::server && !allowed && !has_helper(kTracingPipe))
    return unsupported("attacks are for a lab's nodes, and for a server that was started with --under-test");
  const auto setup = setup_of(spec, parameters);
  auto plan = rpc::plan_of(setup.options, role, false);
  if (!plan) return plan;
  adapt(*plan, spec, parameters, transport);
  if (writes(setup.attack) && role == Role::client) plan->rights = Rights::all;  // of its own memory
  return plan;
}

struct Outcome {
  std::size_t tries = 0;
  std::size_t successes = 0;
  Nanoseconds time{};
};

// True if the other end gave the bytes. A miss ends the connection.
bool fetches(Connection& connection, std::uint64_t address, std::uint32_t key, Nanoseconds patience) {
  try {
    connection.post(
        {.operation = Operation::read, .length = kLoot, .remote = address, .absolute = true, .remote_key = key});
    const auto deadline = observe::raw_time() + patience;
    std::array<Completion, 4> done;
    while (observe::raw_time() < deadline)
      for (const auto& one : std::span{done}.first(connection.poll(done)))
        if (one.kind == Completion::Kind::fetched) return true;
  } catch (const std::system_error&) {
  }
  return false;
}

// What a guess has to go by: where the honest client's buffer is, and its key without the last byte; or any key.
std::uint32_t guessed(const Setup& setup, std::uint32_t key, std::size_t number, std::mt19937& random) {
  if (!setup.knows_neighbour) return static_cast<std::uint32_t>(random());
  return (key & ~kLastByte) | static_cast<std::uint32_t>(number);
}

Outcome guess(const PairedSession& session, const Setup& setup, const std::string& words, Nanoseconds patience) {
  std::istringstream in{words};
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  in >> address >> key;
  std::mt19937 random{kSeed};
  Outcome outcome;
  for (; outcome.tries < setup.tries; ++outcome.tries) {
    auto& connection = *session.connections()[1 + outcome.tries];
    outcome.successes += fetches(connection, address, guessed(setup, key, outcome.tries, random), patience) ? 1 : 0;
  }
  return outcome;
}

// True if a call of each of the client's first threads ended in time.
bool answers(rpc::RdmaClient& client, std::size_t threads, Nanoseconds patience) {
  for (std::size_t thread = 0; thread < threads; ++thread) client.start(thread);
  return progress_until(client, patience, [&] {
    for (std::size_t thread = 0; thread < threads; ++thread)
      if (!client.done(thread)) return false;
    return true;
  });
}

// Calls of a client that misbehaves, until no reply comes any more. What stays taken is for the server to count.
Outcome call_on(rpc::RdmaClient& client, std::size_t tries, Nanoseconds patience) {
  Outcome outcome;
  for (; outcome.tries < tries; ++outcome.tries) {
    const auto begun = observe::raw_time();
    if (!answers(client, 1, patience)) break;
    // Beside other work on the machine replies take longer, and the next one may be slower still.
    patience = std::max<Nanoseconds>(patience, kRoundTrips * (observe::raw_time() - begun));
  }
  return outcome;
}

// Whether a call of the honest client has an answer. It waits as long as any client does (`timeout`): an answer may be
// late for other reasons than the attack.
bool serves(const PairedSession& session, rpc::RdmaClient& honest) {
  return answers(honest, 1, session.duration("timeout"));
}

// Ends a connection of its own with each try. A success is one after which a call of the honest client has no answer.
Outcome disturb(const PairedSession& session, const Setup& setup, rpc::RdmaClient& honest, Nanoseconds patience) {
  Outcome outcome;
  auto options = setup.options;
  options.procedure = rpc::nfs::Procedure::write;
  options.misdeed = misdeed_of(setup.attack);
  for (; outcome.tries < setup.tries && outcome.successes == 0; ++outcome.tries) {
    options.client = 1 + outcome.tries;
    rpc::RdmaClient hostile{*session.connections()[options.client], options};
    try {
      answers(hostile, setup.attack == Attack::flood ? options.threads : 1, patience);
    } catch (const std::system_error&) {  // the server has ended it
    }
    if (!serves(session, honest)) ++outcome.successes;
  }
  return outcome;
}

// Calls of the honest client. Where it is denied, its last has no answer, and the window passes without another.
class HonestLane final : public Lane {
 public:
  HonestLane(rpc::RdmaClient& client, bool denied) : client_(client), denied_(denied) {}
  void start() override {
    if (!denied_) client_.start(0);
  }
  bool advance() override {
    client_.progress();
    return denied_ || client_.done(0);
  }
  Waitable& waitable() override { return client_.waitable(); }

 private:
  rpc::RdmaClient& client_;
  bool denied_;
};

std::map<std::string, Metric> client(ClientSession& session) {
  const auto setup = setup_of(session);
  const auto& connections = session.connections();
  const auto patience = std::max<Nanoseconds>(kLeast, kRoundTrips * session.round_trip());
  rpc::RdmaClient honest{*connections.front(), setup.options};
  std::unique_ptr<rpc::RdmaClient> hostile;
  const auto words = session.await_prepared();
  for (std::size_t i = 1; i < connections.size(); ++i) session.leave(*connections[i]);
  Outcome outcome;
  const auto begun = observe::raw_time();
  if (setup.attack == Attack::guess) {
    outcome = guess(session, setup, words, patience);
  } else if (setup.attack == Attack::withhold || setup.attack == Attack::stall) {
    auto options = setup.options;
    options.misdeed = misdeed_of(setup.attack);
    options.client = 1;
    hostile = std::make_unique<rpc::RdmaClient>(*connections[1], options);
    outcome = call_on(*hostile, setup.tries, patience);
    if (disturbs(setup.attack) && !serves(session, honest)) ++outcome.successes;
  } else if (ends_connection(setup.attack)) {
    outcome = disturb(session, setup, honest, patience);
  } else if (setup.attack == Attack::late_write) {
    auto options = setup.options;
    options.client = 1;
    rpc::RdmaClient victim{*connections[1], options};
    const auto damage = be_written_late(victim, options.threads, patience);
    outcome = {.tries = damage.calls - 1, .successes = damage.changed};  // a write comes with the call behind
  }
  outcome.time = observe::raw_time() - begun;
  const bool denied = disturbs(setup.attack) && outcome.successes > 0;
  Lanes lanes;
  lanes.push_back(std::make_unique<HonestLane>(honest, denied));
  const auto samples = session.measure(lanes, {});
  const auto tries = static_cast<double>(outcome.tries);
  std::map<std::string, Metric> metrics{{"tries", to_metric(tries, 1)}};
  if (!denied) {
    honest.verify_last();
    metrics["operation"] = to_metric(samples.front());
  }
  if (setup.attack != Attack::withhold)
    metrics["successes"] = to_metric(static_cast<double>(outcome.successes), outcome.tries);
  if (outcome.tries > 0)
    metrics["try_time"] = to_metric(static_cast<double>(outcome.time.count()) / tries, outcome.tries);
  return metrics;
}

std::map<std::string, Metric> server(ServerSession& session) {
  const auto setup = setup_of(session);
  const auto& connections = session.connections();
  rpc::MemoryStore store{setup.options.file_size(), 1, 1};
  rpc::ServerThreads threads{.all = setup.options.server_threads};
  // A guess ends its connection before anything comes by it: nobody looks after those.
  const std::size_t served = setup.attack == Attack::guess ? 1 : connections.size();
  std::vector<const rpc::RdmaServer*> servers;
  Lanes lanes;
  for (std::size_t i = 0; i < served; ++i) {
    if (setup.attack == Attack::late_write && i == 1) {
      lanes.push_back(std::make_unique<LateWriter>(*connections[1], setup.options, store, threads));
      session.leave(*connections[1]);
      continue;
    }
    if (i > 0 && disturbs(setup.attack)) {
      lanes.push_back(std::make_unique<Suspect>(*connections[i], setup.options, store, threads));
      session.leave(*connections[i]);
      continue;
    }
    auto lane = std::make_unique<rpc::RdmaServer>(*connections[i], setup.options, store, threads);
    servers.push_back(lane.get());
    lanes.push_back(std::move(lane));
  }
  for (std::size_t i = served; i < connections.size(); ++i) session.leave(*connections[i]);
  std::string words;
  if (setup.attack == Attack::guess) {
    const rpc::Layout layout{setup.options, Role::server, false};
    const auto address = reinterpret_cast<std::uintptr_t>(connections.front()->memory().data()) + layout.buffers;
    words = fmt::format("{} {}", address, connections.front()->keys().remote);
  }
  session.prepared(words);
  session.serve(lanes, false);
  if (setup.attack != Attack::withhold) return {};
  const auto withheld = servers[1]->withheld();
  const auto bytes = withheld * rpc::Layout{setup.options, Role::server, false}.buffer_stride;
  return {{"successes", to_metric(static_cast<double>(withheld), 1)},
          {"withheld", to_metric(static_cast<double>(bytes), 1)},
          {"overdue", to_metric(static_cast<double>(servers[1]->overdue()), 1)}};
}

}  // namespace

void allow() {
  allowed = true;
}

Runner runner() {
  return {.workload = "rpc_attack", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::rpc_attack
