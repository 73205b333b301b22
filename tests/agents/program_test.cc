// The program longhaul-agent itself: how it starts, what it refuses, and that its death leaves nothing.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "tests/agents/program.hh"
#include "tests/manager.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using longhaul::testing_support::ServiceManager;
using ::testing::HasSubstr;

TEST_F(Program, ServesAndStopsWithItsChildren) {
  auto started = start(arguments());
  const Node there{.name = "node", .host = "127.0.0.1", .port = port_of(started)};
  // The catalog of the program is the real one: no script workload in it.
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(there, controller_));
    const auto refused = co_await controller.start(script("x", "good"));
    EXPECT_THAT(refused.error().message, HasSubstr("there is no workload 'script'"));
    StartRequest server{
        .run_id = "s", .role = Role::server, .workload = "latency", .transport = "tcp", .token = kToken};
    CO_OK(co_await controller.start(server));  // bench.sh takes any arguments
    CO_VALUE(ready, co_await controller.next_event("s", 20s));
    EXPECT_EQ(ready.bench->port, 4242);
  });
  started.child.send_signal(SIGTERM);
  const auto ended = started.child.wait(20s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0) << text(started.log);
}

TEST_F(Program, KilledItTakesItsWorkloadAlong) {
  auto with_hang = arguments();
  with_hang.back() = hanging_bench();
  auto started = start(with_hang);
  const Node there{.name = "node", .host = "127.0.0.1", .port = port_of(started)};
  pid_t pid = 0;
  std::string lost;
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(there, controller_));
    StartRequest server{
        .run_id = "s", .role = Role::server, .workload = "latency", .transport = "tcp", .token = kToken};
    CO_OK(co_await controller.start(server));
    CO_VALUE(ready, co_await controller.next_event("s", 20s));
    pid = std::stoi(*ready.bench->message);
    EXPECT_TRUE(process_exists(pid));
    started.child.send_signal(SIGKILL);
    const auto after = co_await controller.next_event("s", 20s);
    if (!after) lost = after.error().message;
    EXPECT_FALSE(controller.connected());
  });
  EXPECT_THAT(lost, HasSubstr("agent node at 127.0.0.1"));
  EXPECT_TRUE(eventually([&] { return !process_exists(pid); }));
  // And it can be started again at once, on the same port.
  started.child.wait(20s);
  auto again = start(arguments(fmt::format("127.0.0.1:{}", there.port)));
  EXPECT_EQ(port_of(again), there.port);
}

TEST_F(Program, AKilledControllersWorkloadEnds) {
  // The controller is a process of its own: a copy of this one that dies without a word.
  open_agent();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnFd read_end{ends[0]};
  OwnFd write_end{ends[1]};
  const auto there = node();
  const auto controller_process = ::fork();
  ASSERT_GE(controller_process, 0);
  if (controller_process == 0) {
    boost::asio::io_context own{1};
    boost::asio::co_spawn(
        own,
        [&]() -> Awaitable<void> {
          auto controller = co_await Controller::connect(there, controller_);
          if (!controller) ::_exit(1);
          const auto started = co_await controller->start(script("s", "stubborn"));
          auto ready = co_await controller->next_event("s", 20s);
          const auto words = ready ? *ready->bench->message + "\n" : "none\n";
          if (::write(write_end.get(), words.data(), words.size()) < 0) ::_exit(1);
          ::kill(::getpid(), SIGKILL);
        },
        [](std::exception_ptr) {});
    own.run();
    ::_exit(1);
  }
  write_end.reset();
  std::string words;
  ASSERT_TRUE(eventually([&] {
    ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
    char buffer[32];
    const auto n = ::read(read_end.get(), buffer, sizeof buffer);
    if (n > 0) words.append(buffer, static_cast<std::size_t>(n));
    return words.ends_with('\n') || n == 0;
  }));
  ::waitpid(controller_process, nullptr, 0);
  const pid_t pid = std::atoi(words.c_str());
  ASSERT_GT(pid, 0) << words;
  EXPECT_TRUE(eventually([&] { return !process_exists(pid); }));
}

TEST_F(Program, MeasuresWithTheRealBench) {
  auto real = arguments();
  real.back() = LONGHAUL_BINARY_DIR "/bin/longhaul-bench";
  auto started = start(real);
  const Node there{.name = "node", .host = "127.0.0.1", .port = port_of(started)};
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(there, controller_));
    const StartRequest server{.run_id = "r/server",
                              .role = Role::server,
                              .workload = "latency",
                              .transport = "tcp",
                              .bind = "127.0.0.1",
                              .token = kToken};
    CO_OK(co_await controller.start(server));
    CO_VALUE(ready, co_await controller.next_event("r/server", 20s));
    CO_REQUIRE(ready.bench && ready.bench->kind == BenchEventKind::ready && ready.bench->port);
    // The first who comes is not the client, and says what a client without the token would.
    boost::asio::ip::tcp::socket stranger{context_};
    const boost::asio::ip::tcp::endpoint at{boost::asio::ip::make_address("127.0.0.1"), *ready.bench->port};
    co_await stranger.async_connect(at, boost::asio::use_awaitable);
    const auto words = std::string(32, '\0') + "LHCT" + std::string(12, '\1');
    const auto said = boost::asio::buffer(words);
    co_await boost::asio::async_write(stranger, said, boost::asio::use_awaitable);
    char byte = 0;
    const auto answer = boost::asio::buffer(&byte, 1);
    const auto [closed, got] =
        co_await boost::asio::async_read(stranger, answer, boost::asio::as_tuple(boost::asio::use_awaitable));
    EXPECT_TRUE(closed) << "it was not turned away, " << got;
    const StartRequest client{
        .run_id = "r/client",
        .role = Role::client,
        .workload = "latency",
        .parameters = {{"duration", Value{20'000'000}}, {"warmup", Value{1'000'000}}, {"verify", Value{1}}},
        .transport = "tcp",
        .bind = "127.0.0.1",
        .token = kToken};
    CO_OK(co_await controller.start(client));
    const ConnectRequest where{.run_id = "r/client", .peer = "127.0.0.1", .peer_port = *ready.bench->port};
    CO_OK(co_await controller.connect_client(where));
    const auto again = co_await controller.connect_client(where);
    EXPECT_FALSE(again) << "a client is told once";
    for (const std::string run_id : {"r/client", "r/server"}) {
      bool record = false;
      for (;;) {
        CO_VALUE(event, co_await controller.next_event(run_id, 20s));
        if (event.bench && event.bench->kind == BenchEventKind::failed)
          ADD_FAILURE() << run_id << ": " << event.bench->message.value_or("");
        if (event.bench && event.bench->record) record = true;
        if (event.bench && event.bench->record && run_id == "r/server") {
          EXPECT_EQ(event.bench->record->transport->counters.at("strangers"), 1);
        }
        if (event.bench && event.bench->record && run_id == "r/client") {
          EXPECT_GT(event.bench->record->metrics.at("latency").value, 0);
        }
        if (!event.exit) continue;
        EXPECT_EQ(*event.exit, "exit code 0") << run_id;
        break;
      }
      EXPECT_TRUE(record) << run_id;
    }
  });
}

TEST_F(Program, TellsTheServiceManagerThatItIsAlive) {
  const ServiceManager manager;
  ASSERT_EQ(::setenv("NOTIFY_SOCKET", manager.path().c_str(), 1), 0);
  auto started = start(arguments());
  ASSERT_EQ(::unsetenv("NOTIFY_SOCKET"), 0);
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(eventually([&] { return manager.heard() == "WATCHDOG=1"; })) << text(started.log);
  started.child.send_signal(SIGTERM);
  const auto ended = started.child.wait(20s);
  ASSERT_TRUE(ended) << "the beats keep it from ending";
  EXPECT_EQ(ended->code, 0) << text(started.log);
}

TEST_F(Program, SaysInItsLogWhatExpires) {
  const auto now = std::chrono::system_clock::now();
  ASSERT_TRUE(pki_issue(pki_, {PeerRole::agent, "node"}, {.from = now - 24h * 50, .lifetime = 24h * 60}, true));
  auto started = start(arguments());
  EXPECT_NE(port_of(started), 0);
  EXPECT_THAT(text(started.log), HasSubstr("agent-node.pem: this certificate expires in 9 days, on "));
}

TEST_F(Program, RefusalsNameTheRemedy) {
  EXPECT_EQ(refusal({kProgram}), (std::pair{2, std::string{"longhaul-agent: --node is required (see --help)\n"}}));
  const auto with = [&](const std::string& option, const std::string& value) {
    auto changed = arguments();
    const auto at = std::find(changed.begin(), changed.end(), option);
    if (at == changed.end()) {
      changed.insert(changed.end(), {option, value});
    } else {
      *(at + 1) = value;
    }
    return refusal(changed);
  };
  const auto expect = [](std::pair<int, std::string> got, int code, const char* words) {
    EXPECT_EQ(got.first, code) << got.second;
    EXPECT_THAT(got.second, HasSubstr(words));
  };
  expect(with("--listen", "nonsense"), 2, "--listen: expected HOST:PORT");
  expect(with("--listen", "127.0.0.1:99999"), 2, "--listen: expected HOST:PORT");
  expect(with("--listen", "example.org:1"), 2, "expected a numeric address");
  expect(with("--listen", "192.0.2.1:7471"), 1, "listening on 192.0.2.1 port 7471: Cannot assign requested address");
  expect(with("--cert", "/no/cert.pem"), 2, "/no/cert.pem: No such file or directory");
  expect(with("--node", "other"), 2, "is that of 'node'");
  expect(with("--bench", "/no/bench"), 2, "--bench: /no/bench: No such file or directory");
  expect(with("--cpus", "a-b"), 2, "--cpus: expected a list of processors");
  expect(with("--cpus", "1000"), 1, "processors 1000");
  expect(with("--limit-memory", "lots"), 2, "--limit-memory: expected a size");
  expect(with("--limit-time", "soon"), 2, "--limit-time: expected a duration");
  expect(with("--limit-cpu", "-1s"), 2, "--limit-cpu: ");
  expect(with("--audit", "/no/audit.jsonl"), 2, "--audit /no/audit.jsonl: No such file or directory");
  expect(with("--frobnicate", "x"), 2, "frobnicate");
}

TEST_F(Program, TellsFactsByHand) {
  const auto json = run_command({kProgram, "--facts", "--json"});
  EXPECT_TRUE(json.exit.ok());
  EXPECT_TRUE(node_facts_from_json(json.out)) << json.out;
  const auto table = run_command({kProgram, "--facts"});
  EXPECT_THAT(table.out, HasSubstr("boot id"));
}

}  // namespace
}  // namespace longhaul::agents
