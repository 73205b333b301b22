// The agent and its controller on loopback, TLS and processes included.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdlib>

#include "common/frame.hh"
#include "observe/clock.hh"
#include "tests/agents/support.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class Sessions : public AgentTest {
 protected:
  Awaitable<std::string> failure_of(Controller& controller, std::string mode) {
    const auto started = co_await controller.start(script("run-" + mode, mode));
    if (!started) co_return started.error().message;
    const auto all = co_await events(controller, "run-" + mode);
    std::string text;
    for (const auto& event : all)
      if (event.bench && event.bench->kind == BenchEventKind::failed) text += event.bench->message.value_or("");
    co_return text;
  }
};

TEST_F(Sessions, HelloFactsAndOrder) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    EXPECT_EQ(controller.hello().node, "node");
    EXPECT_EQ(controller.hello().protocol, kProtocol);
    CO_VALUE(facts, co_await controller.facts());
    EXPECT_EQ(facts.boot_id.size(), 36u);
    auto moved = std::move(controller);
    CO_VALUE(again, co_await moved.facts());
    EXPECT_EQ(again.boot_id, facts.boot_id);
    co_await moved.close();
    EXPECT_FALSE(moved.connected());
    const auto after = co_await moved.facts();
    EXPECT_THAT(after.error().message, HasSubstr("closed"));
  });
}

TEST_F(Sessions, RelaysARunToItsEnd) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("one", "good")));
    const auto all = co_await events(controller, "one");
    CO_REQUIRE(all.size() == 5);
    EXPECT_EQ(all[0].bench->kind, BenchEventKind::ready);
    EXPECT_EQ(all[0].bench->port, 4242);
    EXPECT_EQ(all[1].bench->done, 0.5);
    EXPECT_EQ(all[2].bench->record->metrics.at("latency").value, 5);
    EXPECT_EQ(all[3].bench->kind, BenchEventKind::progress);  // no end; a second one is dropped
    EXPECT_EQ(all[4].exit, "exit code 0");
    const auto gone = co_await controller.next_event("one", 1s);
    EXPECT_THAT(gone.error().message, HasSubstr("is not there"));
    // The name can be used again.
    CO_OK(co_await controller.start(script("one", "good")));
    const auto second = co_await events(controller, "one");
    EXPECT_THAT(second, SizeIs(5));
  });
}

TEST_F(Sessions, WhatAProcessLeavesBehindEndsWithIt) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("one", "orphan")));
    const auto all = co_await events(controller, "one");
    CO_REQUIRE(!all.empty() && all[0].bench && all[0].bench->message);
    const auto grandchild = std::stoi(*all[0].bench->message);
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (::kill(grandchild, 0) == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(10ms);
    EXPECT_NE(::kill(grandchild, 0), 0) << "it is there still";
  });
}

TEST_F(Sessions, ReportsHowAProcessFailed) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    const auto crash = co_await failure_of(controller, "crash");
    EXPECT_THAT(crash, HasSubstr("exit code 3"));
    EXPECT_THAT(crash, HasSubstr("first line\nsomething is wrong"));
    const auto chatter = co_await failure_of(controller, "chatter");
    EXPECT_THAT(chatter, HasSubstr("line 1999 of many"));
    EXPECT_THAT(chatter, Not(HasSubstr("line 1 of many")));
    EXPECT_LT(chatter.size(), 4096u);
    const auto rubbish = co_await failure_of(controller, "rubbish");
    EXPECT_THAT(rubbish, HasSubstr("broke the child contract"));
    const auto huge = co_await failure_of(controller, "huge");
    EXPECT_THAT(huge, HasSubstr("frame of 1073741824 bytes"));
    const auto cut = co_await failure_of(controller, "cut");
    EXPECT_THAT(cut, HasSubstr("ended without a record"));
    // Nothing of the agent is open in the process but what it was given.
    const auto descriptors = co_await failure_of(controller, "descriptors");
    EXPECT_THAT(descriptors, AllOf(HasSubstr("pipe:"), Not(HasSubstr("socket:"))));
  });
}

TEST_F(Sessions, AChildsEnvironmentIsLongerByWhatIsAsked) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    std::vector<std::pair<int, int>> found;  // of the padding, of all
    for (const std::int64_t padding : {0, 16, 4080, 65536}) {
      auto request = script(fmt::format("p{}", padding), "environment");
      request.padding = padding;
      CO_OK(co_await controller.start(request));
      CO_VALUE(event, co_await controller.next_event(request.run_id, 20s));
      CO_REQUIRE(event.bench && event.bench->message);
      std::pair<int, int> sizes;
      CO_REQUIRE(std::sscanf(event.bench->message->c_str(), "%d of %d bytes", &sizes.first, &sizes.second) == 2);
      EXPECT_EQ(sizes.first, padding);
      found.push_back(sizes);
    }
    EXPECT_GT(found[1].second, found[0].second);
    EXPECT_EQ(found[2].second - found[1].second, 4080 - 16);
    EXPECT_EQ(found[3].second - found[1].second, 65536 - 16);
    auto request = script("n", "environment");
    request.padding = -1;
    const auto refused = co_await controller.start(request);
    CO_REQUIRE(!refused);
    EXPECT_THAT(refused.error().message, HasSubstr("expected 0 to 65536 bytes"));
  });
}

TEST_F(Sessions, TellsItsClock) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_VALUE(clock, co_await controller.clock());
    // One machine: what is left is how the two kinds of its clock differ, here and now.
    const auto steady = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto apart = observe::to_ns(observe::raw_time()) - steady;
    EXPECT_LE(std::abs(clock.offset - apart), clock.error + 50'000'000);
    EXPECT_GE(clock.error, 0);
    EXPECT_LT(clock.error, 10'000'000'000);
  });
}

TEST_F(Sessions, AClientIsToldWhereItsServerIs) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    ConnectRequest where{
        .run_id = "t", .peer = "fd00::2", .peer_port = 4711, .server_clock = ClockOffset{.offset = -5, .error = 3}};
    CO_OK(co_await controller.start(script("t", "told")));
    CO_OK(co_await controller.connect_client(where));
    CO_VALUE(told, co_await controller.next_event("t", 20s));
    EXPECT_EQ(told.bench->message, "told [fd00::2]:4711 -5 3");

    where.run_id = "u";
    const auto nobody = co_await controller.connect_client(where);
    EXPECT_THAT(nobody.error().message, HasSubstr("run u is not there"));

    CO_OK(co_await controller.start(script("c", "crash")));
    (void)co_await events(controller, "c");
    where.run_id = "c";
    const auto gone = co_await controller.connect_client(where);
    EXPECT_FALSE(gone);
  });
}

TEST_F(Sessions, KilledProcessIsAFailedRun) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("k", "hang")));
    CO_VALUE(ready, co_await controller.next_event("k", 20s));
    ::kill(std::stoi(*ready.bench->message), SIGKILL);
    const auto all = co_await events(controller, "k");
    CO_REQUIRE(all.size() == 2);
    EXPECT_EQ(all[0].bench->kind, BenchEventKind::failed);
    EXPECT_THAT(*all[0].bench->message, HasSubstr("killed by signal 9"));
    EXPECT_EQ(all[1].exit, "killed by signal 9 (Killed)");
  });
}

TEST_F(Sessions, StopEndsEvenTheStubborn) {
  options_.stop_grace = 100ms;
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    for (const std::string mode : {"hang", "stubborn"}) {
      CO_OK(co_await controller.start(script(mode, mode)));
      CO_VALUE(ready, co_await controller.next_event(mode, 20s));
      const auto pid = std::stoi(*ready.bench->message);
      CO_OK(co_await controller.stop(mode));
      EXPECT_FALSE(process_exists(pid)) << mode;
      const auto all = co_await events(controller, mode);
      CO_REQUIRE(all.size() == 2);
      EXPECT_THAT(*all[0].bench->message, HasSubstr("stopped"));
    }
    CO_OK(co_await controller.stop("never-was"));
  });
}

TEST_F(Sessions, ATimeOutLosesNoEvent) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("h", "hang")));
    CO_VALUE(ready, co_await controller.next_event("h", 20s));
    const auto nothing = co_await controller.next_event("h", 50ms);
    EXPECT_THAT(nothing.error().message, HasSubstr("nothing happened to run h in 50 ms"));
    CO_OK(co_await controller.stop("h"));
    const auto all = co_await events(controller, "h");
    EXPECT_THAT(all, SizeIs(2));
  });
}

TEST_F(Sessions, RefusesWithoutHarm) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    auto wrong = script("x", "good");
    wrong.workload = "scrip";
    const auto refused = co_await controller.start(wrong);
    EXPECT_THAT(refused.error().message, HasSubstr("agent node at 127.0.0.1"));
    EXPECT_THAT(refused.error().message, HasSubstr("did you mean 'script'"));
    EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
    CO_OK(co_await controller.start(script("x", "hang")));
    const auto twice = co_await controller.start(script("x", "hang"));
    EXPECT_THAT(twice.error().message, HasSubstr("running already"));
    longhaul::degen::Request show;
    show.kind = longhaul::degen::RequestKind::show;
    const auto no_degen = co_await controller.degen(show);
    EXPECT_THAT(no_degen.error().message, HasSubstr("emulates no WAN"));
    EchoRequest elsewhere{.address = "192.0.2.77", .on = true, .token = kToken};
    const auto not_ours = co_await controller.probe_echo(elsewhere);
    EXPECT_THAT(not_ours.error().message, HasSubstr("binding UDP port 7473 of 192.0.2.77"));
    CO_VALUE(facts, co_await controller.facts());
  });
}

TEST_F(Sessions, AMissingBenchIsAnError) {
  options_.bench = "/no/such/bench";
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    const auto started = co_await controller.start(script("x", "good"));
    EXPECT_THAT(started.error().message, HasSubstr("executing /no/such/bench"));
  });
}

TEST_F(Sessions, TheRunGoesWithItsController) {
  open_agent();
  pid_t pid = 0;
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("orphan", "stubborn")));
    CO_VALUE(ready, co_await controller.next_event("orphan", 20s));
    pid = std::stoi(*ready.bench->message);
    EXPECT_TRUE(process_exists(pid));
  });
  EXPECT_TRUE(eventually([&] { return !process_exists(pid); }));
}

TEST_F(Sessions, TheHeartbeatKeepsTheLease) {
  options_.lease = 300ms;
  open_agent();
  pid_t pid = 0;
  std::optional<Controller> kept;
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("orphan", "hang")));
    CO_VALUE(ready, co_await controller.next_event("orphan", 20s));
    pid = std::stoi(*ready.bench->message);
    kept = std::move(controller);
    // Its heartbeat keeps it alive for several leases.
    const auto quiet = co_await kept->next_event("orphan", 1s);
    EXPECT_FALSE(quiet);
    EXPECT_TRUE(kept->connected());
  });
  EXPECT_TRUE(process_exists(pid));
  agent_->close();
  EXPECT_TRUE(eventually([&] { return !process_exists(pid) && !kept->connected(); }));
}

TEST_F(Sessions, AnotherControllerWaitsForItsTurn) {
  options_.handover = 100ms;
  open_agent();
  const auto other = issue(PeerRole::controller, "other");
  run([&]() -> Awaitable<void> {
    CO_VALUE(first, co_await Controller::connect(node(), controller_));
    CO_VALUE(second, co_await Controller::connect(node(), other));
    CO_OK(co_await first.start(script("mine", "hang")));
    const auto busy = co_await second.start(script("yours", "good"));
    EXPECT_THAT(busy.error().message, HasSubstr("node node is busy: another controller's run mine"));
    co_await first.close();
    CO_OK(co_await second.start(script("yours", "good")));
  });
}

TEST_F(Sessions, ProbesGoRound) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    EchoRequest echo{.address = "127.0.0.1", .on = true, .token = kToken};
    CO_OK(co_await controller.probe_echo(echo));
    CO_OK(co_await controller.probe_echo(echo));
    CO_OK(co_await controller.start(script("meanwhile", "hang")));
    auto asked = probes(kToken);
    asked.count = 20;
    asked.timeout = 1'000'000'000;
    CO_VALUE(result, co_await controller.probe(asked));
    EXPECT_EQ(result.sent, 20u);
    EXPECT_THAT(result.round_trips, SizeIs(20));
    echo.on = false;
    CO_OK(co_await controller.probe_echo(echo));
    CO_VALUE(lost, co_await controller.probe(probes(kToken)));
    EXPECT_EQ(lost.sent, 3u);
    EXPECT_THAT(lost.round_trips, SizeIs(0));
    asked.count = 0;
    const auto bad = co_await controller.probe(asked);
    EXPECT_THAT(bad.error().message, HasSubstr("probe.count"));
    EXPECT_FALSE(controller.connected());  // a message that breaks the protocol's limits ends the connection
  });
}

TEST_F(Sessions, OnlyProbesWithTheTokenAreAnswered) {
  open_agent();
  const auto other = issue(PeerRole::controller, "other");
  run([&]() -> Awaitable<void> {
    CO_VALUE(first, co_await Controller::connect(node(), controller_));
    CO_VALUE(second, co_await Controller::connect(node(), other));
    const EchoRequest mine{.address = "127.0.0.1", .on = true, .token = kToken};
    const EchoRequest yours{.address = "127.0.0.1", .on = true, .token = kOtherToken};
    CO_OK(co_await first.probe_echo(mine));
    CO_VALUE(own, co_await first.probe(probes(kToken)));
    EXPECT_THAT(own.round_trips, SizeIs(3));
    CO_VALUE(strange, co_await first.probe(probes(kOtherToken)));
    EXPECT_THAT(strange.round_trips, SizeIs(0));
    // The address is shared, the token is not: each goes with its session.
    CO_OK(co_await second.probe_echo(yours));
    CO_VALUE(beside, co_await second.probe(probes(kOtherToken)));
    EXPECT_THAT(beside.round_trips, SizeIs(3));
    co_await first.close();
    for (;;) {  // the agent hears of it a little later
      CO_VALUE(gone, co_await second.probe(probes(kToken)));
      if (gone.round_trips.empty()) break;
    }
    CO_VALUE(still, co_await second.probe(probes(kOtherToken)));
    EXPECT_THAT(still.round_trips, SizeIs(3));
  });
}

TEST_F(Sessions, ARunGetsItsTokenAndNobodyElseSeesIt) {
  options_.audit = (directory_.path() / "audit").string();
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    auto request = script("t", "token");
    request.token = kToken;
    CO_OK(co_await controller.start(request));
    const auto all = co_await events(controller, "t");
    CO_REQUIRE(!all.empty() && all[0].bench && all[0].bench->message);
    // What was executed, and its environment.
    EXPECT_EQ(*all[0].bench->message, "--transport=tcp --mode=token; " + kToken);
  });
  std::ifstream file{options_.audit};
  const std::string audit{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_THAT(audit, AllOf(HasSubstr("started"), Not(HasSubstr(kToken))));
}

/// Answers as degen would and remembers what it was asked.
class FakeDegen : public std::enable_shared_from_this<FakeDegen> {
 public:
  FakeDegen(boost::asio::io_context& context, const std::string& path)
      : context_(context), acceptor_(context, {path}) {}
  void open() {
    boost::asio::co_spawn(context_, accept(shared_from_this()), [](std::exception_ptr) {});
  }
  void close() { acceptor_.close(); }
  /// Of a refusal.
  void say(std::string words) { words_ = std::move(words); }
  int connections = 0;
  int heartbeats = 0;
  std::vector<longhaul::degen::Request> requests;

 private:
  using Socket = boost::asio::local::stream_protocol::socket;

  static Awaitable<void> accept(std::shared_ptr<FakeDegen> self) {
    for (;;) {
      auto socket = co_await self->acceptor_.async_accept(boost::asio::use_awaitable);
      ++self->connections;
      boost::asio::co_spawn(self->context_, serve(self, std::move(socket)),
                            [self](std::exception_ptr) { --self->connections; });
    }
  }

  static Awaitable<void> serve(std::shared_ptr<FakeDegen> self, Socket socket) {
    FrameDecoder decoder;
    std::string buffer(4096, '\0');
    for (;;) {
      const auto target = boost::asio::buffer(buffer);
      const auto size = co_await socket.async_read_some(target, boost::asio::use_awaitable);
      if (!decoder.feed({buffer.data(), size})) co_return;
      std::string text;
      while (decoder.next(text)) {
        const auto frame = encode_frame(longhaul::degen::to_json(self->answer(text)));
        const auto source = boost::asio::buffer(frame);
        co_await boost::asio::async_write(socket, source, boost::asio::use_awaitable);
      }
    }
  }

  std::string words_ = "no such engine";

  longhaul::degen::Reply answer(const std::string& text) {
    const auto request = longhaul::degen::request_from_json(text);
    longhaul::degen::Reply reply;
    if (!request) {
      ADD_FAILURE() << request.error().message;
      return reply;
    }
    if (request->kind == longhaul::degen::RequestKind::heartbeat) {
      ++heartbeats;
    } else {
      requests.push_back(*request);
    }
    reply.ok = request->engine != "broken";
    if (!reply.ok) reply.error = words_;
    reply.held = true;
    if (request->kind == longhaul::degen::RequestKind::measure)
      reply.report = longhaul::degen::Report{.impaired = true};
    return reply;
  }

  boost::asio::io_context& context_;
  boost::asio::local::stream_protocol::acceptor acceptor_;
};

TEST_F(Sessions, DegenIsPassedOnAndLetGo) {
  options_.audit = (directory_.path() / "audit").string();
  options_.degen_socket = (directory_.path() / "degen.sock").string();
  const auto degen = std::make_shared<FakeDegen>(context_, options_.degen_socket);
  degen->open();
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    EXPECT_EQ(degen->connections, 0);
    longhaul::degen::Request apply{
        .kind = longhaul::degen::RequestKind::apply, .engine = "netem", .parameters = {{"delay", Value{5'000'000}}}};
    CO_VALUE(applied, co_await controller.degen(apply));
    EXPECT_TRUE(applied.held);
    CO_REQUIRE(degen->requests.size() == 1);
    EXPECT_EQ(degen->requests[0].parameters.at("delay"), Value{5'000'000});
    EXPECT_EQ(degen->requests[0].client, "longhaul-agent node for controller me");
    longhaul::degen::Request measure;
    measure.kind = longhaul::degen::RequestKind::measure;
    CO_VALUE(measured, co_await controller.degen(measure));
    CO_REQUIRE(measured.report.has_value());
    EXPECT_TRUE(measured.report->impaired);
    apply.engine = "broken";
    const auto refused = co_await controller.degen(apply);
    EXPECT_THAT(refused.error().message, HasSubstr("degen: no such engine"));
    apply.parameters = {{"dealy", Value{1}}};
    const auto unknown = co_await controller.degen(apply);
    EXPECT_THAT(unknown.error().message, HasSubstr("dealy"));
    EXPECT_EQ(degen->requests.size(), 3u);  // it never saw the last
    const longhaul::degen::Request others{.kind = longhaul::degen::RequestKind::clear, .force = true};
    CO_VALUE(cleared, co_await controller.degen(others));
    const auto quiet = co_await controller.next_event("none", 0s);
    EXPECT_FALSE(quiet);
  });
  EXPECT_TRUE(eventually([&] { return degen->connections == 0; }));
  degen->close();
  std::ifstream file{options_.audit};
  const std::string audit{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_THAT(audit, HasSubstr(R"("request":"clear","parameters":{},"force":true)"));
}

// A reply that cannot be passed on, because no frame holds it with what is put round it, stands for all that throws.
TEST_F(Sessions, AnExceptionEndsItsSessionWithItsRunsAndNoOther) {
  options_.degen_socket = (directory_.path() / "degen.sock").string();
  options_.handover = 10s;
  const auto degen = std::make_shared<FakeDegen>(context_, options_.degen_socket);
  longhaul::degen::Reply around{.ok = false, .error = ""};
  degen->say(std::string(kMaxFrame - longhaul::degen::to_json(around).size(), 'x'));
  degen->open();
  open_agent();
  const auto other = issue(PeerRole::controller, "other");
  run([&]() -> Awaitable<void> {
    CO_VALUE(first, co_await Controller::connect(node(), controller_));
    CO_VALUE(second, co_await Controller::connect(node(), other));
    CO_OK(co_await first.start(script("mine", "stubborn")));
    CO_VALUE(ready, co_await first.next_event("mine", 20s));
    const auto pid = std::stoi(*ready.bench->message);
    longhaul::degen::Request broken{.kind = longhaul::degen::RequestKind::apply, .engine = "broken"};
    const auto reply = co_await first.degen(broken);
    EXPECT_FALSE(reply);
    EXPECT_FALSE(first.connected());
    // The other one is served on, and has its turn: the run was let go.
    CO_OK(co_await second.start(script("yours", "good")));
    EXPECT_FALSE(process_exists(pid));
    EXPECT_TRUE(second.connected());
  });
  degen->close();
}

TEST_F(Sessions, DegensLeaseIsRenewedWhileTheControllerLives) {
  options_.degen_socket = (directory_.path() / "degen.sock").string();
  const auto degen = std::make_shared<FakeDegen>(context_, options_.degen_socket);
  degen->open();
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    longhaul::degen::Request show;
    show.kind = longhaul::degen::RequestKind::show;
    CO_VALUE(shown, co_await controller.degen(show));
    boost::asio::steady_timer timer{context_, 1300ms};
    co_await timer.async_wait(boost::asio::use_awaitable);
    EXPECT_GE(degen->heartbeats, 1);
    EXPECT_EQ(degen->connections, 1);
  });
  degen->close();
}

TEST_F(Sessions, AMissingDegenIsNamed) {
  options_.degen_socket = (directory_.path() / "none.sock").string();
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    longhaul::degen::Request show;
    show.kind = longhaul::degen::RequestKind::show;
    const auto reply = co_await controller.degen(show);
    EXPECT_THAT(reply.error().message, HasSubstr("none.sock: No such file or directory (is degen serve running"));
  });
}

}  // namespace
}  // namespace longhaul::agents
