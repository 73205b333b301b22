#include "common/log.hh"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>

#include "common/error.hh"
#include "common/fd.hh"

namespace longhaul {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Standard error is a pipe, as long as this lives.
class Log : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), "make a pipe");
    reader_ = OwnFd{ends[0]};
    writer_ = OwnFd{ends[1]};
    ::fcntl(writer_.get(), F_SETFL, 0);  // a write waits, as to any pipe
    before_ = OwnFd{check(::dup(STDERR_FILENO), "keep standard error")};
    check(::dup2(writer_.get(), STDERR_FILENO), "put a pipe in place of standard error");
  }
  void TearDown() override {
    ::dup2(before_.get(), STDERR_FILENO);
    log_to_stderr("test");
  }
  std::string read() const {
    std::string text(1 << 20, '\0');
    const auto count = ::read(reader_.get(), text.data(), text.size());
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }

  OwnFd reader_, writer_, before_;
};

TEST_F(Log, LinesCarryNothingThatATerminalObeys) {
  log_to_stderr("test-program");
  log::warn("node {}: {}", "a", "\x1b[2J\nsecond");
  EXPECT_THAT(read(), HasSubstr("test-program: warning: node a: \\x1b[2J\n    second\n"));
}

TEST_F(Log, AServiceDoesNotWaitForWhoReadsIt) {
  log_to_stderr("service", LogLine::is_dropped);
  constexpr int kLines = 20'000;  // a pipe holds 64 KiB
  for (int i = 0; i < kLines; ++i) log::info("line {}", i);
  const auto taken = read();
  EXPECT_THAT(taken, HasSubstr("service: info: line 0\n"));
  EXPECT_THAT(taken, Not(HasSubstr("line 19999")));
  log::info("there is room again");
  const auto told = read();
  const auto lines = std::count(taken.begin(), taken.end(), '\n');
  EXPECT_THAT(told, HasSubstr(fmt::format("warning: {} lines were not taken by who reads this log\n", kLines - lines)));
  EXPECT_THAT(told, HasSubstr("info: there is room again\n"));
}

TEST_F(Log, AServiceDoesNotDieWithWhoReadsIt) {
  log_to_stderr("service", LogLine::is_dropped);
  reader_.reset();
  log::info("a line to nobody");  // a write would be SIGPIPE
}

TEST_F(Log, ALineOfAServiceIsNoLongerThanAPipeHasRoomFor) {
  log_to_stderr("service", LogLine::is_dropped);
  log::info("{}", std::string(100'000, '\x1b'));
  const auto line = read();
  EXPECT_LE(line.size(), 4096U);
  EXPECT_THAT(line, HasSubstr(" ...\n"));
}

}  // namespace
}  // namespace longhaul
