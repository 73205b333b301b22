// Strangers at an agent's port, of ten kinds at once; none of them must be let in. Started by peers_test.cc:
//
//   hostile_peers PORT COUNT PKI
//
// In PKI is a testbed's authority with controllers `me`, `revoked` and `late` and an agent `other`, and in PKI/other
// another authority with a controller `me`. Says `all open` when COUNT connections were made, holds what the agent does
// not close until its input ends, then says what became of each kind.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <map>
#include <stdexcept>
#include <string>

#include "agents/identity/credentials.hh"
#include "agents/protocol/messages.hh"
#include "agents/protocol/tuple.hh"
#include "common/error.hh"
#include "common/frame.hh"

namespace longhaul::agents {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Tcp = asio::ip::tcp;
using Tls = asio::ssl::stream<Tcp::socket>;
template <typename T>
using Awaitable = asio::awaitable<T>;

// In turn. Most cost a stranger little: whoever has many connections does not calculate for each.
constexpr std::array kKinds{"half-open", "slow",      "half-open", "replayed", "half-open", "revoked",
                            "half-open", "oversized", "half-open", "slow",     "replayed",  "downgraded",
                            "half-open", "oversized", "half-open", "replayed", "half-open", "wrong role",
                            "half-open", "oversized", "half-open", "slow",     "replayed",  "expired",
                            "half-open", "oversized", "half-open", "replayed", "slow",      "another CA's",
                            "half-open", "oversized", "half-open", "slow",     "half-open", "without certificate"};
constexpr std::size_t kLanes = 128;      // handshakes at once
constexpr std::uint32_t kAddresses = 4;  // 127.0.0.2 and on: honest ones come from 127.0.0.1
constexpr auto kPatience = 15s;          // longer than the agent's
constexpr std::size_t kMostAnswer = 65536;

struct Tally {
  std::size_t made = 0, held = 0, refused = 0, let_in = 0;
};

SslContext context_of(const std::string& pki, const std::string& who) {
  auto made = make_ssl_context(
      {.ca = pki + "/ca.pem", .cert = pki + "/" + who + ".pem", .key = pki + "/" + who + ".key"}, TlsSide::client);
  if (!made) throw std::runtime_error(made.error().message);
  ::SSL_CTX_set_verify(made->get(), SSL_VERIFY_NONE, nullptr);
  return std::move(*made);
}

SslContext bare_context(int newest) {
  SslContext context{::SSL_CTX_new(::TLS_client_method())};
  ::SSL_CTX_set_max_proto_version(context.get(), newest);
  return context;
}

class Peers {
 public:
  Peers(asio::io_context& context, std::uint16_t port, std::size_t count, const std::string& pki)
      : context_(context), agent_(asio::ip::address_v4::loopback(), port), count_(count) {
    contexts_.emplace("downgraded", bare_context(TLS1_2_VERSION));
    ::SSL_CTX_use_certificate_file(contexts_["downgraded"].get(), (pki + "/controller-me.pem").c_str(),
                                   SSL_FILETYPE_PEM);
    ::SSL_CTX_use_PrivateKey_file(contexts_["downgraded"].get(), (pki + "/controller-me.key").c_str(),
                                  SSL_FILETYPE_PEM);
    contexts_.emplace("without certificate", bare_context(TLS1_3_VERSION));
    contexts_.emplace("revoked", context_of(pki, "controller-revoked"));
    contexts_.emplace("expired", context_of(pki, "controller-late"));
    contexts_.emplace("wrong role", context_of(pki, "agent-other"));
    contexts_.emplace("another CA's", context_of(pki + "/other", "controller-me"));
    recorded_ = record(context_of(pki, "controller-me").get());
  }

  Awaitable<void> attack() {
    using namespace asio::experimental::awaitable_operators;
    for (std::size_t i = 0; i < kLanes; ++i) {
      ++lanes_;
      asio::co_spawn(context_, lane(), [this](const std::exception_ptr& error) {
        --lanes_;
        if (error) std::rethrow_exception(error);
      });
    }
    asio::steady_timer pause{context_};
    while (lanes_ > 0) {
      pause.expires_after(10ms);
      (void)co_await pause.async_wait(kTuple);
    }
    fmt::print("all open\n");
    std::fflush(stdout);
    asio::posix::stream_descriptor input{context_, ::dup(STDIN_FILENO)};
    char byte = 0;
    const auto target = asio::buffer(&byte, 1);
    (void)co_await input.async_read_some(target, kTuple);
    report();
    context_.stop();
  }

  bool none_was_let_in() const {
    return std::ranges::all_of(tally_, [](const auto& one) { return one.second.let_in == 0; });
  }

 private:
  /// The bytes that a controller sends in a whole session, as somebody on the way could have recorded them.
  std::string record(SSL_CTX* with) {
    Tcp::socket socket{context_};
    socket.connect(agent_);
    const std::unique_ptr<SSL, decltype(&::SSL_free)> ssl{::SSL_new(with), ::SSL_free};
    BIO* in = ::BIO_new(::BIO_s_mem());
    BIO* out = ::BIO_new(::BIO_s_mem());
    ::SSL_set_bio(ssl.get(), in, out);  // owns both
    ::SSL_set_connect_state(ssl.get());
    std::string sent;
    std::array<char, 16384> buffer{};
    const auto send = [&] {
      for (int got = 0; (got = ::BIO_read(out, buffer.data(), buffer.size())) > 0;) {
        sent.append(buffer.data(), static_cast<std::size_t>(got));
        asio::write(socket, asio::buffer(buffer.data(), static_cast<std::size_t>(got)));
      }
    };
    while (::SSL_do_handshake(ssl.get()) != 1) {
      send();
      const auto got = socket.read_some(asio::buffer(buffer));
      ::BIO_write(in, buffer.data(), static_cast<int>(got));
    }
    const auto request = encode_frame(to_json(Request{.id = 1, .kind = RequestKind::facts}));
    if (::SSL_write(ssl.get(), request.data(), static_cast<int>(request.size())) <= 0)
      throw std::runtime_error("a session could not be recorded");
    send();
    return sent;
  }

  Awaitable<void> lane() {
    while (next_ < count_) {
      const auto turn = next_++;
      const std::string kind = kKinds[turn % kKinds.size()];
      Tcp::socket socket{context_, Tcp::v4()};
      socket.bind({asio::ip::address_v4{asio::ip::address_v4::loopback().to_uint() + 1 +
                                        static_cast<std::uint32_t>(turn % kAddresses)},
                   0});
      const auto [error] = co_await socket.async_connect(agent_, kTuple);
      if (error) throw std::runtime_error(fmt::format("connecting: {}", error.message()));
      ++tally_[kind].made;
      if (kind == "half-open" || kind == "slow" || kind == "oversized") {
        hold(std::move(socket), kind);
      } else if (kind == "replayed") {
        co_await replay(std::move(socket), tally_[kind]);
      } else {
        co_await knock(std::move(socket), kind);
      }
    }
  }

  /// Goes on until the agent or this program ends it.
  void hold(Tcp::socket socket, const std::string& kind) {
    asio::co_spawn(
        context_,
        [this, kind, stream = std::move(socket)]() mutable -> Awaitable<void> {
          // Of a ClientHello; the oversized one says that it takes 16 MiB, in records longer than TLS allows.
          std::string words("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
          if (kind == "oversized")
            words = std::string("\x16\x03\x01\xff\xff\x01\xff\xff\xff", 9) + std::string(65535, 'x');
          ++tally_[kind].held;
          if (kind != "half-open") co_await talk(stream, words, kind == "slow" ? 1 : words.size());
          char byte = 0;
          for (boost::system::error_code gone; !gone;) {
            const auto target = asio::buffer(&byte, 1);
            std::tie(gone, std::ignore) = co_await stream.async_read_some(target, kTuple);
          }
          --tally_[kind].held;
          ++tally_[kind].refused;
        },
        asio::detached);
  }

  Awaitable<void> talk(Tcp::socket& stream, const std::string& words, std::size_t step) {
    asio::steady_timer pause{context_};
    for (std::size_t at = 0; at < words.size(); at += step) {
      const auto source = asio::buffer(words.data() + at, std::min(step, words.size() - at));
      const auto [error, size] = co_await asio::async_write(stream, source, kTuple);
      if (error) co_return;
      pause.expires_after(20ms);
      (void)co_await pause.async_wait(kTuple);
    }
  }

  Awaitable<void> replay(Tcp::socket socket, Tally& tally) {
    const auto source = asio::buffer(recorded_);
    (void)co_await asio::async_write(socket, source, kTuple);
    // The agent's first flight is no answer to a controller; it is refused with the first byte that was encrypted.
    std::string answer(kMostAnswer, '\0');
    std::size_t size = 0;
    asio::steady_timer limit{context_, kPatience};
    limit.async_wait([&socket](auto error) {
      if (!error) socket.cancel();
    });
    boost::system::error_code end;
    while (!end && size < answer.size()) {
      const auto target = asio::buffer(answer.data() + size, answer.size() - size);
      std::size_t got = 0;
      std::tie(end, got) = co_await socket.async_read_some(target, kTuple);
      size += got;
    }
    ++(end == asio::error::operation_aborted || !end ? tally.let_in : tally.refused);
  }

  Awaitable<void> knock(Tcp::socket socket, std::string kind) {
    asio::ssl::context context{contexts_.at(kind).get()};
    ::SSL_CTX_up_ref(contexts_.at(kind).get());
    Tls tls{std::move(socket), context};
    asio::steady_timer limit{context_, kPatience};
    limit.async_wait([&tls](auto error) {
      if (!error) tls.next_layer().cancel();
    });
    auto [error] = co_await tls.async_handshake(asio::ssl::stream_base::client, kTuple);
    std::size_t size = 0;
    if (!error) {
      // The agent has not yet judged the certificate; whom it lets in it greets.
      std::string greeting(4096, '\0');
      const auto target = asio::buffer(greeting);
      std::tie(error, size) = co_await tls.async_read_some(target, kTuple);
      // One whose role is wrong is told so, in a message.
      if (greeting.find("\"hello\"") == std::string::npos) size = 0;
    }
    ++(size > 0 || error == asio::error::operation_aborted ? tally_[kind].let_in : tally_[kind].refused);
  }

  void report() const {
    for (const auto& [kind, one] : tally_)
      fmt::print("  {:20} {:5} made, {:5} refused, {:3} held still, {} let in\n", kind, one.made, one.refused, one.held,
                 one.let_in);
  }

  asio::io_context& context_;
  Tcp::endpoint agent_;
  std::size_t count_;
  std::map<std::string, SslContext> contexts_;
  std::string recorded_;
  std::size_t next_ = 0, lanes_ = 0;
  std::map<std::string, Tally> tally_;
};

int run(const std::vector<std::string>& words) {
  if (words.size() != 4) {
    fmt::print(stderr, "usage: hostile_peers PORT COUNT PKI\n");
    return 2;
  }
  rlimit files{};
  check(::getrlimit(RLIMIT_NOFILE, &files), "reading the limit of open files");
  files.rlim_cur = files.rlim_max;
  check(::setrlimit(RLIMIT_NOFILE, &files), "raising the limit of open files");
  asio::io_context context{1};
  Peers peers{context, static_cast<std::uint16_t>(std::stoi(words[1])), std::stoul(words[2]), words[3]};
  asio::co_spawn(context, peers.attack(), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  });
  context.run();
  return peers.none_was_let_in() ? 0 : 1;
}

}  // namespace
}  // namespace longhaul::agents

int main(int argc, char** argv) {
  try {
    return longhaul::agents::run({argv, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "hostile_peers: {}\n", error.what());
    return 2;
  }
}
