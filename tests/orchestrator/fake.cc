#include "tests/orchestrator/fake.hh"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/version.hh"
#include "orchestrator/run/pending.hh"

namespace longhaul::orchestrator::testing {
namespace {

class FakeControl : public NodeControl {
 public:
  FakeControl(FakeTestbed& world, Node node, std::uint64_t generation)
      : world_(world), node_(std::move(node)), generation_(generation) {}

  bool connected() const override {
    const auto it = world_.alive.find(node_.name);
    return it != world_.alive.end() && it->second == generation_;
  }

  Awaitable<Result<NodeFacts>> facts() override {
    NodeFacts facts;
    facts.hostname = node_.name;
    facts.longhaul_version = version_text();
    facts.kernel = world_.kernel;
    if (world_.clocks.contains(node_.name)) facts.boot_id = node_.name;
    co_return facts;
  }

  Awaitable<Result<agents::ClockOffset>> clock() override {
    if (!connected()) co_return lost();
    co_return world_.clocks[node_.name];
  }

  Awaitable<Result<void>> start(agents::StartRequest request) override {
    if (!connected()) co_return lost();
    workload_ = request.workload;
    world_.tokens.emplace(request.run_id, request.token);
    world_.running.insert(node_.name + " " + request.run_id);
    if (request.role == Role::server) push(request.run_id, event(BenchEventKind::ready, 7000));
    if (request.role == Role::local) {
      world_.local.push_back(request);
      run(request.run_id, true);
    }
    co_return Result<void>{};
  }

  Awaitable<Result<void>> connect_client(agents::ConnectRequest request) override {
    if (!connected()) co_return lost();
    world_.told.push_back(request);
    run(request.run_id, false);
    co_return Result<void>{};
  }

  Awaitable<Result<void>> stop(std::string run_id) override {
    if (!connected()) co_return lost();
    if (world_.running.contains(node_.name + " " + run_id)) exit_of(node_.name, run_id);
    co_return Result<void>{};
  }

  Awaitable<Result<agents::RunEvent>> next_event(std::string run_id, Nanoseconds timeout) override {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    auto& queue = world_.events[node_.name + " " + run_id];
    while (queue.empty()) {
      if (!connected()) co_return lost();
      if (std::chrono::steady_clock::now() >= deadline) co_return fail("nothing happened");
      co_await pause(std::chrono::microseconds{500});
    }
    auto next = std::move(queue.front());
    queue.pop_front();
    if (const auto waiting = world_.when_read.find(node_.name + " " + run_id);
        queue.empty() && waiting != world_.when_read.end()) {
      const auto go_on = std::move(waiting->second);
      world_.when_read.erase(waiting);
      go_on();
    }
    co_return next;
  }

  Awaitable<Result<void>> probe_echo(agents::EchoRequest request) override {
    if (request.on) {
      world_.echoes.insert(request.address);
      world_.echo_tokens.insert_or_assign(request.address, request.token);
    }
    co_return Result<void>{};
  }

  Awaitable<Result<agents::ProbeResult>> probe(agents::ProbeRequest request) override {
    if (!connected()) co_return lost();
    agents::ProbeResult result;
    result.sent = static_cast<std::uint32_t>(request.count);
    const auto echo = world_.echo_tokens.find(request.peer);
    if (echo == world_.echo_tokens.end() || echo->second != request.token) co_return result;  // nobody answers
    result.round_trips.assign(static_cast<std::size_t>(request.count), 500'000);
    world_.probes += static_cast<std::uint64_t>(request.count);
    co_return result;
  }

  Awaitable<Result<degen::Reply>> degen(degen::Request request) override {
    if (!connected()) co_return lost();
    degen::Reply reply;
    reply.ok = true;
    if (request.kind == degen::RequestKind::apply) {
      if (world_.refuses_to_apply) {
        ++world_.fired["refuses_to_apply"];
        co_return fail("degen: eth0 has a qdisc that is not ours");
      }
      ++world_.applies;
      world_.applied = request.parameters;
      world_.engine = request.engine.value_or("netem");
      world_.impaired = !request.parameters.empty();
      world_.drift = 0;
      world_.probes = 0;
    }
    if (request.kind == degen::RequestKind::clear) {
      if (world_.refuses_to_clear > 0) {
        --world_.refuses_to_clear;
        ++world_.fired["refuses_to_clear"];
        co_return fail("agent {}: degen: cannot connect to the socket that it listens at", node_.name);
      }
      ++world_.clears;
      world_.impaired = false;
      world_.applied.clear();
    }
    if (request.kind == degen::RequestKind::measure) {
      world_.on_measure();
      reply.report = world_.report();
    }
    co_return reply;
  }

  Awaitable<void> close() override {
    if (connected()) world_.alive.erase(node_.name);
    co_return;
  }

 private:
  // What happens when a client has its server, or a workload is local.
  void run(const std::string& run_id, bool local) {
    const auto behaviour = world_.behaviour_of(run_id);
    world_.started.push_back(run_id);
    world_.on_start(run_id);
    push(run_id, event(BenchEventKind::ready, 0));
    if (behaviour.hangs) return;
    if (behaviour.status == Status::unsupported || behaviour.status == Status::failed) {
      auto last = event(behaviour.status == Status::failed ? BenchEventKind::failed : BenchEventKind::unsupported, 0);
      last.message = "as told";
      push(run_id, last);
      exit_of(node_.name, run_id);
      return;
    }
    push(run_id, event(BenchEventKind::window_start, 0));
    if (behaviour.server_talks == 0) return measure(run_id, local, behaviour);
    const auto server = "server " + run_id;
    for (int word = 0; word < behaviour.server_talks; ++word)
      world_.events[server].push_back({.run_id = run_id, .bench = event(BenchEventKind::progress, 0), .exit = {}});
    world_.when_read[server] = [this, run_id, local, behaviour] { measure(run_id, local, behaviour); };
  }

  void measure(const std::string& run_id, bool local, const Behaviour& behaviour) {
    if (behaviour.kills_agent) {
      world_.alive.erase(node_.name);
      return;
    }
    world_.drift = behaviour.drift;
    if (behaviour.loses_wan && world_.impaired) {
      ++world_.fired["loses_wan"];
      world_.impaired = false;
      world_.applied.clear();
    }
    auto stop = event(BenchEventKind::window_stop, 0);
    stop.time = 2'000'000;
    push(run_id, stop);
    for (const auto& node : world_.testbed.nodes) {
      if (local ? node.name != node_.name : node.role == Role::router) continue;
      auto last = event(BenchEventKind::record, 0);
      last.record = NodeRecord{};
      last.record->role = local ? Role::local : node.role;
      last.record->workload = workload_;
      if (node.role == Role::client) last.record->metrics[local ? "hits" : "latency"].value = behaviour.value;
      if (node.role == Role::client && behaviour.status == Status::limited) last.record->limits.push_back("window");
      world_.events[node.name + " " + run_id].push_back({.run_id = run_id, .bench = last, .exit = {}});
      exit_of(node.name, run_id);
    }
  }

  static BenchEvent event(BenchEventKind kind, std::uint16_t port) {
    BenchEvent event;
    event.kind = kind;
    event.time = 1'000'000;
    if (port != 0) event.port = port;
    return event;
  }
  tl::unexpected<Error> lost() const { return fail("agent {} is gone", node_.name); }
  void push(const std::string& run_id, BenchEvent bench) {
    world_.events[node_.name + " " + run_id].push_back({.run_id = run_id, .bench = std::move(bench), .exit = {}});
  }
  void exit_of(const std::string& node, const std::string& run_id) {
    world_.events[node + " " + run_id].push_back({.run_id = run_id, .bench = {}, .exit = "exit code 0"});
    world_.running.erase(node + " " + run_id);
  }

  FakeTestbed& world_;
  Node node_;
  std::uint64_t generation_;
  std::string workload_;  // of the run that was started last
};

Attachment attachment(const char* netdev, std::string address, const char* provider) {
  return {.path = "wan",
          .netdev = netdev,
          .address = std::move(address),
          .device = fmt::format("{}_{}", provider, netdev),
          .provider = provider};
}

}  // namespace

FakeTestbed::~FakeTestbed() {
  const auto never = [&](const std::string& what) { ADD_FAILURE() << "the test's fault never came about: " << what; };
  const auto unless_fired = [&](bool armed, const char* what) {
    if (armed && !fired.contains(what)) never(what);
  };
  unless_fired(lateness != 0, "lateness");
  unless_fired(refuses_to_apply, "refuses_to_apply");
  unless_fired(refuses_to_clear > 0, "refuses_to_clear");
  unless_fired(!unreachable.empty(), "unreachable");
  unless_fired(!wrong.empty(), "wrong");
  const auto of_runs = {"status", "kills_agent", "loses_wan", "drift", "hangs", "server_talks"};
  if (misbehaves_ &&
      std::none_of(of_runs.begin(), of_runs.end(), [&](const char* what) { return fired.contains(what); }))
    never("behave");
}

// What is seen only later is counted where it is seen: loses_wan by the run, drift by the router's report.
Behaviour FakeTestbed::behaviour_of(const std::string& run_id) {
  if (!behave) return {};
  misbehaves_ = true;
  const auto how = behave(run_id);
  if (how.status != Status::ok) ++fired["status"];
  if (how.kills_agent) ++fired["kills_agent"];
  if (how.hangs) ++fired["hangs"];
  if (how.server_talks > 0) ++fired["server_talks"];
  return how;
}

FakeTestbed::FakeTestbed() {
  testbed.topology = "fake";
  add_client("client", "10.10.0.1", "10.11.0.1");
  testbed.nodes.push_back({.name = "server",
                           .role = Role::server,
                           .host = "h",
                           .port = 2,
                           .attachments = {attachment("b0", "10.20.0.1", "rxe"), attachment("b1", "10.21.0.1", "siw")},
                           .links = {}});
  testbed.nodes.push_back(
      {.name = "router", .role = Role::router, .host = "h", .port = 3, .attachments = {}, .links = {}});
}

void FakeTestbed::rename(const std::string& prefix) {
  for (auto& node : testbed.nodes) node.host = node.name = prefix + node.name;
}

void FakeTestbed::add_client(std::string name, std::string rxe, std::string siw) {
  testbed.nodes.push_back(
      {.name = std::move(name),
       .role = Role::client,
       .host = "h",
       .port = static_cast<std::uint16_t>(testbed.nodes.size() + 1),
       .attachments = {attachment("a0", std::move(rxe), "rxe"), attachment("a1", std::move(siw), "siw")},
       .links = {}});
}

Awaitable<Result<std::unique_ptr<NodeControl>>> FakeTestbed::connect(Node node) {
  ++dials[node.name];
  if (wrong.contains(node.name)) {
    ++fired["wrong"];
    co_return tl::unexpected(Error{wrong[node.name], ExitCode::usage});
  }
  if (unreachable.contains(node.name)) {
    ++fired["unreachable"];
    co_return fail("agent {}: connection refused", node.name);
  }
  alive[node.name] = ++generation;
  std::unique_ptr<NodeControl> control = std::make_unique<FakeControl>(*this, std::move(node), generation);
  co_return control;
}

// An engine is late by `lateness`; once measured, that is taken off what it is told.
degen::Report FakeTestbed::report() {
  degen::Report report;
  report.impaired = impaired;
  report.engine = engine == "auto" ? "edt" : engine;
  if (engine == "auto") report.chosen = "the first choice", report.seed = 42;
  report.parameters = applied;
  const auto it = applied.find("delay");
  const auto asked = it == applied.end() ? 0 : std::get<std::int64_t>(it->second);
  for (auto* way : {&report.forward, &report.back}) {
    way->asked = asked;
    way->programmed = impaired ? asked - correction : 0;
    way->unimpaired = 30'000;
    way->median = 30'000 + (impaired ? asked - correction + lateness + drift : 0);
    way->achieved = way->median - way->unimpaired;
    way->samples = probes;
  }
  if (impaired && lateness != correction) ++fired["lateness"];
  if (impaired && drift != 0) ++fired["drift"];
  if (impaired && learns) correction = lateness;
  probes = 0;
  return report;
}

}  // namespace longhaul::orchestrator::testing
