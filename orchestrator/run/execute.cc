#include "orchestrator/run/execute.hh"

#include <algorithm>

#include "orchestrator/run/story.hh"

namespace longhaul::orchestrator {
namespace {

using agents::RunEvent;
using Clock = std::chrono::steady_clock;

constexpr Nanoseconds kSlice = std::chrono::milliseconds{200};  // how soon Ctrl-C is noticed
constexpr Nanoseconds kServerRecord = std::chrono::seconds{5};
constexpr Nanoseconds kExit = std::chrono::seconds{3};

// The end of a wait, which may be brought nearer while it lasts.
using Deadline = std::shared_ptr<Clock::time_point>;
Deadline by(Clock::time_point time) {
  return std::make_shared<Clock::time_point>(time);
}
Deadline within(Nanoseconds time) {
  return by(Clock::now() + time);
}

// The next event of a run before `deadline`; an error when the node is lost, the time is over or the user stops it.
Awaitable<Result<RunEvent>> next(std::shared_ptr<NodeControl> node, std::string run_id, Deadline deadline,
                                 std::function<bool()> stopped) {
  for (;;) {
    if (stopped && stopped()) co_return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    const auto asked = Clock::now();
    if (asked >= *deadline) co_return fail("no sign of life in time");
    const auto slice = std::min(std::chrono::duration_cast<Nanoseconds>(*deadline - asked), kSlice);
    auto event = co_await node->next_event(run_id, slice);
    // An error before the time is over is no time-out: the node is lost, or does not know the run.
    if (event || !node->connected() || Clock::now() - asked < slice / 2) co_return event;
  }
}

// Only for its events so far unread: the exit of a process that has said all it had to say.
Awaitable<bool> see_off(std::shared_ptr<NodeControl> node, std::string run_id) {
  const auto deadline = within(kExit);
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
  start.token = request.token;
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

// The process that opens and closes the window, until it has said all that it has to say. What runs by itself may take
// long, as long as it gets on.
Awaitable<Story> watch(std::shared_ptr<NodeControl> node, RunRequest request, Deadline deadline, RunHooks hooks) {
  Story story;
  while (!story.over()) {
    auto event = co_await next(node, request.run_id, deadline, hooks.stopped);
    if (!event) {
      story.give_up(event.error().message);
      break;
    }
    const auto news = story.take(std::move(*event));
    const bool gets_on = news == Story::News::progress && request.link.local();
    if (news == Story::News::ready || news == Story::News::window_opened || gets_on)
      *deadline = Clock::now() + request.window_timeout;
    if (news == Story::News::window_opened && hooks.window_open) hooks.window_open();
    if (news == Story::News::window_closed && hooks.window_closed) hooks.window_closed();
  }
  co_return story;
}

// What else takes part, until it has said all that it has to say.
Awaitable<Story> listen(std::shared_ptr<NodeControl> node, std::string run_id, Deadline deadline,
                        std::function<bool()> stopped) {
  Story story;
  while (!story.over()) {
    auto event = co_await next(node, run_id, deadline, stopped);
    if (event)
      story.take(std::move(*event));
    else
      story.give_up(event.error().message);
  }
  co_return story;
}

// A client beside the first.
Awaitable<Story> follow(Nodes& nodes, Link link, agents::ConnectRequest where, Deadline deadline,
                        std::function<bool()> stopped) {
  const auto node = nodes.at(link.client);
  auto run_id = where.run_id;
  where.server_clock = co_await clock_between(nodes, link.client, link.server);
  auto connected = co_await node->connect_client(std::move(where));
  if (connected) co_return co_await listen(node, std::move(run_id), std::move(deadline), std::move(stopped));
  Story story;
  story.give_up(connected.error().message);
  co_return story;
}

// The server, while the clients measure. Without it they need not be waited for long.
Awaitable<Story> attend(std::shared_ptr<NodeControl> node, std::string run_id, Deadline deadline, Deadline clients) {
  auto story = co_await listen(std::move(node), std::move(run_id), std::move(deadline), {});
  if (!story.record) *clients = std::min(*clients, Clock::now() + kExit);
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
  const auto deadline = within(limit);
  const auto run_id = request.run_id;
  auto started = co_await node->start(std::move(request));
  if (!started) story.failed = started.error().message;
  while (story.port == 0 && !story.over()) {
    auto event = co_await next(node, run_id, deadline, {});
    if (event)
      story.take(std::move(*event));
    else
      story.give_up(fmt::format("the server did not listen: {}", event.error().message));
  }
  co_return story;
}

// One process on one node.
Awaitable<RunOutcome> execute_local(Nodes& nodes, RunRequest request, RunHooks hooks) {
  auto node = nodes.at(request.link.client);
  auto begun = co_await start_process(node, start_request(request, Role::local, request.link.from));
  if (!begun.over()) begun = co_await watch(node, request, within(request.setup_timeout), hooks);
  Stories stories{{request.link.client, begun}};
  auto outcome = outcome_of(stories);
  outcome.measuring = begun.measuring();
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

  auto connecting = connect_request(request, request.link, prepared.port);
  connecting.server_clock = co_await clock_between(nodes, request.link.client, request.link.server);
  auto told = co_await node->connect_client(std::move(connecting));
  // One that cannot be told has ended: what it said explains it.
  const auto deadline = within(told ? request.setup_timeout : kExit);
  const auto server_deadline = by(Clock::time_point::max());
  auto serving = co_await Pending<Story>::start(attend(server, request.run_id, server_deadline, deadline));
  std::vector<Pending<Story>> further;
  for (const auto& link : request.link.beside) {
    auto following = co_await Pending<Story>::start(follow(nodes, link, connect_request(request, link, prepared.port),
                                                           by(*deadline + request.window_timeout), hooks.stopped));
    further.push_back(std::move(following));
  }
  auto client = co_await watch(node, request, deadline, hooks);
  if (client.given_up && !told) client.failed = told.error().message;

  *server_deadline = Clock::now() + kServerRecord;
  if (!client.record) {
    // The server's message explains a failed run; it may send none.
    if (node->connected() && !client.exit) {
      auto ignored = co_await node->stop(request.run_id);
      (void)ignored;
    }
    if (server->connected()) {
      auto ignored = co_await server->stop(request.run_id);
      (void)ignored;
    }
  }
  auto served = co_await serving.wait();
  if (!client.record) served.record.reset();

  Stories stories{{request.link.client, client}};
  for (std::size_t i = 0; i < further.size(); ++i) {
    auto story = co_await further[i].wait();
    stories.emplace_back(request.link.beside[i].client, std::move(story));
  }

  const bool stopped_server = !client.record && !served.failed && !served.unsupported;
  if (!stopped_server) stories.emplace_back(request.link.server, served);  // stopped by us: nothing to complain about
  if (stopped_server && !served.exit) co_await see_off(server, request.run_id);
  auto outcome = outcome_of(stories);
  outcome.measuring = client.measuring();
  co_await end_all(nodes, request.run_id, std::move(stories));
  co_return outcome;
}

}  // namespace longhaul::orchestrator
