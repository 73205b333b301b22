// Access to an agent: who is let in, and what the others can do.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "agents/protocol/stream.hh"
#include "agents/protocol/tuple.hh"
#include "tests/agents/support.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

using Tcp = boost::asio::ip::tcp;

class Access : public AgentTest {
 protected:
  std::string connect_error(const Credentials& with, Node to) {
    std::string text = "connected";
    run([&]() -> Awaitable<void> {
      auto controller = co_await Controller::connect(to, with);
      if (!controller) text = controller.error().message;
    });
    return text;
  }

  Awaitable<std::shared_ptr<Tcp::socket>> dial() {
    auto socket = std::make_shared<Tcp::socket>(context_);
    const Tcp::endpoint endpoint{boost::asio::ip::address_v4::loopback(), agent_->port()};
    co_await socket->async_connect(endpoint, boost::asio::use_awaitable);
    co_return socket;
  }

  /// A controller that may send anything: TLS is in order, the hello taken.
  Awaitable<std::shared_ptr<Stream>> open_stream() {
    const auto socket = co_await dial();
    const auto context = make_ssl_context(controller_, TlsSide::client);
    auto stream = std::make_shared<Stream>(std::move(*socket), context->get(), kMaxFrame);
    const auto peer = co_await stream->handshake(TlsSide::client, 20s);
    if (!peer) ADD_FAILURE() << peer.error().message;
    const auto hello = co_await stream->read(20s);
    if (!hello) ADD_FAILURE() << hello.error().message;
    co_return stream;
  }

  /// The agent's last words, then its end of the connection.
  Awaitable<std::string> last_words(std::shared_ptr<Stream> stream) {
    auto frame = co_await stream->read(20s);
    if (!frame) co_return "lost: " + frame.error().message;
    const auto message = server_message_from_json(*frame);
    const auto after = co_await stream->read(20s);
    EXPECT_FALSE(after);
    co_return message && message->error ? *message->error : "not an error: " + *frame;
  }

  void agent_still_serves() { EXPECT_EQ(connect_error(controller_, node()), "connected"); }
};

TEST_F(Access, OnlyControllersOfThisAuthority) {
  open_agent();
  const auto other_pki = directory_.path() / "other";
  ASSERT_TRUE(pki_init(other_pki));
  auto stranger = credentials(*pki_issue(other_pki, {PeerRole::controller, "me"}));
  EXPECT_THAT(connect_error(stranger, node()), HasSubstr("certificate"));  // it does not trust the agent either
  stranger.ca = controller_.ca;
  EXPECT_THAT(connect_error(stranger, node()), HasSubstr("the peer refused us"));
  const auto late =
      issue(PeerRole::controller, "late", {.from = std::chrono::system_clock::now() - 48h, .lifetime = 24h});
  EXPECT_THAT(connect_error(late, node()), HasSubstr("certificate expired"));
  // Our own side says so before it dials.
  const auto agent = issue(PeerRole::agent, "b");
  EXPECT_THAT(connect_error(agent, node()),
              HasSubstr("expected a certificate for a controller, got one for agent 'b'"));
  agent_still_serves();
}

TEST_F(Access, AnAgentsCertificateControlsNobody) {
  open_agent();
  const auto agent = issue(PeerRole::agent, "b");
  run([&]() -> Awaitable<void> {
    const auto socket = co_await dial();
    const auto context = make_ssl_context(agent, TlsSide::client);
    auto stream = std::make_shared<Stream>(std::move(*socket), context->get(), kMaxFrame);
    const auto peer = co_await stream->handshake(TlsSide::client, 20s);
    EXPECT_TRUE(peer);  // ours is over before the agent has looked: that is why its hello is waited for
    const auto hello = co_await stream->read(20s);
    EXPECT_THAT(hello.error().message, HasSubstr("the peer refused us"));
  });
}

TEST_F(Access, RevocationNeedsNoRestart) {
  open_agent();
  EXPECT_EQ(connect_error(controller_, node()), "connected");
  ASSERT_TRUE(pki_revoke(pki_, controller_.cert));
  EXPECT_THAT(connect_error(controller_, node()), HasSubstr("certificate revoked"));
}

TEST_F(Access, RevocationEndsASessionThatIsOpen) {
  open_agent();
  const auto other = issue(PeerRole::controller, "other");
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_VALUE(facts, co_await controller.facts());
    CO_VALUE(unmoved, co_await Controller::connect(node(), other));
    EXPECT_TRUE(pki_revoke(pki_, controller_.cert));
    const auto after = co_await controller.facts();
    CO_REQUIRE(!after);
    EXPECT_THAT(after.error().message, HasSubstr("the certificate of controller me was revoked"));
    CO_VALUE(still, co_await unmoved.facts());
  });
}

TEST_F(Access, ACertificateThatExpiresEndsItsSession) {
  open_agent();
  std::string lost;
  Credentials brief;
  run([&]() -> Awaitable<void> {
    CO_VALUE(unmoved, co_await Controller::connect(node(), controller_));
    boost::asio::steady_timer pause{context_};
    // In force when it connects, however slow this machine is, and over a moment later.
    for (std::chrono::seconds lifetime{2}; lost.empty() && lifetime < 1min; lifetime *= 2) {
      brief = issue(PeerRole::controller, fmt::format("brief-{}", lifetime.count()), {.lifetime = lifetime});
      auto controller = co_await Controller::connect(node(), brief);
      if (!controller) continue;
      for (;;) {
        const auto facts = co_await controller->facts();
        if (!facts) lost = facts.error().message;
        if (!facts) break;
        pause.expires_after(50ms);
        (void)co_await pause.async_wait(kTuple);
      }
    }
    CO_VALUE(still, co_await unmoved.facts());
  });
  EXPECT_THAT(lost, AllOf(HasSubstr("the certificate of controller brief-"), HasSubstr("has expired, on ")));
  EXPECT_THAT(connect_error(brief, node()), HasSubstr("certificate expired"));
}

TEST_F(Access, AnAgentThatIsRevokedLosesItsControllers) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    EXPECT_TRUE(pki_revoke(pki_, options_.credentials.cert));
    const auto facts = co_await controller.facts();
    CO_REQUIRE(!facts);
    EXPECT_THAT(facts.error().message, HasSubstr("its certificate was revoked"));
    EXPECT_FALSE(controller.connected());
  });
}

TEST_F(Access, ARevocationListThatIsGoneKeepsEverybodyOut) {
  open_agent();
  EXPECT_EQ(connect_error(controller_, node()), "connected");
  // The controller has a list of its own: here the agent is to refuse.
  const auto own = directory_.path() / "own";
  fs::create_directory(own);
  for (const auto* file : {"ca.pem", "crl.pem"}) fs::copy_file(pki_ / file, own / file);
  auto controller = controller_;
  controller.ca = (own / "ca.pem").string();
  controller.listed = std::make_shared<std::atomic<bool>>(false);
  fs::rename(pki_ / "crl.pem", pki_ / "kept");
  EXPECT_NE(connect_error(controller, node()), "connected");
  fs::rename(pki_ / "kept", pki_ / "crl.pem");
  EXPECT_EQ(connect_error(controller, node()), "connected");
  // And here the controller is: it has seen one during its campaign.
  fs::remove(own / "crl.pem");
  EXPECT_THAT(connect_error(controller, node()), HasSubstr("was there and is gone"));
}

TEST_F(Access, ANewCertificateIsTakenUpByBothSidesWithoutARestart) {
  open_agent();
  std::string first, second;
  const auto serials = [&](std::string& into) {
    run([&]() -> Awaitable<void> {
      CO_VALUE(controller, co_await Controller::connect(node(), controller_));
      into = controller.agent().serial;
    });
  };
  serials(first);
  const auto agent = pki_issue(pki_, {PeerRole::agent, "node"}, {}, true);
  ASSERT_TRUE(agent);
  EXPECT_EQ(agent->replaced, first);
  ASSERT_TRUE(pki_revoke_serial(pki_, first));
  const auto controller = pki_issue(pki_, {PeerRole::controller, "me"}, {}, true);
  ASSERT_TRUE(controller);
  ASSERT_TRUE(pki_revoke_serial(pki_, controller->replaced));
  serials(second);
  EXPECT_EQ(second, agent->serial);
}

TEST_F(Access, TheNodeMustBeTheOneThatWasMeant) {
  open_agent();
  auto other = node();
  other.name = "server";
  EXPECT_THAT(connect_error(controller_, other),
              HasSubstr("expected the certificate of agent 'server', got that of 'node'"));
}

TEST_F(Access, NobodyListens) {
  open_agent();
  auto nowhere = node();
  agent_->close();
  EXPECT_THAT(connect_error(controller_, nowhere), HasSubstr("agent node at 127.0.0.1"));
  EXPECT_THAT(connect_error(controller_, nowhere), HasSubstr("Connection refused"));
}

// OpenSSL refuses a key as short as this one: that is an exception, not a refusal of ours.
constexpr const char* kWeakCertificate = R"(-----BEGIN CERTIFICATE-----
MIIBdzCCASGgAwIBAgIUFa+hP9clMQ7I7IRX+WeTn7qidSQwDQYJKoZIhvcNAQEL
BQAwDzENMAsGA1UEAwwEd2VhazAgFw0yNjExMjUwOTI3MzVaGA8yMTI2MTEwMTA5
MjczNVowDzENMAsGA1UEAwwEd2VhazBcMA0GCSqGSIb3DQEBAQUAA0sAMEgCQQDB
6KiLw4NFFKAzFNk8WREc7V0Y4Zm5i/wmEHEWubHP+zCv+Uh5I5BP0oEa0eqeOa02
O05eO/3Fi8eoqVsEA0oHAgMBAAGjUzBRMB0GA1UdDgQWBBSJ8ibfpDVEwfGbySm0
VSIMRg3WwjAfBgNVHSMEGDAWgBSJ8ibfpDVEwfGbySm0VSIMRg3WwjAPBgNVHRMB
Af8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA0EAnuoXwO8aa0t3TPUNthcL+avSkSZz
0GZNqTS/IMvwYDxwpXpwdSFuc0/+4gyLayBH5F8RtNOIOLWCcqdUlSZ/iw==
-----END CERTIFICATE-----
)";

TEST_F(Access, NothingThatIsThrownEndsTheAccepting) {
  open_agent();
  const auto good = options_.credentials.cert + ".good";
  fs::copy_file(options_.credentials.cert, good);
  std::ofstream{options_.credentials.cert, std::ios::trunc} << kWeakCertificate;
  ASSERT_THROW((void)make_ssl_context(options_.credentials, TlsSide::server), std::runtime_error);
  run([&]() -> Awaitable<void> {
    const auto refused = co_await Controller::connect(node(), controller_);
    EXPECT_FALSE(refused);
    fs::rename(good, options_.credentials.cert);
    CO_VALUE(admitted, co_await Controller::connect(node(), controller_));
    EXPECT_TRUE(admitted.connected());
  });
}

TEST_F(Access, AServerThatSaysNothingIsGivenUp) {
  Tcp::acceptor silent{context_, {boost::asio::ip::address_v4::loopback(), 0}};
  const Node nobody{.name = "node", .host = "127.0.0.1", .port = silent.local_endpoint().port()};
  std::string text;
  run([&]() -> Awaitable<void> {
    const auto controller = co_await Controller::connect(nobody, controller_, {.connect_timeout = 200ms});
    text = controller.error().message;
  });
  EXPECT_THAT(text, HasSubstr("no TLS handshake in time"));
}

TEST_F(Access, APortInUseIsAnError) {
  open_agent();
  options_.port = agent_->port();
  try {
    (void)Agent::open(context_, options_, catalog_);
    FAIL() << "two agents on one port";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("listening on 127.0.0.1 port"));
    EXPECT_EQ(error.code().value(), EADDRINUSE);
  }
  options_.credentials = controller_;
  EXPECT_THAT(Agent::open(context_, options_, catalog_).error().message,
              HasSubstr("expected a certificate for an agent"));
}

TEST_F(Access, GarbageBeforeTheHandshake) {
  open_agent();
  run([&]() -> Awaitable<void> {
    const auto socket = co_await dial();
    const std::string garbage(100'000, 'x');
    const auto source = boost::asio::buffer(garbage);
    (void)co_await boost::asio::async_write(*socket, source, kTuple);
    std::string answer(4096, '\0');
    for (;;) {
      const auto target = boost::asio::buffer(answer);
      const auto [error, size] = co_await socket->async_read_some(target, kTuple);
      if (error) break;  // closed on us
    }
  });
  agent_still_serves();
}

TEST_F(Access, HalfOpenConnectionsEndAndKeepNobodyOut) {
  options_.handshake_timeout = 400ms;
  options_.max_pending = 4;
  open_agent();
  std::vector<std::shared_ptr<Tcp::socket>> idle;
  run([&]() -> Awaitable<void> {
    for (int i = 0; i < 20; ++i) {
      auto socket = co_await dial();
      idle.push_back(std::move(socket));
    }
  });
  agent_still_serves();  // though its queue is full
  run([&]() -> Awaitable<void> {
    for (auto& socket : idle) {
      std::string byte(1, '\0');
      const auto target = boost::asio::buffer(byte);
      const auto [error, size] = co_await socket->async_read_some(target, kTuple);
      EXPECT_TRUE(error);
    }
  });
}

TEST_F(Access, SlowBytesDoNotOutliveTheHandshakesTime) {
  options_.handshake_timeout = 400ms;
  open_agent();
  const auto start = std::chrono::steady_clock::now();
  run([&]() -> Awaitable<void> {
    const auto socket = co_await dial();
    const std::string record("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);  // the start of a ClientHello
    boost::asio::steady_timer pause{context_};
    for (std::size_t i = 0; i < 1000; ++i) {
      const std::string byte(1, i < record.size() ? record[i] : 'x');
      const auto source = boost::asio::buffer(byte);
      const auto [error, size] = co_await boost::asio::async_write(*socket, source, kTuple);
      if (error) break;
      pause.expires_after(20ms);
      (void)co_await pause.async_wait(kTuple);
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST_F(Access, BadMessagesAreAnsweredAndEndTheSession) {
  open_agent();
  const std::pair<std::string, const char*> cases[] = {
      {"not json", "not a JSON document"},
      {"", "not a JSON document"},
      {R"({"id":1,"kind":"reboot"})", "kind: expected one of"},
      {R"({"id":1,"kind":"start"})", "lacks the body"},
      {R"({"id":1,"kind":"echo","echo":{"address":"; reboot","on":true,"token":""}})", "echo.address"},
      {std::string(200'000, '['), "not a JSON document"},
      {std::string("\0\xff\xfe", 3), "not a JSON document"},
  };
  for (const auto& [text, expected] : cases) {
    std::string words;
    run([&, message = text]() -> Awaitable<void> {
      const auto stream = co_await open_stream();
      stream->send(message);
      words = co_await last_words(stream);
    });
    EXPECT_THAT(words, HasSubstr(expected));
  }
  agent_still_serves();
}

TEST_F(Access, AGigabyteIsRefusedByItsHeader) {
  open_agent();
  std::string words;
  run([&]() -> Awaitable<void> {
    const auto socket = co_await dial();
    const auto context = make_ssl_context(controller_, TlsSide::client);
    boost::asio::ssl::context wrapped{context->get()};
    SSL_CTX_up_ref(context->get());
    boost::asio::ssl::stream<Tcp::socket> raw{std::move(*socket), wrapped};
    co_await raw.async_handshake(boost::asio::ssl::stream_base::client, boost::asio::use_awaitable);
    std::string bytes("\x40\x00\x00\x00", 4);
    bytes += std::string(100'000, 'x');
    const auto source = boost::asio::buffer(bytes);
    (void)co_await boost::asio::async_write(raw, source, kTuple);
    std::string buffer(16384, '\0');
    for (;;) {
      const auto target = boost::asio::buffer(buffer);
      const auto [error, size] = co_await raw.async_read_some(target, kTuple);
      if (error) break;
      words.append(buffer, 0, size);
    }
  });
  EXPECT_THAT(words, HasSubstr("frame of 1073741824 bytes announced"));
  agent_still_serves();
}

TEST_F(Access, ASilentControllersLeaseEnds) {
  options_.lease = 300ms;
  open_agent();
  std::string words;
  run([&]() -> Awaitable<void> {
    const auto stream = co_await open_stream();
    const auto frame = co_await stream->read(20s);
    words = frame.error().message;
  });
  EXPECT_THAT(words, HasSubstr("the peer closed the connection"));
}

TEST_F(Access, SlowBytesDoNotRenewTheLease) {
  options_.lease = 400ms;
  open_agent();
  const auto start = std::chrono::steady_clock::now();
  run([&]() -> Awaitable<void> {
    const auto socket = co_await dial();
    const auto context = make_ssl_context(controller_, TlsSide::client);
    boost::asio::ssl::context wrapped{context->get()};
    SSL_CTX_up_ref(context->get());
    boost::asio::ssl::stream<Tcp::socket> raw{std::move(*socket), wrapped};
    co_await raw.async_handshake(boost::asio::ssl::stream_base::client, boost::asio::use_awaitable);
    const std::string frame("\x00\x00\x80\x00", 4);
    boost::asio::steady_timer pause{context_};
    for (std::size_t i = 0; i < 1000; ++i) {
      const std::string byte(1, i < frame.size() ? frame[i] : ' ');
      const auto source = boost::asio::buffer(byte);
      const auto [error, size] = co_await boost::asio::async_write(raw, source, kTuple);
      if (error) break;
      pause.expires_after(20ms);
      (void)co_await pause.async_wait(kTuple);
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST_F(Access, TooManyRequestsAtOnce) {
  options_.max_requests = 4;
  open_agent();
  std::string words;
  run([&]() -> Awaitable<void> {
    const auto stream = co_await open_stream();
    for (int i = 0; i < 10; ++i) {
      Request request{.id = static_cast<std::uint64_t>(i), .kind = RequestKind::probe};
      request.probe = ProbeRequest{
          .local = "127.0.0.1", .peer = "127.0.0.1", .token = kToken, .count = 1, .timeout = 60'000'000'000};
      stream->send(to_json(request));
    }
    words = co_await last_words(stream);
  });
  EXPECT_THAT(words, HasSubstr("4 requests wait for their answers already"));
}

TEST_F(Access, TooManyControllers) {
  options_.max_sessions = 2;
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(first, co_await Controller::connect(node(), controller_));
    CO_VALUE(second, co_await Controller::connect(node(), controller_));
    const auto third = co_await Controller::connect(node(), controller_);
    EXPECT_THAT(third.error().message, HasSubstr("2 controllers are connected already"));
    co_await first.close();
    boost::asio::steady_timer pause{context_, 100ms};
    (void)co_await pause.async_wait(kTuple);
    CO_VALUE(fourth, co_await Controller::connect(node(), controller_));
  });
}

}  // namespace
}  // namespace longhaul::agents
