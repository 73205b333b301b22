#include "common/child.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

namespace longhaul {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ChildOptions shell(const std::string& script) {
  return {.arguments = {"/bin/sh", "-c", script}, .descriptors = {}, .environment = {}, .working_directory = {}};
}

TEST(Child, ReportsExitCodes) {
  Child child{shell("exit 7")};
  const auto ended = child.wait(seconds{10});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 7);
  EXPECT_EQ(ended->text(), "exit code 7");
}

TEST(Child, ReportsSignals) {
  Child child{shell("kill -9 $$")};
  const auto ended = child.wait(seconds{10});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->signal, SIGKILL);
}

TEST(Child, KeepsItsLimits) {
  auto options = shell("ulimit -Sn; ulimit -Hn; ulimit -Sc; grep -c 'NoNewPrivs:.*1' /proc/self/status");
  options.limits = {{.resource = RLIMIT_NOFILE, .soft = 200, .hard = 300}, {.resource = RLIMIT_CORE}};
  options.gains_nothing = true;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnFd read_end{ends[0]};
  {
    const OwnFd write_end{ends[1]};
    options.descriptors = {{write_end.get(), STDOUT_FILENO}};
    Child child{options};
    ASSERT_TRUE(child.wait(seconds{10}));
  }
  char text[64] = {};
  ASSERT_GT(::read(read_end.get(), text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "200\n300\n0\n1\n");
}

TEST(Child, AMissingProgramIsAnErrorNotAnExitCode) {
  EXPECT_THROW(
      Child({.arguments = {"/no/such/program"}, .descriptors = {}, .environment = {}, .working_directory = {}}),
      std::system_error);
}

TEST(Child, HandsDescriptorsOver) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  OwnFd read_end{ends[0]};
  OwnFd write_end{ends[1]};
  auto options = shell("echo hello >&7; echo $LONGHAUL_X >&7");
  options.descriptors = {{write_end.get(), 7}};
  options.environment = {"LONGHAUL_X=there"};
  Child child{options};
  write_end.reset();
  ASSERT_TRUE(child.wait(seconds{10}));
  char buffer[64];
  const auto n = ::read(read_end.get(), buffer, sizeof buffer);
  ASSERT_GT(n, 0);
  EXPECT_EQ(std::string(buffer, static_cast<std::size_t>(n)), "hello\nthere\n");
}

TEST(Child, TerminateEscalates) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const OwnFd read_end{ends[0]};
  OwnFd write_end{ends[1]};
  auto options = shell("trap '' TERM; echo set >&7; while :; do sleep 1; done");
  options.descriptors = {{write_end.get(), 7}};
  Child child{options};
  write_end.reset();
  char buffer[8];
  ASSERT_EQ(::read(read_end.get(), buffer, sizeof buffer), 4) << "the trap was not set";
  const auto ended = child.terminate(milliseconds{100});
  EXPECT_EQ(ended.signal, SIGKILL);
  EXPECT_FALSE(child.running());
}

TEST(Child, TheOwnerTakesTheChildWithIt) {
  pid_t pid = -1;
  {
    Child child{shell("exec sleep 100")};
    pid = child.pid();
    ASSERT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(RunCommand, GivesItsOutput) {
  const auto output = run_command({"/bin/sh", "-c", "echo one; echo two; exit 3"});
  EXPECT_EQ(output.out, "one\ntwo\n");
  EXPECT_EQ(output.exit.code, 3);
}

}  // namespace
}  // namespace longhaul
