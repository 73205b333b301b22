// A controller and an agent that means harm: one with the right certificate, on a host that somebody else has taken
// over.
#include "agents/protocol/controller.hh"

#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "agents/identity/credentials.hh"
#include "agents/protocol/stream.hh"
#include "tests/agents/support.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using testing::HasSubstr;
namespace asio = boost::asio;

std::string reply_to(const Request& request, Reply reply = {}) {
  reply.id = request.id;
  return to_json(ServerMessage{
      .kind = ServerMessageKind::reply, .hello = {}, .reply = std::move(reply), .event = {}, .error = {}});
}

std::string event_of(const std::string& run, BenchEvent event) {
  return to_json(ServerMessage{.kind = ServerMessageKind::event,
                               .hello = {},
                               .reply = {},
                               .event = RunEvent{.run_id = run, .bench = std::move(event), .exit = {}},
                               .error = {}});
}

std::string exit_of(const std::string& run) {
  return to_json(ServerMessage{.kind = ServerMessageKind::event,
                               .hello = {},
                               .reply = {},
                               .event = RunEvent{.run_id = run, .bench = {}, .exit = "exit code 0"},
                               .error = {}});
}

Awaitable<bool> is_lost(Controller& controller) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  for (int i = 0; i < 2000 && controller.connected(); ++i) {
    timer.expires_after(10ms);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return !controller.connected();
}

class MaliciousAgent : public AgentTest {
 protected:
  using Answer = std::function<std::vector<std::string>(const Request&)>;

  MaliciousAgent() : acceptor_(context_, {asio::ip::make_address("127.0.0.1"), 0}) {}

  Node node() const { return {.name = "node", .host = "127.0.0.1", .port = acceptor_.local_endpoint().port()}; }

  /// Lets one controller in and answers each of its requests with what `answer` gives, as fast as it is taken.
  void serve(Answer answer) { asio::co_spawn(context_, listen(std::move(answer)), asio::detached); }

  /// The agent answers the start of a run with `messages`: it is lost then, and the error says who and why.
  void expect_dropped(const std::vector<std::string>& messages, const std::string& why) {
    serve([&](const Request& request) {
      std::vector<std::string> all{reply_to(request)};
      if (request.kind == RequestKind::start) all.insert(all.end(), messages.begin(), messages.end());
      return all;
    });
    const auto agent = fmt::format("agent node at 127.0.0.1:{}: ", node().port);
    run([&]() -> Awaitable<void> {
      CO_VALUE(controller, co_await Controller::connect(node(), controller_));
      CO_OK(co_await controller.start(script("run", "ok")));
      const bool lost = co_await is_lost(controller);
      CO_REQUIRE(lost);
      const auto refused = co_await controller.facts();
      CO_REQUIRE(!refused);
      EXPECT_THAT(refused.error().message, testing::AllOf(testing::StartsWith(agent), HasSubstr(why)));
    }());
  }

 private:
  Awaitable<void> listen(Answer answer) {
    auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
    const auto tls = make_ssl_context(options_.credentials, TlsSide::server);
    CO_REQUIRE(tls);
    const auto stream = std::make_shared<Stream>(std::move(socket), tls->get(), kMaxRequest);
    const auto peer = co_await stream->handshake(TlsSide::server, 10s);
    CO_REQUIRE(peer);
    stream->send(to_json(ServerMessage{
        .kind = ServerMessageKind::hello, .hello = Hello{.node = "node"}, .reply = {}, .event = {}, .error = {}}));
    for (;;) {
      auto frame = co_await stream->read(20s);
      if (!frame) co_return;
      auto request = request_from_json(*frame);
      CO_REQUIRE(request);
      for (auto& message : answer(*request)) {
        co_await stream->room(1 << 20, 10s);
        stream->send(std::move(message));
      }
    }
  }

  asio::ip::tcp::acceptor acceptor_;
};

TEST_F(MaliciousAgent, WhoFloodsEventsIsDroppedByName) {
  const std::vector<std::string> flood(5'000, event_of("run", {.kind = BenchEventKind::progress, .done = 0.5}));
  expect_dropped(flood, "floods this program with events: 4097 of");
}

TEST_F(MaliciousAgent, WhoFloodsLongEventsIsDroppedBeforeTheyFillMemory) {
  BenchEvent event{.kind = BenchEventKind::progress, .message = std::string(60'000, 'x')};
  const std::vector<std::string> flood(1'500, event_of("run", event));
  expect_dropped(flood, "floods this program with events");
}

TEST_F(MaliciousAgent, WhoAnswersWhatNobodyAskedIsDropped) {
  serve([&](const Request& request) {
    auto other = request;
    other.id += 1'000'000;
    return std::vector<std::string>{reply_to(request), reply_to(other)};
  });
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("run", "ok")));
    const bool lost = co_await is_lost(controller);
    CO_REQUIRE(lost);
    const auto refused = co_await controller.facts();
    CO_REQUIRE(!refused);
    EXPECT_THAT(refused.error().message, HasSubstr("which was never made"));
  }());
}

TEST_F(MaliciousAgent, WhoseRecordCannotBeIsDropped) {
  BenchEvent event{.kind = BenchEventKind::record, .record = NodeRecord{}};
  event.record->metrics["latency"].distribution = HistogramData{.buckets = {1, 2, 3}};
  expect_dropped({event_of("run", event)}, "damaged histogram");
}

TEST_F(MaliciousAgent, WhatComesBehindTheEndOfARunIsNotKept) {
  serve([&](const Request& request) {
    std::vector<std::string> all{reply_to(request)};
    if (request.kind != RequestKind::start) return all;
    all.push_back(exit_of("run"));
    all.insert(all.end(), 5'000, event_of("run", {.kind = BenchEventKind::progress, .done = 0.5}));
    all.insert(all.end(), 5'000, event_of("nobody's", {.kind = BenchEventKind::progress, .done = 0.5}));
    return all;
  });
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("run", "ok")));
    CO_OK(co_await controller.stop("run"));  // its answer comes behind all that
    CO_VALUE(event, co_await controller.next_event("run", 5s));
    EXPECT_EQ(event.exit, "exit code 0");
    EXPECT_FALSE(co_await controller.next_event("run", 1ms));
    EXPECT_TRUE(controller.connected());
  }());
}

TEST_F(MaliciousAgent, AClockThatCannotBeIsNoClock) {
  serve([&](const Request& request) {
    return std::vector<std::string>{reply_to(request, {.clock = std::numeric_limits<std::int64_t>::min()})};
  });
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    const auto clock = co_await controller.clock();
    CO_REQUIRE(!clock);
    EXPECT_THAT(clock.error().message, HasSubstr("reply.clock"));
  }());
}

}  // namespace
}  // namespace longhaul::agents
