// Peers that vanish, fall silent, lie or talk nonsense.
#include <gmock/gmock.h>

#include <poll.h>
#include <sys/socket.h>

#include <atomic>

#include "tests/workloads/ends.hh"
#include "tests/workloads/soon.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::int64_t kMillisecond = 1'000'000;

OwnFd dial(std::uint16_t port) {
  const auto address = *resolve("127.0.0.1", port);
  auto fd = std::move(*start_dial(address, std::nullopt));
  EXPECT_TRUE(finish_dial(fd.get(), address, soon()));
  return fd;
}

// A server of the real protocol that answers `exchanges` messages of one byte, each passed through `change`, then calls
// `end`.
class FalseServer {
 public:
  using End = std::function<void(ControlChannel& control, std::vector<OwnFd>& lanes)>;
  FalseServer(int exchanges, std::function<char(char)> change, End end)
      : listener_(std::move(*listen_on(*resolve("127.0.0.1", 0)))), port_(listener_.port()) {
    thread_ = std::thread{[this, exchanges, change = std::move(change), end = std::move(end)] {
      auto client = *listener_.next_client({observe::RawTime::max(), -1});
      auto hello = client.control.receive(soon(), "hello");
      auto lanes = listener_.lanes(client.session, 1, soon());
      if (!hello || !lanes) return;
      ControlMessage accepted;
      accepted.kind = ControlKind::accepted;
      client.control.send(accepted, soon());
      pollfd lane{lanes->front().get(), POLLIN, 0};
      EXPECT_EQ(::poll(&lane, 1, 20), 0) << "the client begins before it is told that it is connected";
      ControlMessage connected;
      connected.kind = ControlKind::connected;
      client.control.send(connected, soon());
      for (int i = 0; i < exchanges; ++i) {
        char byte = 0;
        read_fully(lanes->front().get(), &byte, 1, soon(), "read");
        byte = change(byte);
        write_fully(lanes->front().get(), {&byte, 1}, soon(), "write");
      }
      end(client.control, *lanes);
    }};
  }
  ~FalseServer() { thread_.join(); }
  std::uint16_t port() const { return port_; }

 private:
  ClientListener listener_;  // serves anyone
  std::uint16_t port_;
  std::thread thread_;
};

// All of it in the client's warm-up, however slow this machine is: at its end a client asks for the window, of which a
// false server knows nothing.
Attempt<ClientResult> run_against(const FalseServer& server, const std::string& completion,
                                  std::int64_t timeout = 2'000 * kMillisecond) {
  Events events;
  return run_latency(
      towards(server.port(),
              {{"size", 1}, {"completion", completion}, {"timeout", timeout}, {"warmup", 60'000 * kMillisecond}}),
      events);
}

char echo(char byte) {
  return byte;
}

class Faults : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Completion, Faults, testing::Values("poll", "event"));

TEST_P(Faults, AServerThatVanishesIsNoticedAtOnce) {
  const FalseServer server{5, echo, [](ControlChannel& control, std::vector<OwnFd>& lanes) {
                             lanes.clear();
                             const ControlChannel gone = std::move(control);
                           }};
  const auto before = observe::raw_time();
  const auto result = run_against(server, GetParam());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, Status::failed);
  EXPECT_THAT(result.error().message, testing::AnyOf(HasSubstr("closed"), HasSubstr("reset")));
  EXPECT_LT(observe::raw_time() - before, 1500ms);
}

TEST_P(Faults, AServerWhoseControlConnectionIsGoneIsNoticed) {
  std::atomic<bool> done = false;
  const FalseServer server{5, echo, [&](ControlChannel& control, std::vector<OwnFd>&) {
                             { const ControlChannel gone = std::move(control); }
                             while (!done) std::this_thread::sleep_for(std::chrono::milliseconds{1});
                           }};
  const auto result = run_against(server, GetParam(), 30'000 * kMillisecond);
  done = true;
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("control connection"));
}

TEST_P(Faults, ASilentServerIsATimeOut) {
  std::atomic<bool> done = false;
  const FalseServer server{5, echo, [&](ControlChannel&, std::vector<OwnFd>&) {
                             while (!done) std::this_thread::sleep_for(std::chrono::milliseconds{1});
                           }};
  const auto before = observe::raw_time();
  const auto result = run_against(server, GetParam(), 100 * kMillisecond);
  const auto took = observe::raw_time() - before;
  done = true;
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("no operation came to its end for 100ms"));
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, 2s);
}

TEST_P(Faults, ACorruptedReplyIsAFailure) {
  int count = 0;
  const FalseServer server{
      6, [&](char byte) { return ++count == 6 ? static_cast<char>(byte + 1) : byte; },
      [](ControlChannel& control, std::vector<OwnFd>&) { (void)control.receive(soon(), "the failure"); }};
  const auto result = run_against(server, GetParam());
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("corrupted payload"));
}

TEST_P(Faults, TheServersLastWordsAreReported) {
  const FalseServer server{5, echo, [](ControlChannel& control, std::vector<OwnFd>&) {
                             ControlMessage message;
                             message.kind = ControlKind::failed;
                             message.message = "the fan stopped";
                             control.send(message, soon());
                             (void)control.receive(soon(), "its end");
                           }};
  const auto result = run_against(server, GetParam());
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("the fan stopped"));
}

TEST_P(Faults, AServerSurvivesAClientThatVanishes) {
  ServerThread server;
  {
    std::vector<OwnFd> fds;
    for (const bool data : {false, true}) {
      fds.push_back(dial(server.port()));
      write_fully(fds.back().get(), encode(Preamble{data, 0, 77, kToken}), soon(), "introduce");
    }
    ControlChannel control{std::move(fds[0])};
    ControlMessage hello;
    hello.kind = ControlKind::hello;
    hello.session = 77;
    hello.workload = "latency";
    hello.transport = "tcp";
    hello.parameters = Parameters{{"completion", GetParam()}};
    control.send(hello, soon());
    ASSERT_EQ(control.receive(soon(), "its answer")->kind, ControlKind::accepted);
    ASSERT_EQ(control.receive(soon(), "its word")->kind, ControlKind::connected);
  }
  Events events;
  EXPECT_TRUE(run_latency(towards(server.port(), quick()), events));
  server.end();
  ASSERT_EQ(server.results.size(), 2U);
  EXPECT_FALSE(server.results[0]);
  EXPECT_TRUE(server.results[1]);
}

TEST_P(Faults, CtrlCEndsAClient) {
  const StopSwitch stop;
  ServerThread server;
  Watch watch;
  std::thread presser{[&] {
    EXPECT_TRUE(watch.saw(BenchEventKind::window_start));
    stop.press();
  }};
  EXPECT_THROW((void)run_latency(
                   towards(server.port(), quick({{"completion", GetParam()}, {"duration", 60'000 * kMillisecond}})),
                   watch.events(), stop.fd()),
               Interrupted);
  presser.join();
}

TEST(ClientListener, StrangersHoldNobodyUp) {
  ServerThread server;
  std::vector<OwnFd> strangers;
  for (int i = 0; i < 5; ++i) strangers.push_back(dial(server.port()));
  write_fully(strangers[0].get(), "GET / HTTP/1.1\r\nHost: a host with a long name\r\n\r\n", soon(), "talk nonsense");
  write_fully(strangers[1].get(), "LH", soon(), "begin and stop");
  write_fully(strangers[2].get(), encode(Preamble{true, 0, 1, kToken}), soon(), "be another session's");
  Events events;
  const auto result = run_latency(towards(server.port(), quick()), events);
  EXPECT_TRUE(result) << result.error().message;
  char byte = 0;
  EXPECT_THROW(read_fully(strangers[0].get(), &byte, 1, soon(), "wait to be closed"), std::system_error);
}

TEST(Hello, OfAnotherVersionOrWorkloadIsRefusedWithWords) {
  ServerThread server;
  const auto say = [&](const std::string& json) {
    auto fd = dial(server.port());
    write_fully(fd.get(), encode(Preamble{false, 0, 5, kToken}) + encode_frame(json), soon(), "say hello");
    ControlChannel control{std::move(fd)};
    auto answer = control.receive(soon(), "its answer");
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->kind, ControlKind::refused);
    return answer->message.value_or("");
  };
  EXPECT_THAT(say(R"({"kind": "hello", "version": 99})"), HasSubstr("version 99"));
  EXPECT_THAT(say(R"({"kind": "hello", "version": 2, "workload": "mining"})"), HasSubstr("mining"));
  EXPECT_THAT(say(R"({"kind": "hello", "version": 2, "workload": "latency", "transport": "pigeon"})"),
              HasSubstr("pigeon"));
  EXPECT_THAT(
      say(R"({"kind": "hello", "version": 2, "workload": "latency", "transport": "tcp", "parameters": {"size": 0}})"),
      HasSubstr("size"));
  EXPECT_THAT(say("{"), HasSubstr("JSON"));
}

}  // namespace
}  // namespace longhaul::workloads
