#include "agents/protocol/controller.hh"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <limits>
#include <map>

#include "agents/protocol/stream.hh"
#include "agents/protocol/tuple.hh"
#include "common/log.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

namespace {

using Tcp = asio::ip::tcp;

constexpr std::size_t kKeptRuns = 32;  ///< runs that have ended and whose events nobody has fetched yet

/// An agent answers a heartbeat at once: silence for this many of them is a lost agent.
constexpr int kSilentHeartbeats = 8;
constexpr int kClockExchanges = 4;

/// Of all runs of an agent, not yet fetched. Whoever sends more is no agent of ours: a run has a handful of events, and
/// its record at most kMaxFrame.
constexpr std::size_t kMaxWaitingEvents = 4096;
constexpr std::size_t kMaxWaitingBytes = 4 * kMaxFrame;
/// Of one run, fetched or not: what is fetched as fast as it comes would keep this program busy to the run's time
/// limit. A bench tells of its progress some times a second.
constexpr std::size_t kMaxRunEvents = 100'000;

std::string where(const Node& node) {
  return fmt::format("agent {} at {}:{}", node.name, node.host, node.port);
}

}  // namespace

struct Controller::Link : std::enable_shared_from_this<Link> {
  struct Call {
    asio::steady_timer wake;
    std::optional<Reply> reply;
  };
  struct Waiting {
    RunEvent event;
    std::size_t bytes = 0;  ///< of its frame
  };
  struct Run {
    asio::steady_timer wake;
    std::deque<Waiting> events;
    std::size_t bytes = 0;  ///< of all of them
    std::size_t heard = 0;  ///< those that were fetched, too
    bool ended = false;
  };
  struct Heard {
    ServerMessage message;
    std::size_t bytes = 0;
  };

  Link(asio::any_io_executor on, Node to, ControllerOptions with)
      : executor(std::move(on)), node(std::move(to)), options(with), heart(executor) {}

  asio::any_io_executor executor;
  Node node;
  ControllerOptions options;
  asio::steady_timer heart;
  Hello hello;
  Identity agent;
  std::optional<PeerWatch> watch;  ///< set while there is a connection
  std::shared_ptr<Stream> stream;
  std::uint64_t last_id = 0;
  std::map<std::uint64_t, std::shared_ptr<Call>> calls;
  std::map<std::string, std::shared_ptr<Run>> runs;
  std::optional<Error> lost;

  tl::unexpected<Error> error(const std::string& text) const { return fail("{}: {}", where(node), text); }
  /// The same refusal with the node's name.
  tl::unexpected<Error> error(const Error& from) const {
    return tl::unexpected(Error{fmt::format("{}: {}", where(node), from.message), from.exit_code});
  }

  void lose(Error reason) {
    if (lost) return;
    lost = std::move(reason);
    if (stream) stream->close(lost->message);
    heart.cancel();
    for (auto& [id, call] : calls) call->wake.cancel();
    for (auto& [id, run] : runs) run->wake.cancel();
  }

  /// Refuses what nobody can fetch as fast as it comes. After a run's end nothing more is taken of it.
  Result<void> take(RunEvent event, std::size_t bytes) {
    const auto it = runs.find(event.run_id);
    if (it == runs.end() || it->second->ended) return {};
    std::size_t count = 1;
    std::size_t total = bytes;
    for (const auto& [id, run] : runs) {
      count += run->events.size();
      total += run->bytes;
    }
    if (count > kMaxWaitingEvents || total > kMaxWaitingBytes)
      return error(fmt::format("floods this program with events: {} of {} bytes wait, at most {} of {} are kept", count,
                               total, kMaxWaitingEvents, kMaxWaitingBytes));
    auto& run = *it->second;
    if (++run.heard > kMaxRunEvents)
      return error(fmt::format("floods this program with events: more than {} of one run", kMaxRunEvents));
    run.ended = event.exit.has_value();
    run.events.push_back({std::move(event), bytes});
    run.bytes += bytes;
    run.wake.cancel();
    return {};
  }

  void forget_old_runs() {
    std::size_t ended = 0;
    for (const auto& [id, run] : runs) ended += run->ended ? 1 : 0;
    if (ended <= kKeptRuns) return;
    std::erase_if(runs, [](const auto& entry) { return entry.second->ended; });
  }

  static Awaitable<Result<Heard>> read(std::shared_ptr<Link> link, Nanoseconds timeout) {
    auto frame = co_await link->stream->read(timeout);
    if (!frame) co_return link->error(frame.error().message);
    auto message = server_message_from_json(*frame);
    if (!message) co_return link->error(fmt::format("does not speak the protocol: {}", message.error().message));
    if (message->kind == ServerMessageKind::error) co_return link->error(*message->error);
    Heard heard{std::move(*message), frame->size()};
    co_return heard;
  }

  static Awaitable<void> receive(std::shared_ptr<Link> link) {
    const auto patience = link->options.heartbeat * kSilentHeartbeats;
    while (!link->lost) {
      auto heard = co_await read(link, patience);
      if (!heard) {
        link->lose(heard.error());
        co_return;
      }
      // Its answers to heartbeats come every few seconds: so often it is looked at.
      if (const auto objection = link->watch->objection(); !objection.empty()) {
        link->lose(link->error(fmt::format("its certificate {}", objection)).value());
        co_return;
      }
      auto& message = heard->message;
      if (message.event) {
        if (const auto taken = link->take(std::move(*message.event), heard->bytes); !taken) link->lose(taken.error());
      }
      if (message.reply) {
        // One that is not waited for any more came after its time-out; one that nobody can have waited for is no
        // answer.
        if (message.reply->id > link->last_id)
          link->lose(link->error(fmt::format("answers request {}, which was never made", message.reply->id)).value());
        if (const auto it = link->calls.find(message.reply->id); it != link->calls.end()) {
          it->second->reply = std::move(*message.reply);
          it->second->wake.cancel();
        }
      }
    }
  }

  static Awaitable<Result<Reply>> call(std::shared_ptr<Link> link, Request request, Nanoseconds extra = {}) {
    if (link->lost) co_return tl::unexpected(*link->lost);
    request.id = ++link->last_id;
    const auto text = to_json(request);
    if (text.size() > kMaxRequest)
      co_return link->error(fmt::format("request of {} bytes, at most {} are taken", text.size(), kMaxRequest));
    const auto id = request.id;
    const auto waiting = std::make_shared<Call>(Call{asio::steady_timer{link->executor}, {}});
    waiting->wake.expires_after(link->options.request_timeout + extra);
    link->calls.emplace(id, waiting);
    link->stream->send(text);
    (void)co_await waiting->wake.async_wait(kTuple);
    link->calls.erase(id);
    if (waiting->reply) {
      if (waiting->reply->failure) {
        const auto code = waiting->reply->failure->exit_code == static_cast<int>(ExitCode::usage) ? ExitCode::usage
                                                                                                  : ExitCode::failure;
        co_return tl::unexpected(
            Error{fmt::format("{}: {}", where(link->node), waiting->reply->failure->message), code});
      }
      co_return std::move(*waiting->reply);
    }
    if (link->lost) co_return tl::unexpected(*link->lost);
    co_return link->error(fmt::format("no answer to '{}' in {} s", boost::describe::enum_to_string(request.kind, "?"),
                                      (link->options.request_timeout + extra).count() / 1'000'000'000));
  }

  static Awaitable<void> beat(std::shared_ptr<Link> link) {
    while (!link->lost) {
      link->heart.expires_after(link->options.heartbeat);
      (void)co_await link->heart.async_wait(kTuple);
      if (link->lost) co_return;
      Request request;
      request.kind = RequestKind::heartbeat;
      request.id = ++link->last_id;
      link->stream->send(to_json(request));  // its answer only proves to `receive` that the agent lives
    }
  }

  static Awaitable<Result<void>> open(std::shared_ptr<Link> link, Credentials credentials) {
    const auto own = own_identity(credentials);
    if (!own) co_return tl::unexpected(own.error());
    if (const auto ok = check_identity(*own, PeerRole::controller); !ok)
      co_return refuse("{}: {}", credentials.cert, ok.error().message);
    const auto context = make_ssl_context(credentials, TlsSide::client);
    if (!context) co_return tl::unexpected(context.error());

    Tcp::socket socket{link->executor};
    Tcp::resolver resolver{link->executor};
    const auto over = std::make_shared<bool>(false);  // shared: a handler that is queued already outlives cancel()
    asio::steady_timer timer{link->executor, link->options.connect_timeout};
    const auto deadline = timer.expiry();
    timer.async_wait([&socket, &resolver, over](auto error) {
      if (error || *over) return;
      *over = true;
      resolver.cancel();
      boost::system::error_code ignored;
      socket.close(ignored);
    });
    const auto finished = [&](const boost::system::error_code& error) {
      const bool late = *over;
      *over = true;  // from here on the timer's handler touches nothing
      timer.cancel();
      return link->error(late ? std::string{"no connection in time"} : error.message());
    };
    const auto service = std::to_string(link->node.port);
    const auto [not_found, endpoints] = co_await resolver.async_resolve(link->node.host, service, kTuple);
    if (not_found) co_return finished(not_found);
    const auto [refused, endpoint] = co_await asio::async_connect(socket, endpoints, kTuple);
    if (refused) co_return finished(refused);
    *over = true;
    timer.cancel();

    link->stream = std::make_shared<Stream>(std::move(socket), context->get(), kMaxFrame);
    const auto left = [deadline] {
      return std::max<Nanoseconds>(std::chrono::milliseconds{1}, deadline - asio::steady_timer::clock_type::now());
    };
    const auto peer = co_await link->stream->handshake(TlsSide::client, left());
    if (!peer) co_return link->error(peer.error());
    if (const auto ok = check_identity(*peer, PeerRole::agent, link->node.name); !ok) {
      link->stream->close("wrong certificate");
      co_return link->error(ok.error());
    }
    link->agent = *peer;
    link->watch.emplace(std::move(credentials), *peer);
    // With TLS 1.3 our handshake is over before the agent has looked at our certificate: its hello proves that it took
    // us.
    auto heard = co_await read(link, left());
    if (!heard) co_return tl::unexpected(heard.error());
    if (!heard->message.hello) co_return link->error("does not speak the protocol: expected its hello first");
    link->hello = std::move(*heard->message.hello);
    if (link->hello.protocol != kProtocol) {
      link->stream->close("other version");
      co_return link->error(fmt::format(
          "speaks version {} of the protocol, this program {}: install the same longhaul on both ({} there)",
          link->hello.protocol, kProtocol, link->hello.version));
    }
    if (link->hello.lease > 0)
      link->options.heartbeat = std::min(link->options.heartbeat, Nanoseconds{link->hello.lease / 4});
    co_return Result<void>{};
  }
};

Controller::Controller(std::shared_ptr<Link> link) : link_(std::move(link)) {}
Controller::Controller(Controller&&) noexcept = default;

Controller& Controller::operator=(Controller&& other) noexcept {
  if (this != &other) {
    if (link_) link_->lose(link_->error("closed").value());
    link_ = std::move(other.link_);
  }
  return *this;
}

Controller::~Controller() {
  if (link_) link_->lose(link_->error("closed").value());
}

Awaitable<Result<Controller>> Controller::connect(Node node, Credentials credentials, ControllerOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  auto link = std::make_shared<Link>(executor, std::move(node), options);
  const auto opened = co_await Link::open(link, std::move(credentials));
  if (!opened) {
    if (link->stream) link->stream->close("given up");
    co_return tl::unexpected(opened.error());
  }
  asio::co_spawn(executor, Link::receive(link), asio::detached);
  asio::co_spawn(executor, Link::beat(link), asio::detached);
  co_return Controller{std::move(link)};
}

const Node& Controller::node() const {
  return link_->node;
}
const Hello& Controller::hello() const {
  return link_->hello;
}
const Identity& Controller::agent() const {
  return link_->agent;
}
bool Controller::connected() const {
  return !link_->lost;
}

// The members below are not coroutines themselves: a Controller may be moved while one of its calls waits.
namespace {

Awaitable<Result<void>> no_body(Awaitable<Result<Reply>> call) {
  const auto reply = co_await std::move(call);
  if (!reply) co_return tl::unexpected(reply.error());
  co_return Result<void>{};
}

/// The member of the reply that the request asked for.
template <typename T>
Awaitable<Result<T>> body(Awaitable<Result<Reply>> call, std::optional<T> Reply::*member, std::string agent) {
  auto reply = co_await std::move(call);
  if (!reply) co_return tl::unexpected(reply.error());
  if (!((*reply).*member)) co_return fail("{}: does not speak the protocol: its reply lacks what was asked for", agent);
  co_return std::move(*((*reply).*member));
}

}  // namespace

Awaitable<Result<NodeFacts>> Controller::facts() {
  Request request;
  request.kind = RequestKind::facts;
  return body(Link::call(link_, std::move(request)), &Reply::facts, where(link_->node));
}

Awaitable<Result<ClockOffset>> Controller::clock() {
  const auto now = [] {
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  ClockOffset best{.error = std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < kClockExchanges; ++i) {
    Request request;
    request.kind = RequestKind::clock;
    const auto asked = now();
    const auto told = co_await body(Link::call(link_, std::move(request)), &Reply::clock, where(link_->node));
    if (!told) co_return tl::unexpected(told.error());
    const auto error = (now() - asked) / 2;
    if (error < best.error) best = {.offset = *told - (asked + error), .error = error};
  }
  co_return best;
}

Awaitable<Result<void>> Controller::start(StartRequest start) {
  link_->forget_old_runs();
  // Before the request: the first events may come together with its reply.
  link_->runs.insert_or_assign(start.run_id,
                               std::make_shared<Link::Run>(Link::Run{asio::steady_timer{link_->executor}, {}}));
  Request request;
  request.kind = RequestKind::start;
  const auto run_id = start.run_id;
  request.start = std::move(start);
  return [](std::shared_ptr<Link> link, Request asked, std::string id) -> Awaitable<Result<void>> {
    auto reply = co_await Link::call(link, std::move(asked));
    if (reply) co_return Result<void>{};
    link->runs.erase(id);
    co_return tl::unexpected(reply.error());
  }(link_, std::move(request), run_id);
}

Awaitable<Result<void>> Controller::connect_client(ConnectRequest connect) {
  Request request;
  request.kind = RequestKind::connect;
  request.connect = std::move(connect);
  return no_body(Link::call(link_, std::move(request)));
}

Awaitable<Result<void>> Controller::stop(std::string run_id) {
  Request request;
  request.kind = RequestKind::stop;
  request.stop = StopRequest{.run_id = std::move(run_id)};
  return no_body(Link::call(link_, std::move(request)));
}

Awaitable<Result<RunEvent>> Controller::next_event(std::string run_id, Nanoseconds timeout) {
  return [](std::shared_ptr<Link> link, std::string id, Nanoseconds limit) -> Awaitable<Result<RunEvent>> {
    const auto it = link->runs.find(id);
    if (it == link->runs.end()) co_return link->error(fmt::format("run {} is not there", id));
    const auto run = it->second;
    const auto deadline = asio::steady_timer::clock_type::now() + limit;
    while (run->events.empty()) {
      if (link->lost) co_return tl::unexpected(*link->lost);
      if (asio::steady_timer::clock_type::now() >= deadline)
        co_return link->error(fmt::format("nothing happened to run {} in {} ms", id, limit.count() / 1'000'000));
      run->wake.expires_at(deadline);
      (void)co_await run->wake.async_wait(kTuple);
    }
    auto event = std::move(run->events.front().event);
    run->bytes -= run->events.front().bytes;
    run->events.pop_front();
    if (event.exit) {
      // Unless a new run of the same name has taken its place.
      if (const auto now = link->runs.find(id); now != link->runs.end() && now->second == run) link->runs.erase(now);
    }
    co_return event;
  }(link_, std::move(run_id), timeout);
}

Awaitable<Result<void>> Controller::probe_echo(EchoRequest echo) {
  Request request;
  request.kind = RequestKind::echo;
  request.echo = std::move(echo);
  return no_body(Link::call(link_, std::move(request)));
}

Awaitable<Result<ProbeResult>> Controller::probe(ProbeRequest probe) {
  const Nanoseconds takes{probe.interval * probe.count + probe.timeout};
  Request request;
  request.kind = RequestKind::probe;
  request.probe = std::move(probe);
  return body(Link::call(link_, std::move(request), takes), &Reply::probe, where(link_->node));
}

Awaitable<Result<longhaul::degen::Reply>> Controller::degen(longhaul::degen::Request asked) {
  Request request;
  request.kind = RequestKind::degen;
  request.degen = std::move(asked);
  return [](std::shared_ptr<Link> link, Request about) -> Awaitable<Result<longhaul::degen::Reply>> {
    auto reply = co_await body(Link::call(link, std::move(about)), &Reply::degen, where(link->node));
    if (reply && !reply->ok)
      co_return link->error(fmt::format("degen: {}", reply->error.value_or("refused without a reason")));
    co_return reply;
  }(link_, std::move(request));
}

Awaitable<void> Controller::close() {
  return [](std::shared_ptr<Link> link) -> Awaitable<void> {
    if (link->lost) co_return;
    co_await link->stream->flush(std::chrono::seconds{1});
    link->lose(link->error("closed").value());
  }(link_);
}

}  // namespace longhaul::agents
