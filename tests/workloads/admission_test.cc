// Strangers at a server's port: who has not the token gets nothing and changes nothing.
#include "workloads/harness/admission.hh"
#include "tests/workloads/soon.hh"

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tests/workloads/ends.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

OwnFd dial(std::uint16_t port, const char* from = "127.0.0.1") {
  const auto address = *resolve("127.0.0.1", port);
  auto fd = std::move(*start_dial(address, *resolve(from, 0)));
  EXPECT_TRUE(finish_dial(fd.get(), address, soon()));
  return fd;
}

void say(const OwnFd& fd, const std::string& words) {
  write_fully(fd.get(), words, soon(), "say something");
}

bool is_closed(const OwnFd& fd) {
  char byte = 0;
  try {
    read_fully(fd.get(), &byte, 1, soon(), "wait to be closed");
  } catch (const std::system_error& error) {
    return error.code() != std::errc::timed_out;
  }
  return false;
}

ClientListener listener(std::optional<Token> token = kToken) {
  return ClientListener{std::move(*listen_on(*resolve("127.0.0.1", 0))), token};
}

TEST(Admission, OthersReachOnlyWhatAsksForATokenOrIsOpen) {
  const auto named = [](const char* host) { return std::optional{*parse_address(host, 0)}; };
  const Admission closed;
  const auto token = admission_of("word", false);
  const auto open = admission_of("", true);
  EXPECT_EQ(listening_at({}, 7470, closed)->text(), "127.0.0.1:7470");
  EXPECT_EQ(listening_at(named("127.0.0.9"), 7470, closed)->text(), "127.0.0.9:7470");
  EXPECT_EQ(listening_at(named("::1"), 1, closed)->text(), "[::1]:1");
  for (const auto* host : {"10.20.0.1", "0.0.0.0", "::", "fd00::1"}) {
    const auto refused = listening_at(named(host), 7470, closed);
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().exit_code, ExitCode::usage);
    EXPECT_THAT(refused.error().message,
                testing::AllOf(HasSubstr(host), HasSubstr("--token WORD"), HasSubstr("--open")));
    EXPECT_EQ(listening_at(named(host), 7470, token)->host(), host);
    EXPECT_EQ(listening_at(named(host), 7470, open)->host(), host);
  }
  EXPECT_EQ(listening_at({}, 7470, token)->text(), any_address(7470).text());
  EXPECT_EQ(listening_at({}, 7470, open)->text(), any_address(7470).text());
  EXPECT_FALSE(admission_of("", false).token) << "an empty word is none";
}

TEST(Admission, StrangersAreTurnedAwayCountedAndDisturbNoRun) {
  ServerThread server;
  const auto hello = encode_frame(R"({"kind": "hello", "version": 2, "workload": "latency", "transport": "tcp"})");
  for (const auto& words :
       {encode(Preamble{false, 0, 5}) + hello, encode(Preamble{false, 0, 5, token_of("another")}) + hello,
        encode(Preamble{true, 0, 5, token_of("another")}), std::string(100'000, 'x')}) {
    const auto stranger = dial(server.port());
    say(stranger, words);
    EXPECT_TRUE(is_closed(stranger));
  }
  Events events;
  const auto result = run_latency(towards(server.port(), quick()), events);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->server.transport->counters.at("strangers"), 4);
  const auto again = run_latency(towards(server.port(), quick()), events);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->server.transport->counters.contains("strangers")) << "they are told once";
  server.end();
  EXPECT_EQ(server.results.size(), 2U) << "no stranger was served";
}

TEST(Admission, AClientWithoutTheTokenIsToldWhatMayBeWrong) {
  ServerThread server;
  Events events;
  for (const auto& token : {Token{}, token_of("another word")}) {
    auto options = towards(server.port(), quick());
    options.token = token;
    const auto result = run_latency(options, events);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, HasSubstr("does it want a --token"));
  }
  // One who has a token may come to a server that asks for none.
  ServerThread open{{.token = {}, .open = true}};
  const auto result = run_latency(towards(open.port(), quick()), events);
  EXPECT_TRUE(result) << result.error().message;
}

TEST(Admission, ADataConnectionNeedsTheTokenToo) {
  auto server = listener();
  const auto stranger = dial(server.port());
  say(stranger, encode(Preamble{true, 0, 5, token_of("another")}));
  const auto lane = dial(server.port());
  say(lane, encode(Preamble{true, 0, 5, kToken}) + "!");
  const auto lanes = server.lanes(5, 1, soon());
  ASSERT_TRUE(lanes) << lanes.error().message;
  char byte = 0;
  read_fully(lanes->front().get(), &byte, 1, soon(), "read");
  EXPECT_EQ(byte, '!');
  EXPECT_TRUE(is_closed(stranger));
  EXPECT_EQ(server.strangers(), 1U);
}

TEST(Admission, TheToolsOfOthersAreStartedForWhoeverHasTheTokenOnly) {
  ServerThread server{{.token = {}, .open = true}};
  Events events;
  auto options = towards(server.port(), quick({{"tool", std::string{"peer"}}}));
  const auto refused = run_client(options, *find_workload("throughput"), *find_runner("throughput"), events, -1);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("only with the same --token WORD at both ends"));
}

TEST(Admission, TheSilentDisplaceThemselvesOnly) {
  constexpr int kFlood = 1100;  // more than wait for their preamble at a time
  auto server = listener();
  const auto slow = dial(server.port(), "127.0.0.2");
  std::vector<OwnFd> flood;
  // In parts: the kernel's backlog is shorter.
  for (int i = 0; i < kFlood; ++i) {
    flood.push_back(dial(server.port()));
    if (i % 50 == 0) (void)server.next_client(Patience::of(0s, -1));
  }
  const auto client = dial(server.port());
  say(client, encode(Preamble{false, 0, 6, kToken}));
  const auto first = server.next_client(soon());
  ASSERT_TRUE(first) << "the flood kept a client out";
  EXPECT_EQ(first->session, 6U);
  // It came before all of them and from elsewhere.
  say(slow, encode(Preamble{false, 0, 7, kToken}));
  const auto second = server.next_client(soon());
  ASSERT_TRUE(second) << "another address's flood displaced it";
  EXPECT_EQ(second->session, 7U);
  EXPECT_GE(server.strangers(), 70U);
  EXPECT_TRUE(is_closed(flood.front()));
}

// Until it goes no descriptor can be had.
class NoDescriptors {
 public:
  NoDescriptors() {
    // UBSan looks by a pipe whether an object of a type that is new to it is in memory: it must know this one.
    const std::system_error known{EMFILE, std::generic_category()};
    const std::system_error& seen = known;
    EXPECT_STRNE(seen.what(), "");
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Admission, WantOfDescriptorsEndsNothing) {
  auto server = listener();
  const auto client = dial(server.port());
  say(client, encode(Preamble{false, 0, 6, kToken}));
  {
    const NoDescriptors none;
    EXPECT_FALSE(server.next_client(Patience::of(150ms, -1)));
  }
  EXPECT_TRUE(server.next_client(soon()));
}

}  // namespace
}  // namespace longhaul::workloads
