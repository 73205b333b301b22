#include "orchestrator/run/execute.hh"

#include <algorithm>

namespace longhaul::orchestrator {
namespace {

using agents::RunEvent;
using Clock = std::chrono::steady_clock;

constexpr Nanoseconds kSlice = std::chrono::milliseconds{200};  // how soon Ctrl-C is noticed
constexpr Nanoseconds kServerRecord = std::chrono::seconds{5};
constexpr Nanoseconds kExit = std::chrono::seconds{3};

// The next event of a run before `deadline`; an error when the node is lost, the time is over or the user stops it.
Awaitable<Result<RunEvent>> next(std::shared_ptr<NodeControl> node, std::string run_id, Clock::time_point deadline,
                                 std::function<bool()> stopped) {
  for (;;) {
    if (stopped && stopped()) co_return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    const auto left = std::chrono::duration_cast<Nanoseconds>(deadline - Clock::now());
    if (left.count() <= 0) co_return fail("no sign of life in time");
    const auto slice = std::min(left, kSlice);
    const auto asked = Clock::now();
    auto event = co_await node->next_event(run_id, slice);
    // An error before the time is over is no time-out: the node is lost, or does not know the run.
    if (event || !node->connected() || Clock::now() - asked < slice / 2) co_return event;
  }
}

// Only for its events so far unread: the exit of a process that has said all it had to say.
Awaitable<bool> see_off(std::shared_ptr<NodeControl> node, std::string run_id) {
  const auto deadline = Clock::now() + kExit;
  while (node->connected()) {
    auto event = co_await next(node, run_id, deadline, {});
    if (event && event->exit) co_return true;
    if (!event) break;
  }
  if (node->connected()) {
    auto ignored = co_await node->stop(run_id);
    (void)ignored;
  }
  co_return false;
}

agents::StartRequest start_request(const RunRequest& request, Role role, const Attachment& here) {
  agents::StartRequest start;
  start.run_id = request.run_id;
  start.role = role;
  start.workload = request.workload;
  start.transport = request.transport;
  // A transport with one driver for all links is bound by the address alone.
  if (const auto* transport = find_transport(request.transport); transport != nullptr && transport->provider.empty())
    start.device = here.device;
  start.bind = here.address;
  if (request.padding > 0) start.padding = request.padding;
  if (role != Role::server) start.parameters = request.parameters;
  return start;
}

agents::ConnectRequest connect_request(const RunRequest& request, const Link& path, std::uint16_t port) {
  return {.run_id = request.run_id, .peer = path.to.address, .peer_port = port};
}

// The server's clock less the client's, by way of ours: the control network is not the path that is impaired. Nothing
// where they have one clock, or where one does not tell: the run does without.
Awaitable<std::optional<agents::ClockOffset>> clock_between(Nodes& nodes, std::string client, std::string server) {
  if (nodes.facts().at(client).boot_id == nodes.facts().at(server).boot_id) co_return std::nullopt;
  auto asking = co_await Pending<Result<agents::ClockOffset>>::start(nodes.at(client)->clock());
  const auto there = co_await nodes.at(server)->clock();
  const auto here = co_await asking.wait();
  if (!here || !there) co_return std::nullopt;
  co_return agents::ClockOffset{.offset = there->offset - here->offset, .error = there->error + here->error};
}

// The sum of a node's events.
struct Story {
  std::optional<NodeRecord> record;
  std::optional<std::string> unsupported;
  std::optional<std::string> failed;
  std::optional<std::string> exit;
  std::uint16_t port = 0;  // where it listens
  bool over() const { return record || unsupported || failed || exit; }

  void take(RunEvent& event) {
    if (event.exit) exit = std::move(event.exit);
    if (!event.bench) return;
    auto& bench = *event.bench;
    if (bench.kind == BenchEventKind::ready) port = bench.port.value_or(0);
    if (bench.kind == BenchEventKind::record) record = std::move(bench.record);
    if (bench.kind == BenchEventKind::unsupported) unsupported = bench.message.value_or("without a reason");
    if (bench.kind == BenchEventKind::failed) failed = bench.message.value_or("without a reason");
  }

  // Empty: all is well.
  std::string trouble() const {
    if (unsupported) return *unsupported;
    if (failed) return *failed;
    if (record) return {};
    return exit ? fmt::format("ended without a record, {}", *exit) : "no record";
  }
};

// A node's story under its name.
using Stories = std::vector<std::pair<std::string, Story>>;

RunOutcome outcome_of(const Stories& stories) {
  RunOutcome outcome;
  const auto add = [&](const std::string& node, const std::string& what) {
    if (!what.empty()) outcome.message += fmt::format("{}{}: {}", outcome.message.empty() ? "" : "; ", node, what);
  };
  bool unsupported = false;
  for (const auto& [node, story] : stories) {
    if (story.record) outcome.nodes.emplace(node, *story.record);
    unsupported = unsupported || story.unsupported;
  }
  for (const auto& [node, story] : stories) add(node, unsupported ? story.unsupported.value_or("") : story.trouble());
  if (unsupported) outcome.status = Status::unsupported;
  if (!outcome.message.empty()) return outcome;
  outcome.status = Status::ok;
  for (const auto& [node, record] : outcome.nodes) {
    for (const auto& limit : record.limits) {
      outcome.status = Status::limited;
      if (outcome.message.find(limit) == std::string::npos)
        outcome.message += (outcome.message.empty() ? "" : "; ") + limit;
    }
  }
  return outcome;
}

// State of the process that opens and closes the window, from its events.
struct Watched {
  Story story;
  bool silent = false;  // it did not come to an end: why it `failed` is our word
  std::int64_t ready_at = 0;
  std::int64_t window_stop = 0;
  std::int64_t measuring() const { return ready_at > 0 && window_stop > ready_at ? window_stop - ready_at : 0; }
};

// Until it has said all that it has to say. What runs by itself may take long, as long as it gets on.
Awaitable<Watched> watch(std::shared_ptr<NodeControl> node, RunRequest request, Clock::time_point deadline,
                         RunHooks hooks) {
  Watched watched;
  while (!watched.story.over()) {
    auto event = co_await next(node, request.run_id, deadline, hooks.stopped);
    if (!event) {
      watched.silent = true;
      watched.story.failed = event.error().message;
      break;
    }
    if (event->bench) {
      const auto& bench = *event->bench;
      const bool gets_on = bench.kind == BenchEventKind::progress && request.link.local();
      if (bench.kind == BenchEventKind::ready) watched.ready_at = bench.time;
      if (bench.kind == BenchEventKind::ready || bench.kind == BenchEventKind::window_start || gets_on)
        deadline = Clock::now() + request.window_timeout;
      if (bench.kind == BenchEventKind::window_start && hooks.window_open) hooks.window_open();
      if (bench.kind == BenchEventKind::window_stop) {
        watched.window_stop = bench.time;
        if (hooks.window_closed) hooks.window_closed();
      }
    }
    watched.story.take(*event);
  }
  co_return watched;
}

// A client beside the first: until it has said all that it has to say.
Awaitable<Story> follow(std::shared_ptr<NodeControl> node, agents::ConnectRequest where, Clock::time_point deadline,
                        std::function<bool()> stopped) {
  Story story;
  const auto run_id = where.run_id;
  auto connected = co_await node->connect_client(std::move(where));
  if (!connected) story.failed = connected.error().message;
  while (!story.over()) {
    auto event = co_await next(node, run_id, deadline, stopped);
    if (event)
      story.take(*event);
    else
      story.failed = event.error().message;
  }
  co_return story;
}

// Waits until a process has ended; what has nothing more to say is stopped.
Awaitable<bool> end(std::shared_ptr<NodeControl> node, std::string run_id, Story story) {
  if (story.exit || !node->connected()) co_return true;
  if (!story.record) {
    auto ignored = co_await node->stop(run_id);
    (void)ignored;
  }
  co_return co_await see_off(std::move(node), std::move(run_id));
}

Awaitable<void> end_all(Nodes& nodes, std::string run_id, Stories stories) {
  std::vector<Pending<bool>> ends;
  for (const auto& [name, story] : stories) {
    auto ending = co_await Pending<bool>::start(end(nodes.at(name), run_id, story));
    ends.push_back(std::move(ending));
  }
  for (auto& one : ends) co_await one.wait();
}

// Starts a client, which says nothing before it is told to connect, or what runs by itself.
Awaitable<Story> start_process(std::shared_ptr<NodeControl> node, agents::StartRequest request) {
  Story story;
  auto started = co_await node->start(std::move(request));
  if (!started) story.failed = started.error().message;
  co_return story;
}

// Starts a server: its story until it listens, or why it does not.
Awaitable<Story> start_server(std::shared_ptr<NodeControl> node, agents::StartRequest request, Nanoseconds limit) {
  Story story;
  const auto deadline = Clock::now() + limit;
  const auto run_id = request.run_id;
  auto started = co_await node->start(std::move(request));
  if (!started) story.failed = started.error().message;
  while (story.port == 0 && !story.over()) {
    auto event = co_await next(node, run_id, deadline, {});
    if (event)
      story.take(*event);
    else
      story.failed = fmt::format("the server did not listen: {}", event.error().message);
  }
  co_return story;
}

// One process on one node.
Awaitable<RunOutcome> execute_local(Nodes& nodes, RunRequest request, RunHooks hooks) {
  auto node = nodes.at(request.link.client);
  auto begun = co_await start_process(node, start_request(request, Role::local, request.link.from));
  Watched watched;
  watched.story = std::move(begun);
  if (!watched.story.over()) watched = co_await watch(node, request, Clock::now() + request.setup_timeout, hooks);
  Stories stories{{request.link.client, watched.story}};
  auto outcome = outcome_of(stories);
  outcome.measuring = watched.measuring();
  co_await end_all(nodes, request.run_id, std::move(stories));
  co_return outcome;
}

}  // namespace

Awaitable<PreparedRun> prepare(Nodes& nodes, RunRequest request) {
  if (request.link.local()) co_return PreparedRun{};
  const auto paths = paths_of(request.link);
  std::vector<Pending<Story>> starts;
  for (const auto& path : paths) {
    auto starting = co_await Pending<Story>::start(
        start_process(nodes.at(path.client), start_request(request, Role::client, path.from)));
    starts.push_back(std::move(starting));
  }
  auto server = start_request(request, Role::server, request.link.to);
  auto serving = co_await start_server(nodes.at(request.link.server), std::move(server), request.setup_timeout);
  Stories stories;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    auto story = co_await starts[i].wait();
    stories.emplace_back(paths[i].client, std::move(story));
  }
  stories.emplace_back(request.link.server, serving);

  PreparedRun prepared;
  prepared.port = serving.port;
  for (const auto& [name, story] : stories) {
    const bool waits = !story.over() && (name != request.link.server || story.port != 0);
    if (waits) continue;
    prepared.port = 0;
    prepared.refusal.status = story.unsupported ? Status::unsupported : Status::failed;
    prepared.refusal.message = fmt::format("{}: {}", name, story.trouble());
  }
  if (prepared.port == 0) co_await end_all(nodes, request.run_id, std::move(stories));
  co_return prepared;
}

Awaitable<void> discard(Nodes& nodes, RunRequest request, PreparedRun prepared) {
  if (prepared.port == 0) co_return;
  Stories stories{{request.link.server, {}}};
  for (const auto& path : paths_of(request.link)) stories.emplace_back(path.client, Story{});
  co_await end_all(nodes, request.run_id, std::move(stories));
}

Awaitable<RunOutcome> execute(Nodes& nodes, RunRequest request, PreparedRun prepared, RunHooks hooks) {
  if (request.link.local()) co_return co_await execute_local(nodes, std::move(request), std::move(hooks));
  if (prepared.port == 0) co_return prepared.refusal;
  auto node = nodes.at(request.link.client);
  auto server = nodes.at(request.link.server);
  Story serving;

  auto connecting = connect_request(request, request.link, prepared.port);
  connecting.server_clock = co_await clock_between(nodes, request.link.client, request.link.server);
  auto told = co_await node->connect_client(std::move(connecting));
  // One that cannot be told has ended: what it said explains it.
  const auto deadline = Clock::now() + (told ? request.setup_timeout : kExit);
  std::vector<Pending<Story>> further;
  for (const auto& link : request.link.beside) {
    auto following =
        co_await Pending<Story>::start(follow(nodes.at(link.client), connect_request(request, link, prepared.port),
                                              deadline + request.window_timeout, hooks.stopped));
    further.push_back(std::move(following));
  }
  auto watched = co_await watch(node, request, deadline, hooks);
  auto& client = watched.story;
  if (watched.silent && !told) client.failed = told.error().message;

  const auto server_deadline = Clock::now() + kServerRecord;
  if (client.record) {
    while (!serving.over()) {
      auto event = co_await next(server, request.run_id, server_deadline, {});
      if (!event) {
        serving.failed = event.error().message;
        break;
      }
      serving.take(*event);
    }
  } else {
    // The server's message explains a failed run; it may send none.
    if (node->connected() && !client.exit) {
      auto ignored = co_await node->stop(request.run_id);
      (void)ignored;
    }
    if (server->connected()) {
      auto ignored = co_await server->stop(request.run_id);
      (void)ignored;
    }
    while (!serving.exit) {
      auto event = co_await next(server, request.run_id, server_deadline, {});
      if (!event) break;
      serving.take(*event);
    }
    serving.record.reset();
  }

  Stories stories{{request.link.client, client}};
  for (std::size_t i = 0; i < further.size(); ++i) {
    auto story = co_await further[i].wait();
    stories.emplace_back(request.link.beside[i].client, std::move(story));
  }

  const bool stopped_server = !client.record && !serving.failed && !serving.unsupported;
  if (!stopped_server) stories.emplace_back(request.link.server, serving);  // stopped by us: nothing to complain about
  auto outcome = outcome_of(stories);
  outcome.measuring = watched.measuring();
  co_await end_all(nodes, request.run_id, std::move(stories));
  co_return outcome;
}

}  // namespace longhaul::orchestrator
