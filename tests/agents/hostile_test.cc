// A client that means harm, against the program longhaul-agent: whatever it does, a controller goes on being served, a
// new one gets in, and the agent's memory stays where it was.
#include <arpa/inet.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <thread>

#include "agents/protocol/stream.hh"
#include "tests/agents/program.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Tls = asio::ssl::stream<Tcp::socket>;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

// Bounds, for a machine of two processors of which the attacker takes one; without an attack an answer takes 1 ms.
constexpr auto kAnswer = 5s;
constexpr auto kAdmission = 10s;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kGrowth = 800 * 1024;  // KiB; what is freed stays for a while, so that its use would be seen
#else
constexpr std::int64_t kGrowth = 32 * 1024;  // KiB
#endif

/// A controller with a thread of its own that asks for facts all the time.
class Customer {
 public:
  Customer(Node node, Credentials with)
      : thread_([this, node = std::move(node), with = std::move(with)] { serve(node, with); }) {}
  ~Customer() {
    over_ = true;
    thread_.join();
  }
  bool connected() const { return answers_ > 0; }
  int answers() const { return answers_; }
  std::string failure() const { return failed_ ? failure_ : ""; }
  /// The longest that an answer has taken.
  std::chrono::milliseconds worst() const { return std::chrono::milliseconds{worst_}; }

 private:
  void serve(Node node, Credentials with) {
    asio::io_context context{1};
    asio::co_spawn(
        context,
        [&, node, with]() -> Awaitable<void> {
          auto controller = co_await Controller::connect(node, with);
          if (!controller) co_return fail(controller.error().message);
          asio::steady_timer pause{context};
          while (!over_) {
            const auto before = Clock::now();
            const auto facts = co_await controller->facts();
            if (!facts) co_return fail(facts.error().message);
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - before);
            worst_ = std::max(worst_.load(), took.count());
            ++answers_;
            pause.expires_after(10ms);
            (void)co_await pause.async_wait(kTuple);
          }
        },
        asio::detached);
    context.run();
  }
  void fail(const std::string& why) {
    failure_ = why;
    failed_ = true;
  }

  std::atomic<bool> over_ = false;
  std::atomic<bool> failed_ = false;
  std::atomic<int> answers_ = 0;
  std::atomic<std::int64_t> worst_ = 0;
  std::string failure_;
  std::thread thread_;
};

class Hostile : public Program {
 protected:
  Hostile() {
    started_.emplace(start(arguments()));
    there_ = {.name = "node", .host = "127.0.0.1", .port = port_of(*started_)};
    customer_.emplace(there_, controller_);
    EXPECT_TRUE(eventually([&] { return customer_->connected() || !customer_->failure().empty(); }));
    before_ = memory_of(started_->child.pid(), "VmHWM");
  }

  /// After the attack.
  ~Hostile() override {
    newcomer();
    const auto grown = memory_of(started_->child.pid(), "VmHWM") - before_;
    EXPECT_EQ(customer_->failure(), "");
    EXPECT_LT(customer_->worst(), kAnswer);
    EXPECT_LT(grown, kGrowth) << "KiB";
    EXPECT_TRUE(started_->child.running() && !started_->child.poll()) << text(started_->log);
    fmt::print(
        "  {} answers, the slowest after {} ms; a newcomer was in after {} ms at most; memory {} KiB, grown by {}\n",
        customer_->answers(), customer_->worst().count(), admission_.count(), memory_of(started_->child.pid(), "VmRSS"),
        grown);
    customer_.reset();
  }

  /// Another controller, from outside: it may try again.
  void newcomer() {
    const auto start = Clock::now();
    std::string error = "never tried";
    while (!error.empty() && Clock::now() - start < kAdmission) {
      run([&]() -> Awaitable<void> {
        const auto controller = co_await Controller::connect(there_, controller_, {.connect_timeout = 3s});
        error = controller ? "" : controller.error().message;
      });
    }
    EXPECT_EQ(error, "");
    admission_ = std::max(admission_, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start));
  }

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

  std::optional<Started> started_;
  Node there_;
  std::optional<Customer> customer_;
  std::int64_t before_ = 0;
  std::chrono::milliseconds admission_{0};
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

TEST_F(Hostile, TenThousandHalfOpenConnections) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit all{before.rlim_max, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &all), 0);
  // In several waves if there are fewer descriptors.
  const auto wave = std::min<std::size_t>(10'000, all.rlim_cur - 500);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(there_.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::atomic<int> opened = 0;
  std::atomic<bool> done = false;
  std::atomic<int> admitted = 0;
  std::thread attacker{[&] {
    while (opened < 10'000) {
      std::vector<OwnFd> idle;
      while (idle.size() < wave && opened < 10'000) {
        OwnFd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) break;
        idle.push_back(std::move(socket));
        ++opened;
      }
      if (idle.empty()) break;
      if (opened < 10'000) continue;
      // All of them are open at once, until a newcomer has come and gone: of two the second began after that.
      const auto enough = admitted + 2;
      const auto deadline = Clock::now() + 30s;
      while (admitted < enough && Clock::now() < deadline) std::this_thread::sleep_for(1ms);
      EXPECT_GE(admitted, enough);
    }
    done = true;
  }};
  do {
    newcomer();
    ++admitted;
  } while (!done);
  attacker.join();
  EXPECT_EQ(opened, 10'000);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
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
