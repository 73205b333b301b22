#include "agents/agent.hh"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>

#include "agents/broken.hh"
#include "agents/protocol/tuple.hh"
#include "common/address.hh"
#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

Result<std::unique_ptr<Agent>> Agent::open(asio::io_context& context, AgentOptions options,
                                           const std::vector<WorkloadSpec>& catalog) {
  auto identity = own_identity(options.credentials);
  if (!identity) return tl::unexpected(identity.error());
  if (const auto ok = check_identity(*identity, PeerRole::agent); !ok)
    return refuse("{}: {}", options.credentials.cert, ok.error().message);
  boost::system::error_code bad;
  const auto address = asio::ip::make_address(options.host, bad);
  if (bad) return refuse("expected a numeric address to listen at, got '{}'", options.host);

  std::unique_ptr<Agent> agent{new Agent{context, std::move(options), identity->name, catalog}};
  if (const auto ok = agent->refresh_context(); !ok) return tl::unexpected(ok.error());
  if (const auto& file = agent->node_.options.audit; !file.empty()) {
    auto audit = AuditLog::open(file, agent->node_.name);
    if (!audit) return tl::unexpected(audit.error());
    *agent->node_.audit = std::move(*audit);
  }
  const Tcp::endpoint endpoint{address, agent->node_.options.port};
  try {
    agent->acceptor_.open(endpoint.protocol());
    agent->acceptor_.set_option(Tcp::acceptor::reuse_address(true));  // restarted at once after a crash
    agent->acceptor_.bind(endpoint);
    agent->acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    throw_errno(fmt::format("listening on {} port {}", agent->node_.options.host, agent->node_.options.port),
                error.code().value());
  }
  agent->port_ = agent->acceptor_.local_endpoint().port();
  asio::co_spawn(context, agent->accept(), asio::detached);
  asio::co_spawn(context, agent->remind(), asio::detached);
  return agent;
}

Agent::Agent(asio::io_context& context, AgentOptions options, std::string name,
             const std::vector<WorkloadSpec>& catalog)
    : context_(context),
      node_{.options = std::move(options),
            .name = std::move(name),
            .catalog = catalog,
            .echoes = Echoes{context.get_executor()},
            .audit = std::make_shared<AuditLog>(),
            .processes = {}},
      acceptor_(context),
      daily_(context) {}

Agent::~Agent() {
  close();
}

/// Certificates can be renewed and revoked while the agent runs: the next connection sees it.
Result<void> Agent::refresh_context() {
  auto now = fingerprint(node_.options.credentials);
  if (ssl_ && now == ssl_fingerprint_) return {};
  auto fresh = make_ssl_context(node_.options.credentials, TlsSide::server);
  if (!fresh) return tl::unexpected(fresh.error());
  ssl_ = std::move(*fresh);
  ssl_fingerprint_ = std::move(now);
  warn_of_expiry();
  return {};
}

void Agent::warn_of_expiry() const {
  const auto warnings = expiry_warnings(node_.options.credentials, std::chrono::system_clock::now());
  if (!warnings) return;  // whoever connects is refused, and that is told
  for (const auto& warning : *warnings) log::warn("{}", warning);
}

/// An agent runs for months, and its certificate may be over before anybody connects again.
asio::awaitable<void> Agent::remind() {
  for (;;) {
    daily_.expires_after(std::chrono::hours{24});
    (void)co_await daily_.async_wait(kTuple);
    if (!acceptor_.is_open()) co_return;
    warn_of_expiry();
  }
}

/// Never ends but with the agent: one that accepts nobody any more would look healthy from inside.
asio::awaitable<void> Agent::accept() {
  asio::steady_timer pause{context_};
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(kTuple);
    if (!acceptor_.is_open()) co_return;
    // Out of descriptors or of memory, or the connection was gone before it was taken.
    std::string trouble = error ? error.message() : "";
    try {
      if (!error) admit(std::move(socket));
    } catch (const std::exception& thrown) {
      trouble = thrown.what();
    }
    if (trouble.empty()) continue;
    log::warn("accepting a connection: {}", trouble);
    pause.expires_after(std::chrono::milliseconds{100});
    (void)co_await pause.async_wait(kTuple);
  }
}

void Agent::admit(Tcp::socket socket) {
  boost::system::error_code gone;
  const auto remote = socket.remote_endpoint(gone);
  if (gone) return;
  auto from = to_text({.host = remote.address().to_string(), .port = remote.port()});
  if (const auto ok = refresh_context(); !ok) return refuse_stranger(from, nullptr, ok.error().message);
  make_room();
  auto stream = std::make_shared<Stream>(std::move(socket), ssl_.get(), kMaxRequest);
  pending_.push_back({.stream = stream, .from = remote.address()});
  asio::co_spawn(context_, welcome(stream, from), [this, stream, from](const std::exception_ptr& broken) {
    if (!broken) return;
    const auto why = message_of(broken);
    stream->close(why);
    refuse_stranger(from, nullptr, why);
  });
}

/// A flood of half-open connections must not keep a controller out: of the address that has most of them the oldest
/// goes. So who floods from one address displaces himself, and from many he must be quicker than a handshake takes.
void Agent::make_room() {
  std::erase_if(pending_, [](const auto& one) { return one.stream.expired(); });
  while (pending_.size() >= std::max<std::size_t>(1, node_.options.max_pending)) {
    std::map<asio::ip::address, std::size_t> shares;
    for (const auto& one : pending_) ++shares[one.from];
    const auto most = std::max_element(shares.begin(), shares.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto oldest =
        std::find_if(pending_.begin(), pending_.end(), [&](const auto& one) { return one.from == most->first; });
    if (const auto stream = oldest->stream.lock()) stream->close("too many connections wait for their handshake");
    pending_.erase(oldest);
  }
}

void Agent::refuse_stranger(const std::string& from, const Identity* who, const std::string& reason) {
  const auto untold = refused_.admit(std::chrono::steady_clock::now());
  if (!untold) return;
  log::warn("{}: {}{}", from, reason, *untold > 0 ? fmt::format(" ({} more were refused before)", *untold) : "");
  AuditEvent event{.event = AuditKind::refused, .from = from, .reason = reason};
  if (who != nullptr) event.controller = who->name;
  if (who != nullptr) event.serial = who->serial;
  if (*untold > 0) event.count = *untold;
  node_.audit->write(std::move(event));
}

asio::awaitable<void> Agent::welcome(std::shared_ptr<Stream> stream, std::string from) {
  auto peer = co_await stream->handshake(TlsSide::server, node_.options.handshake_timeout);
  std::erase_if(pending_, [&](const auto& one) { return one.stream.expired() || one.stream.lock() == stream; });
  if (!peer) {
    refuse_stranger(from, nullptr, peer.error().message);
    stream->close("refused");
    co_return;
  }
  if (!acceptor_.is_open()) co_return;  // closed in the meantime
  std::erase_if(sessions_, [](const auto& weak) { return weak.expired(); });
  std::string refusal;
  if (const auto ok = check_identity(*peer, PeerRole::controller); !ok) refusal = ok.error().message;
  if (refusal.empty() && sessions_.size() >= node_.options.max_sessions)
    refusal = fmt::format("{} controllers are connected already", sessions_.size());
  if (!refusal.empty()) {
    refuse_stranger(from, &*peer, refusal);
    const ServerMessage message{.kind = ServerMessageKind::error, .error = refusal};
    stream->send(to_json(message));
    co_await stream->finish(std::chrono::seconds{1});
    co_return;
  }
  log::info("controller {} connected from {}", peer->name, from);
  const auto session = std::make_shared<ControllerSession>(node_, std::move(stream), std::move(*peer), std::move(from));
  sessions_.push_back(session);
  co_await session->run();
}

void Agent::close() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  daily_.cancel();
  for (const auto& one : pending_)
    if (const auto stream = one.stream.lock()) stream->close("the agent stops");
  for (const auto& weak : sessions_)
    if (const auto session = weak.lock()) session->end("the agent stops");
}

}  // namespace longhaul::agents
