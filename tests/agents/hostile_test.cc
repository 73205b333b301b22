// A client that means harm, against the program longhaul-agent: whatever it does, a controller goes on being served, a
// new one gets in, and the agent's memory stays where it was. Ten thousand of them at once: tests/hostile.
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include "agents/protocol/stream.hh"
#include "tests/agents/hostile.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Tls = asio::ssl::stream<Tcp::socket>;

class Hostile : public Besieged {
 protected:
  Awaitable<Tcp::socket> dial() {
    Tcp::socket socket{context_};
    const Tcp::endpoint endpoint{asio::ip::address_v4::loopback(), there_.port};
    co_await socket.async_connect(endpoint, asio::use_awaitable);
    co_return std::move(socket);
  }

  /// The agent's answer to a TLS client of this context; empty: nothing that could be read.
  std::string refusal(SSL_CTX* with) {
    ::SSL_CTX_set_verify(with, SSL_VERIFY_NONE, nullptr);
    asio::ssl::context context{with};
    ::SSL_CTX_up_ref(with);
    std::string words;
    run([&]() -> Awaitable<void> {
      auto socket = co_await dial();
      Tls tls{std::move(socket), context};
      const auto [error] = co_await tls.async_handshake(asio::ssl::stream_base::client, kTuple);
      if (error) {
        words = error.message();
        co_return;
      }
      std::string answer(4096, '\0');
      for (;;) {
        const auto target = asio::buffer(answer);
        const auto [end, size] = co_await tls.async_read_some(target, kTuple);
        words += end ? " " + end.message() : answer.substr(0, size);
        if (end) co_return;
      }
    });
    return words;
  }

  /// A TLS connection as a controller, on which anything can be sent.
  Awaitable<std::shared_ptr<Tls>> open_tls() {
    const auto made = make_ssl_context(controller_, TlsSide::client);
    asio::ssl::context wrapped{made->get()};
    ::SSL_CTX_up_ref(made->get());
    auto socket = co_await dial();
    auto tls = std::make_shared<Tls>(std::move(socket), wrapped);
    co_await tls->async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    co_return tls;
  }
};

TEST_F(Hostile, WhoIsNoControllerLearnsNothing) {
  // No certificate.
  SslContext nobody{::SSL_CTX_new(::TLS_client_method())};
  EXPECT_THAT(refusal(nobody.get()), HasSubstr("certificate required"));
  // Another authority's.
  const auto other_pki = directory_.path() / "other";
  ASSERT_TRUE(pki_init(other_pki));
  const auto stranger = credentials(*pki_issue(other_pki, {PeerRole::controller, "me"}));
  EXPECT_THAT(refusal(make_ssl_context(stranger, TlsSide::client)->get()), HasSubstr("alert"));
  // One that is over.
  const auto late =
      issue(PeerRole::controller, "late", {.from = std::chrono::system_clock::now() - 48h, .lifetime = 24h});
  EXPECT_THAT(refusal(make_ssl_context(late, TlsSide::client)->get()), HasSubstr("certificate expired"));
  // An agent's: it is good for being connected to only.
  const auto agent = issue(PeerRole::agent, "b");
  EXPECT_THAT(refusal(make_ssl_context(agent, TlsSide::client)->get()), HasSubstr("unsupported certificate"));
  // TLS 1.2, with a good certificate.
  SslContext old{::SSL_CTX_new(::TLS_client_method())};
  ASSERT_EQ(::SSL_CTX_use_certificate_file(old.get(), controller_.cert.c_str(), SSL_FILETYPE_PEM), 1);
  ASSERT_EQ(::SSL_CTX_use_PrivateKey_file(old.get(), controller_.key.c_str(), SSL_FILETYPE_PEM), 1);
  SSL_CTX_set_max_proto_version(old.get(), TLS1_2_VERSION);
  EXPECT_THAT(refusal(old.get()), HasSubstr("protocol version"));
  // And who asks for another node than this one hangs up himself.
  auto other = there_;
  other.name = "server";
  run([&]() -> Awaitable<void> {
    const auto wrong = co_await Controller::connect(other, controller_);
    EXPECT_THAT(wrong.error().message, HasSubstr("expected the certificate of agent 'server', got that of 'node'"));
  });
}

TEST_F(Hostile, SlowBytesBeforeAndAfterTheHandshake) {
  int open = 0;
  const auto drip = [&](auto& stream, std::string start) -> Awaitable<void> {
    asio::steady_timer pause{context_};
    ++open;
    for (std::size_t i = 0; i < 100; ++i) {
      const std::string byte(1, i < start.size() ? start[i] : 'x');
      const auto source = asio::buffer(byte);
      const auto [error, size] = co_await asio::async_write(stream, source, kTuple);
      if (error) break;
      pause.expires_after(20ms);
      (void)co_await pause.async_wait(kTuple);
    }
    --open;
  };
  for (int i = 0; i < 50; ++i)
    asio::co_spawn(
        context_,
        [&]() -> Awaitable<void> {
          auto socket = co_await dial();
          co_await drip(socket, std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));  // a ClientHello's
        },
        asio::detached);
  for (int i = 0; i < 4; ++i)
    asio::co_spawn(
        context_,
        [&]() -> Awaitable<void> {
          const auto tls = co_await open_tls();
          co_await drip(*tls, std::string("\x00\x00\x80\x00", 4));
        },
        asio::detached);
  EXPECT_TRUE(eventually([&] { return open >= 54; }));
  newcomer();
  EXPECT_TRUE(eventually([&] { return open == 0; }));
}

TEST_F(Hostile, AGigabyteIsAnnounced) {
  for (int i = 0; i < 20; ++i) {
    std::string words;
    run([&]() -> Awaitable<void> {
      const auto tls = co_await open_tls();
      std::string bytes("\x40\x00\x00\x00", 4);
      bytes += std::string(1'000'000, 'x');
      const auto source = asio::buffer(bytes);
      (void)co_await asio::async_write(*tls, source, kTuple);
      std::string buffer(16384, '\0');
      for (;;) {
        const auto target = asio::buffer(buffer);
        const auto [error, size] = co_await tls->async_read_some(target, kTuple);
        if (error) break;
        words.append(buffer, 0, size);
      }
    });
    EXPECT_THAT(words, HasSubstr("frame of 1073741824 bytes announced"));
  }
}

TEST_F(Hostile, ARecordFloodBeforeTheHandshake) {
  // Handshake records of one byte each, of a message that is never complete; and empty ones.
  const std::string start("\x16\x03\x01\x00\x04\x01\x00\xff\xff", 9);
  for (const auto& piece : {std::string("\x16\x03\x01\x00\x01x", 6), std::string("\x16\x03\x01\x00\x00", 5),
                            std::string("\x14\x03\x03\x00\x01\x01", 6)}) {
    run([&]() -> Awaitable<void> {
      auto socket = co_await dial();
      auto flood = start;
      for (int i = 0; i < 20'000; ++i) flood += piece;
      const auto until = Clock::now() + 1s;
      while (Clock::now() < until) {
        const auto source = asio::buffer(flood);
        const auto [error, size] = co_await asio::async_write(socket, source, kTuple);
        if (error) break;  // thrown out
      }
    });
  }
}

TEST_F(Hostile, ARecordFloodAfterTheHandshake) {
  // One frame, its bytes one a record.
  run([&]() -> Awaitable<void> {
    const auto tls = co_await open_tls();
    std::string frame("\x00\x00\x75\x30", 4);  // 30,000 bytes
    frame += std::string(30'000, ' ');
    for (const char c : frame) {
      const auto source = asio::buffer(&c, 1);
      const auto [error, size] = co_await asio::async_write(*tls, source, kTuple);
      if (error) break;
    }
  });
}

TEST_F(Hostile, RequestsWhoseAnswersNobodyReads) {
  // 200,000 requests of 8 KB of answer each, were they all answered.
  run([&]() -> Awaitable<void> {
    const auto tls = co_await open_tls();
    std::string many;
    for (int i = 0; i < 16; ++i)
      many += encode_frame(to_json(Request{.id = static_cast<std::uint64_t>(i), .kind = RequestKind::facts}));
    const auto until = Clock::now() + 3s;
    asio::steady_timer over{context_, 3s};
    over.async_wait([tls](auto) {
      boost::system::error_code ignored;
      tls->next_layer().close(ignored);
    });
    std::size_t sent = 0;
    while (Clock::now() < until && sent < 200'000) {
      const auto source = asio::buffer(many);
      const auto [error, size] = co_await asio::async_write(*tls, source, kTuple);
      if (error) break;
      sent += 16;
    }
    fmt::print("  {} requests went out before nothing was taken any more\n", sent);
  });
}

}  // namespace
}  // namespace longhaul::agents
