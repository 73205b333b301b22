#include "agents/session.hh"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "agents/broken.hh"
#include "agents/command.hh"
#include "agents/prober.hh"
#include "agents/protocol/tuple.hh"
#include "common/address.hh"
#include "common/log.hh"
#include "common/version.hh"
#include "degen/impairment/spec.hh"
#include "observe/clock.hh"
#include "observe/facts.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds kFarewell{2};  ///< for the last words to arrive
/// A controller that asks and does not read the answers is not read any further beyond this, or they would fill our
/// memory. A record may be longer; it is one.
constexpr std::size_t kUnread = std::size_t{1} << 20;
constexpr std::chrono::seconds kSlowReader{30};

ServerMessage error_message(std::string text) {
  return {.kind = ServerMessageKind::error, .error = std::move(text)};
}

}  // namespace

ControllerSession::ControllerSession(NodeServices& node, std::shared_ptr<Stream> stream, Identity controller,
                                     std::string from)
    : node_(node),
      stream_(std::move(stream)),
      controller_(std::move(controller)),
      from_(std::move(from)),
      watch_(node_.options.credentials, controller_) {}

AuditEvent ControllerSession::audit(AuditKind kind) const {
  return {.event = kind, .controller = controller_.name, .serial = controller_.serial, .from = from_};
}

asio::awaitable<void> ControllerSession::run() {
  const auto self = shared_from_this();
  std::string reason;
  try {
    reason = co_await listen();
  } catch (const std::exception& error) {
    // Out of memory or of descriptors, for instance: this session ends, and with it its runs; the others go on.
    reason = error.what();
    log::error("controller {}: its session ends: {}", controller_.name, reason);
  }
  let_go(reason);
  co_await stream_->finish(kFarewell);
}

asio::awaitable<std::string> ControllerSession::listen() {
  const auto self = shared_from_this();
  const auto executor = co_await asio::this_coro::executor;
  send({.kind = ServerMessageKind::hello,
        .hello = Hello{.node = node_.name, .version = version_text(), .lease = node_.options.lease.count()}});
  node_.audit->write(audit(AuditKind::connected));
  for (;;) {
    co_await stream_->room(kUnread, kSlowReader);
    auto frame = co_await stream_->read(node_.options.lease);
    if (!frame) {
      if (stream_->closed()) {
        log::info("controller {}: {}", controller_.name, frame.error().message);
      } else {
        log::warn("controller {}: bad message: {}", controller_.name, frame.error().message);
        send(error_message(frame.error().message));
      }
      co_return frame.error().message;
    }
    // Heartbeats come every few seconds: so often it is looked at.
    if (const auto objection = watch_.objection(); !objection.empty()) {
      const auto reason = "its certificate " + objection;
      log::warn("controller {}: {}", controller_.name, reason);
      send(error_message(fmt::format("the certificate of controller {} {}", controller_.name, objection)));
      co_return reason;
    }
    auto request = request_from_json(*frame);
    if (!request) {
      log::warn("controller {}: bad message: {}", controller_.name, request.error().message);
      send(error_message(request.error().message));
      co_return request.error().message;
    }
    if (unanswered_ >= node_.options.max_requests) {
      const auto reason = fmt::format("{} requests wait for their answers already", unanswered_);
      send(error_message(reason));
      co_return reason;
    }
    ++unanswered_;
    asio::co_spawn(
        executor, [self, asked = std::move(*request)] { return self->serve(asked); },
        [self](const std::exception_ptr& broken) { self->end_if(broken); });
  }
}

void ControllerSession::end_if(const std::exception_ptr& broken) {
  if (!broken) return;
  const auto why = message_of(broken);
  log::error("controller {}: its session ends: {}", controller_.name, why);
  end(why);
}

void ControllerSession::end(const std::string& reason) {
  stream_->close(reason);
  let_go(reason);
}

void ControllerSession::let_go(const std::string& reason) {
  if (alive_) {
    auto event = audit(AuditKind::disconnected);
    event.reason = reason;
    node_.audit->write(std::move(event));
  }
  alive_.reset();
  for (auto& [id, process] : runs_) process->abandon();
  runs_.clear();
  echoes_.clear();
  if (degen_) degen_->close();
  degen_.reset();
}

void ControllerSession::send(ServerMessage message) {
  stream_->send(to_json(message));
}

asio::awaitable<void> ControllerSession::serve(Request request) {
  const auto self = shared_from_this();
  if (!alive_) co_return;  // the session ended while this waited for its turn: nothing is started any more
  const auto id = request.id;
  Result<Reply> reply;
  try {
    reply = co_await answer(std::move(request));
  } catch (const std::exception& error) {
    reply = fail("{}", error.what());
  }
  --unanswered_;
  if (!alive_) co_return;
  if (!reply) {
    const auto& error = reply.error();
    reply = Reply{.failure = Failure{.message = error.message, .exit_code = static_cast<int>(error.exit_code)}};
  }
  reply->id = id;
  send({.kind = ServerMessageKind::reply, .reply = std::move(*reply)});
}

asio::awaitable<Result<Reply>> ControllerSession::answer(Request request) {
  const auto self = shared_from_this();
  switch (request.kind) {
    case RequestKind::heartbeat:
      break;
    case RequestKind::facts:
      co_return Reply{.facts = observe::node_facts()};
    case RequestKind::clock:
      co_return Reply{.clock = observe::to_ns(observe::raw_time())};
    case RequestKind::start:
      co_return co_await start(std::move(*request.start));
    case RequestKind::connect:
      co_return connect(*request.connect);
    case RequestKind::stop:
      co_return co_await stop(std::move(*request.stop));
    case RequestKind::echo:
      co_return echo(*request.echo);
    case RequestKind::probe: {
      auto result = co_await send_probes(std::move(*request.probe), alive_);
      if (!result) co_return tl::unexpected(result.error());
      co_return Reply{.probe = std::move(*result)};
    }
    case RequestKind::degen:
      co_return co_await degen(std::move(*request.degen));
  }
  co_return Reply{};
}

asio::awaitable<Result<Reply>> ControllerSession::start(StartRequest request) {
  const auto self = shared_from_this();
  const auto run_id = request.run_id;
  Result<Reply> reply;
  try {
    reply = co_await start_process(std::move(request));
  } catch (const std::exception& error) {
    reply = fail("{}", error.what());  // it cannot be executed, for instance
  }
  if (!reply) {
    auto event = audit(AuditKind::refused);
    event.run = run_id;
    event.reason = reply.error().message;
    node_.audit->write(std::move(event));
  }
  co_return reply;
}

asio::awaitable<Result<Reply>> ControllerSession::start_process(StartRequest request) {
  const auto self = shared_from_this();
  auto arguments = bench_command(node_.options.bench, request, node_.catalog);
  if (!arguments) co_return tl::unexpected(arguments.error());

  const auto executor = co_await asio::this_coro::executor;
  const auto deadline = std::chrono::steady_clock::now() + node_.options.handover;
  asio::steady_timer pause{executor};
  for (;;) {
    std::erase_if(runs_, [](const auto& run) { return run.second->finished(); });
    std::erase_if(node_.processes, [](const auto& weak) {
      const auto process = weak.lock();
      return !process || process->finished();
    });
    const auto of_others = node_.processes.size() - std::min(node_.processes.size(), runs_.size());
    if (of_others == 0) break;
    // Two campaigns at once on one node would measure each other.
    if (std::chrono::steady_clock::now() >= deadline)
      co_return fail("node {} is busy: another controller's run {} is there", node_.name,
                     node_.processes.front().lock()->run_id());
    pause.expires_after(std::chrono::milliseconds{20});
    (void)co_await pause.async_wait(kTuple);
    if (!alive_) co_return fail("the session is over");
  }
  if (runs_.contains(request.run_id)) co_return fail("run {} is running already", request.run_id);
  if (runs_.size() >= node_.options.max_runs) co_return fail("{} runs are there already", runs_.size());
  auto begun = audit(AuditKind::started);
  begun.run = request.run_id;
  begun.arguments = *arguments;
  ProcessOptions options{.cpus = node_.options.cpus,
                         .limits = node_.options.limits,
                         .padding = request.padding.value_or(0),
                         .token = request.token,
                         .grace = node_.options.stop_grace,
                         .on_exit = [log = node_.audit, ended = begun](const ChildExit& exit) mutable {
                           ended.event = AuditKind::ended;
                           ended.arguments.reset();
                           ended.exit = exit.text();
                           log->write(std::move(ended));
                         }};
  auto process = Process::start(executor, request.run_id, std::move(*arguments), std::move(options),
                                [weak = weak_from_this()](RunEvent event) {
                                  if (const auto session = weak.lock()) session->relay(std::move(event));
                                });
  node_.audit->write(std::move(begun));
  node_.processes.push_back(process);
  runs_.emplace(request.run_id, std::move(process));
  co_return Reply{};
}

Result<Reply> ControllerSession::connect(const ConnectRequest& request) {
  const auto it = runs_.find(request.run_id);
  if (it == runs_.end()) return fail("run {} is not there", request.run_id);
  const auto& clock = request.server_clock;
  it->second->tell(fmt::format("{}{}\n", to_text({.host = request.peer, .port = request.peer_port}),
                               clock ? fmt::format(" {} {}", clock->offset, clock->error) : ""));
  return Reply{};
}

asio::awaitable<Result<Reply>> ControllerSession::stop(StopRequest request) {
  const auto self = shared_from_this();
  if (const auto it = runs_.find(request.run_id); it != runs_.end()) {
    const auto process = it->second;
    auto event = audit(AuditKind::stopped);
    event.run = request.run_id;
    if (!process->finished()) node_.audit->write(std::move(event));
    co_await process->stop(node_.options.stop_grace);
  }
  co_return Reply{};
}

Result<Reply> ControllerSession::echo(const EchoRequest& request) {
  if (!request.on) {
    echoes_.erase(request.address);
    return Reply{};
  }
  constexpr std::size_t kMaxEchoes = 64;
  if (echoes_.size() >= kMaxEchoes && !echoes_.contains(request.address))
    return fail("{} addresses answer probes already", echoes_.size());
  auto echo = node_.echoes.at(request.address, token_of(request.token));
  if (!echo) return tl::unexpected(echo.error());
  // The new one is there before the old one goes: the address answers all the time.
  echoes_.erase(request.address);
  echoes_.emplace(request.address, std::move(*echo));
  return Reply{};
}

asio::awaitable<Result<Reply>> ControllerSession::degen(longhaul::degen::Request request) {
  const auto self = shared_from_this();
  if (node_.options.degen_socket.empty())
    co_return refuse("node {} emulates no WAN (its agent was started without --degen)", node_.name);
  if (request.kind == longhaul::degen::RequestKind::apply) {
    if (const auto impairment = longhaul::degen::make_impairment(request.parameters); !impairment)
      co_return tl::unexpected(impairment.error());
  }
  if (!degen_) {
    degen_ =
        std::make_shared<DegenLink>(co_await asio::this_coro::executor, node_.options.degen_socket,
                                    fmt::format("longhaul-agent {} for controller {}", node_.name, controller_.name));
  }
  const auto link = degen_;
  auto event = audit(AuditKind::impairment);
  event.request = boost::describe::enum_to_string(request.kind, "?");
  event.engine = request.engine;
  event.parameters = request.parameters;
  event.force = request.force;
  const bool changes =
      request.kind == longhaul::degen::RequestKind::apply || request.kind == longhaul::degen::RequestKind::clear;
  auto reply = co_await link->request(std::move(request));
  if (!reply) event.reason = reply.error().message;
  if (reply && !reply->ok) event.reason = reply->error.value_or("");
  if (changes) node_.audit->write(std::move(event));
  if (!reply) co_return tl::unexpected(reply.error());
  co_return Reply{.degen = std::move(*reply)};
}

// Called by a process's own supervision, which has to go on whatever becomes of this session.
void ControllerSession::relay(RunEvent event) try {
  ServerMessage message{.kind = ServerMessageKind::event, .event = std::move(event)};
  auto text = to_json(message);
  if (text.size() > kMaxFrame) {
    message.event->bench =
        BenchEvent{.kind = BenchEventKind::failed,
                   .time = observe::wall_time(),
                   .message = fmt::format("its record takes {} bytes, at most {} are carried", text.size(), kMaxFrame)};
    text = to_json(message);
  }
  stream_->send(std::move(text));
} catch (const std::exception&) {
  end_if(std::current_exception());
}

}  // namespace longhaul::agents
