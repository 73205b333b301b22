// The program itself: options, exit codes, output.
#include <gmock/gmock.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>

#include "common/child.hh"
#include "common/frame.hh"

namespace longhaul {
namespace {

using testing::HasSubstr;

const std::string kBench = std::string{LONGHAUL_BINARY_DIR} + "/bin/longhaul-bench";

// Both streams in one text: what a user sees.
CommandOutput bench(const std::string& arguments) {
  return run_command({"/bin/sh", "-c", kBench + " " + arguments + " 2>&1"});
}

// A server under supervision, which has told its port.
class Supervised {
 public:
  explicit Supervised(const std::vector<std::string>& more = {}) {
    int fds[2];
    if (::pipe(fds) != 0) throw std::runtime_error("no pipe");
    reader_ = OwnFd{fds[0]};
    const OwnFd writer{fds[1]};
    std::vector<std::string> arguments{kBench, "latency", "--listen", "--bind", "127.0.0.1", "--port", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    server.emplace(ChildOptions{.arguments = arguments,
                                .descriptors = {{writer.get(), 3}},
                                .environment = {"LONGHAUL_EVENT_FD=3"},
                                .working_directory = {}});
  }
  // Its next event; "end" when there is none any more.
  std::string next() {
    std::string frame;
    char buffer[65536];
    while (!decoder_.next(frame)) {
      const auto got = ::read(reader_.get(), buffer, sizeof buffer);
      if (got <= 0) return "end";
      EXPECT_TRUE(decoder_.feed({buffer, static_cast<std::size_t>(got)}));
    }
    return frame;
  }
  // Waits until it listens.
  std::string port() {
    const auto ready = next();
    EXPECT_THAT(ready, HasSubstr(R"("kind":"ready")"));
    const auto at = ready.find("\"port\":") + 7;
    return ready.substr(at, ready.find_first_of(",}", at) - at);
  }
  std::optional<Child> server;

 private:
  OwnFd reader_;
  FrameDecoder decoder_;
};

TEST(Bench, SaysWhatItIs) {
  EXPECT_THAT(bench("--version").out, HasSubstr("0.1.0"));
  const auto help = bench("latency --help");
  EXPECT_TRUE(help.exit.ok());
  for (const auto* word :
       {"--min-samples", "--size", "--verify [true|false]=false", "Examples:", "write_imm", "--bind", "--device"})
    EXPECT_THAT(help.out, HasSubstr(word));
}

TEST(Bench, WrongOptionsAreNamed) {
  const auto check = [](const std::string& arguments, const std::string& expected) {
    const auto output = bench(arguments);
    EXPECT_EQ(output.exit.code, 2) << arguments << "\n" << output.out;
    EXPECT_THAT(output.out, HasSubstr(expected)) << arguments;
  };
  check("", "subcommand");
  check("frobnicate", "'frobnicate' is not a command of longhaul-bench; these are: latency");
  check("latency", "--listen");
  check("latency --connect 127.0.0.1", "--transport");
  check("latency --connect 127.0.0.1 --listen", "--listen");
  check("latency --connect 127.0.0.1:x --transport tcp", "port");
  check("latency --connect 127.0.0.1 --transport pigeon", "pigeon");
  check("latency --connect 127.0.0.1 --transport tcp --size 1parsec", "--size 1parsec");
  check("latency --connect 127.0.0.1 --transport tcp --op wrote", "did you mean 'write'");
  check("latency --connect 127.0.0.1 --transport tcp --bind 203.0.113.9", "203.0.113.9");
  check("latency --connect 127.0.0.1 --transport tcp --min-samples 0", "--min-samples");
}

// Nothing is served before somebody has said to whom.
TEST(Bench, AServerThatOthersReachAsksForATokenOrIsOpen) {
  const auto refused = bench("probe --listen --bind 0.0.0.0");
  EXPECT_EQ(refused.exit.code, 2) << refused.out;
  EXPECT_THAT(refused.out, HasSubstr("0.0.0.0 can be reached by others: give both ends --token WORD"));
  const auto both = bench("latency --listen --open --token x");
  EXPECT_EQ(both.exit.code, 2);
  EXPECT_THAT(both.out, HasSubstr("--open"));
  EXPECT_EQ(bench("latency --connect 127.0.0.1 --transport tcp --open").exit.code, 2);
}

TEST(Bench, BothEndsNeedTheSameToken) {
  const auto client = [](const std::string& port, const std::string& more) {
    return bench("latency --connect 127.0.0.1:" + port + " --transport tcp --duration 20ms --warmup 1ms " + more);
  };
  Supervised supervised{{"--token", "one word"}};
  const auto port = supervised.port();
  for (const std::string wrong : {"", "--token another"}) {
    const auto refused = client(port, wrong);
    EXPECT_EQ(refused.exit.code, 1) << refused.out;
    EXPECT_THAT(refused.out, HasSubstr("does it want a --token"));
  }
  const auto served = client(port, "--token 'one word'");
  EXPECT_TRUE(served.exit.ok()) << served.out;
  EXPECT_TRUE(supervised.server->wait(std::chrono::seconds{5}));
}

TEST(Bench, ATokenMayComeByTheEnvironment) {
  ::setenv("LONGHAUL_TOKEN", "one word", 1);
  Supervised supervised;
  const auto client = "latency --connect 127.0.0.1:" + supervised.port() + " --transport tcp --duration 20ms";
  const auto overruled = bench(client + " --token another");
  EXPECT_EQ(overruled.exit.code, 1) << overruled.out;
  const auto served = bench(client);
  EXPECT_TRUE(served.exit.ok()) << served.out;
  ::unsetenv("LONGHAUL_TOKEN");
}

TEST(Bench, WhatRunsAloneHasNoOtherEnd) {
  const auto help = bench("simulation --help");
  EXPECT_TRUE(help.exit.ok());
  for (const auto* word : {"--policy", "--capacity", "--json", "It has no other end"})
    EXPECT_THAT(help.out, HasSubstr(word));
  // A default as CLI11 of Debian 12 and as that of Debian 13 shows it.
  EXPECT_THAT(help.out, testing::AnyOf(HasSubstr("--trace NAME=generated"), HasSubstr("--trace NAME [generated]")));
  for (const auto* word : {"--listen", "--connect", "--transport", "--device", "--bind", "--port", "--once"})
    EXPECT_THAT(help.out, testing::Not(HasSubstr(word)));
  const auto table = bench("simulation --requests 5000 --objects 100 --capacity 1MiB --policy mrrc");
  EXPECT_TRUE(table.exit.ok()) << table.out;
  for (const auto* word : {"hit_ratio [1]", "cost [us]", "share_32", "CPU of the node"})
    EXPECT_THAT(table.out, HasSubstr(word));
  const auto json = bench("simulation --requests 5000 --objects 100 --json");
  for (const auto* word : {R"("local":{)", R"("role":"local")", R"("summary":{"hit_ratio":)"})
    EXPECT_THAT(json.out, HasSubstr(word));
  const auto wrong = bench("simulation --policy lur");
  EXPECT_EQ(wrong.exit.code, 2);
  EXPECT_THAT(wrong.out, HasSubstr("did you mean 'lru'?"));
}

TEST(Bench, AClientCanWaitForTheNameOfItsServer) {
  const auto told =
      run_command({"/bin/sh", "-c", "echo 127.0.0.1:1 | " + kBench + " latency --connect - --transport tcp 2>&1"});
  EXPECT_THAT(told.out, HasSubstr("connect to 127.0.0.1:1: nobody listens"));
  const auto never = bench("latency --connect - --transport tcp < /dev/null");
  EXPECT_EQ(never.exit.code, 2);
  EXPECT_THAT(never.out, HasSubstr("standard input ended before a line named the server (HOST:PORT)"));
  const auto wrong = bench("latency --connect - --transport tcp < /dev/zero");
  EXPECT_THAT(wrong.out, HasSubstr("a line of more than 300 bytes"));
}

TEST(Bench, FailuresHaveAnotherCodeAndAreJsonToo) {
  const auto output = bench("latency --connect 127.0.0.1:1 --transport tcp --json");
  EXPECT_EQ(output.exit.code, 1);
  EXPECT_THAT(output.out, HasSubstr(R"("status":"failed")"));
  EXPECT_THAT(output.out, HasSubstr("nobody listens"));
}

TEST(Bench, AServerIsSupervisedAndItsPortAndRecordCome) {
  Supervised supervised;
  const auto client = bench("latency --connect 127.0.0.1:" + supervised.port() +
                            " --transport tcp --duration 20ms --warmup 1ms --json --verify --size 100B");
  EXPECT_TRUE(client.exit.ok()) << client.out;
  for (const auto* word : {R"("p50")", R"("client")", R"("server")", R"("verify":1)"})
    EXPECT_THAT(client.out, HasSubstr(word));
  EXPECT_THAT(supervised.next(), HasSubstr("window_start"));
  EXPECT_THAT(supervised.next(), HasSubstr("window_stop"));
  EXPECT_THAT(supervised.next(), HasSubstr(R"("kind":"record")"));
  EXPECT_EQ(supervised.next(), "end");
  const auto exit = supervised.server->wait(std::chrono::seconds{5});
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->ok());
}

TEST(Bench, CtrlCEndsAServerCleanly) {
  Supervised supervised{{"--json"}};
  EXPECT_NE(supervised.port(), "0");
  supervised.server->send_signal(SIGINT);
  const auto exit = supervised.server->wait(std::chrono::seconds{5});
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code.value_or(-1), 130) << exit->text();
}

TEST(Bench, ATableForPeople) {
  Supervised supervised{{"--once"}};
  const auto output =
      bench("latency --connect 127.0.0.1:" + supervised.port() + " --transport tcp --duration 20ms --completion event");
  EXPECT_TRUE(output.exit.ok()) << output.out;
  for (const auto* word :
       {"p99.99", "min", "64B", "[us]", "MTU", "congestion control", "CPU of the server", "half of the round trip"})
    EXPECT_THAT(output.out, HasSubstr(word));
  EXPECT_TRUE(supervised.server->wait(std::chrono::seconds{5})) << "one client was to be served";
}

}  // namespace
}  // namespace longhaul
