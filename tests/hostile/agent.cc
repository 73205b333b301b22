// An agent that means harm, with a good certificate: for programs that control agents. Started by agent_test.cc:
//
//   hostile_agent KIND PKI NAME      serves until it is ended; its first line is its port
//
// In PKI is the testbed's authority, with the agent NAME. What the kinds do: kKinds.
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>
#include <string>

#include "agents/protocol/messages.hh"
#include "agents/protocol/stream.hh"
#include "common/frame.hh"
#include "observe/facts.hh"

namespace longhaul::agents {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Tcp = asio::ip::tcp;
template <typename T>
using Awaitable = asio::awaitable<T>;

// The terminal is cleared, its title changed, a line of somebody else's forged.
constexpr const char* kEscapes = "\x1b[2J\x1b]0;owned\x07\r\nlonghaul: all runs are ok\x7f\xc2\x9b";
constexpr auto kPatience = 60s;
constexpr std::size_t kRoom = std::size_t{4} << 20;  // waits for the peer to take it

struct Kind {
  const char* name;
  bool greets = true;  // says hello as an agent does, before it means harm
};
constexpr std::array kKinds{
    Kind{"clear", false},     // answers a TLS hello in clear text
    Kind{"mute", false},      // says nothing after the handshake
    Kind{"dribble", false},   // a hello, a byte a second
    Kind{"gigabyte", false},  // announces a frame of a gigabyte, and begins to send it
    Kind{"deep", false},      // arrays in arrays, a million deep
    Kind{"wide", false},      // eight million values
    Kind{"version", false},   // of another protocol
    Kind{"namesake", false},  // says that it is another node, in escapes
    Kind{"refuses"},          // refuses each request, in escapes
    Kind{"boasts"},           // its facts are escapes and a megabyte
    Kind{"strangers"},        // answers a hundred thousand requests that nobody made
    Kind{"flood"},            // events of a run without end
    Kind{"impossible"},       // a record whose distribution no histogram can have given
    Kind{"twins"},            // the same record again and again
    Kind{"vanishes"},         // goes when a run starts
};

std::string hello(int protocol, std::string node) {
  return to_json(ServerMessage{
      .kind = ServerMessageKind::hello,
      .hello = Hello{.protocol = protocol, .node = std::move(node), .version = kEscapes, .lease = 10'000'000'000},
      .reply = {},
      .event = {},
      .error = {}});
}

std::string reply(Reply body, std::uint64_t id) {
  body.id = id;
  return to_json(
      ServerMessage{.kind = ServerMessageKind::reply, .hello = {}, .reply = std::move(body), .event = {}, .error = {}});
}

std::string event(const std::string& run, BenchEvent body) {
  return to_json(ServerMessage{.kind = ServerMessageKind::event,
                               .hello = {},
                               .reply = {},
                               .event = RunEvent{.run_id = run, .bench = std::move(body), .exit = {}},
                               .error = {}});
}

NodeFacts boast() {
  auto facts = observe::node_facts();
  facts.kernel = kEscapes;
  facts.cpu_model = std::string(std::size_t{1} << 20, 'x') + kEscapes;
  return facts;
}

class HostileAgent {
 public:
  HostileAgent(asio::io_context& context, Kind kind, std::string name, const Credentials& with)
      : context_(context),
        kind_(kind),
        name_(std::move(name)),
        acceptor_(context, {asio::ip::address_v4::loopback(), 0}) {
    auto made = make_ssl_context(with, TlsSide::server);
    if (!made) throw std::runtime_error(made.error().message);
    ssl_ = std::move(*made);
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  Awaitable<void> serve() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(context_, meet(std::move(socket)), asio::detached);
    }
  }

 private:
  bool is(std::string_view kind) const { return kind == kind_.name; }

  Awaitable<void> meet(Tcp::socket socket) {
    if (is("clear")) {
      const std::string words = std::string("HTTP/1.1 200 OK\r\n\r\n") + kEscapes;
      const auto source = asio::buffer(words);
      (void)co_await asio::async_write(socket, source, asio::use_awaitable);
      co_return;
    }
    if (!kind_.greets && !is("version") && !is("namesake") && !is("deep") && !is("wide")) {
      co_await say_raw(std::move(socket));
      co_return;
    }
    const auto stream = std::make_shared<Stream>(std::move(socket), ssl_.get(), kMaxFrame);
    if (const auto peer = co_await stream->handshake(TlsSide::server, 10s); !peer) co_return;
    if (is("version")) stream->send(hello(kProtocol + 1, name_));
    if (is("namesake")) stream->send(hello(kProtocol, kEscapes));
    if (is("deep")) stream->send(std::string(1'000'000, '['));
    if (is("wide"))
      stream->send("[" + [] {
        std::string all;
        for (int i = 0; i < 8'000'000; ++i) all += "0,";
        return all;
      }() + "0]");
    if (kind_.greets) stream->send(hello(kProtocol, name_));
    for (;;) {
      const auto frame = co_await stream->read(kPatience);
      if (!frame) co_return;
      const auto request = request_from_json(*frame);
      if (!request) co_return;
      co_await answer(*stream, *request);
      if (stream->closed()) co_return;
    }
  }

  /// Under TLS, but in frames of its own.
  Awaitable<void> say_raw(Tcp::socket socket) {
    asio::ssl::context context{ssl_.get()};
    ::SSL_CTX_up_ref(ssl_.get());
    asio::ssl::stream<Tcp::socket> tls{std::move(socket), context};
    co_await tls.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
    asio::steady_timer pause{context_};
    if (is("gigabyte")) {
      std::string words("\x40\x00\x00\x00", 4);
      words += std::string(std::size_t{1} << 20, 'x');
      for (int i = 0; i < 1024; ++i) {
        const auto source = asio::buffer(words);
        (void)co_await asio::async_write(tls, source, asio::use_awaitable);
      }
    }
    const auto words = encode_frame(hello(kProtocol, name_));
    for (std::size_t at = 0; is("dribble") && at < words.size(); ++at) {
      const auto source = asio::buffer(words.data() + at, 1);
      (void)co_await asio::async_write(tls, source, asio::use_awaitable);
      pause.expires_after(1s);
      co_await pause.async_wait(asio::use_awaitable);
    }
    pause.expires_after(kPatience);
    co_await pause.async_wait(asio::use_awaitable);
  }

  Awaitable<void> answer(Stream& stream, const Request& request) {
    if (is("refuses")) {
      stream.send(reply({.failure = Failure{.message = kEscapes}}, request.id));
      co_return;
    }
    if (is("strangers"))
      for (std::uint64_t i = 0; i < 100'000 && !stream.closed(); ++i) {
        co_await stream.room(kRoom, kPatience);
        stream.send(reply({}, request.id + 1'000'000 + i));
      }
    Reply body;
    if (request.kind == RequestKind::facts) body.facts = is("boasts") ? boast() : observe::node_facts();
    if (request.kind == RequestKind::clock) body.clock = std::chrono::steady_clock::now().time_since_epoch().count();
    if (request.kind == RequestKind::start && is("vanishes")) {
      stream.close("harm");
      co_return;
    }
    stream.send(reply(std::move(body), request.id));
    if (request.kind == RequestKind::start) co_await run(stream, request.start->run_id);
  }

  Awaitable<void> run(Stream& stream, const std::string& id) {
    BenchEvent last{.kind = BenchEventKind::record, .record = NodeRecord{}};
    if (is("impossible")) last.record->metrics["latency"].distribution = HistogramData{.buckets = {1, 2, 3}};
    const BenchEvent progress{.kind = BenchEventKind::progress, .done = 0.5, .message = kEscapes};
    const std::size_t times = is("flood") ? 1'000'000 : is("twins") ? 10'000 : 1;
    for (std::size_t i = 0; i < times && !stream.closed(); ++i) {
      co_await stream.room(kRoom, kPatience);
      stream.send(event(id, is("flood") ? progress : last));
    }
  }

  asio::io_context& context_;
  Kind kind_;
  std::string name_;
  Tcp::acceptor acceptor_;
  SslContext ssl_;
};

int run(const std::vector<std::string>& words) {
  const auto kind = words.size() == 4
                        ? std::ranges::find(kKinds, words[1], [](const Kind& one) { return std::string{one.name}; })
                        : kKinds.end();
  if (kind == kKinds.end()) {
    fmt::print(stderr, "usage: hostile_agent KIND PKI NAME; kinds:");
    for (const auto& one : kKinds) fmt::print(stderr, " {}", one.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  const auto stem = words[2] + "/agent-" + words[3];
  asio::io_context context{1};
  HostileAgent agent{
      context, *kind, words[3], {.ca = words[2] + "/ca.pem", .cert = stem + ".pem", .key = stem + ".key"}};
  asio::co_spawn(context, agent.serve(), asio::detached);
  fmt::print("listening on 127.0.0.1 port {}\n", agent.port());
  std::fflush(stdout);
  context.run();
  return 0;
}

}  // namespace
}  // namespace longhaul::agents

int main(int argc, char** argv) {
  try {
    return longhaul::agents::run({argv, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "hostile_agent: {}\n", error.what());
    return 2;
  }
}
