#include "common/child.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <iterator>
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

// As in a container that does not admit the call. In a process of its own: it cannot be undone.
void without_pidfd_open() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = std::size(code), .filter = code};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(10);
  try {
    Child child{shell("exec sleep 100")};
    ::_exit(11);
  } catch (const std::system_error& error) {
    if (error.code().value() != ENOSYS) ::_exit(12);
    std::fprintf(stderr, "%s\n", error.what());
  }
  // Nobody is left behind, dead or alive.
  ::_exit(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 13);
}

TEST(Child, ThatCannotBeWatchedIsNotLeftBehind) {
  EXPECT_EXIT(without_pidfd_open(), ::testing::ExitedWithCode(0), "watching /bin/sh .pidfd_open.: needs Linux 5.3");
}

TEST(RunCommand, GivesItsOutput) {
  const auto output = run_command({"/bin/sh", "-c", "echo one; echo two; exit 3"});
  EXPECT_EQ(output.out, "one\ntwo\n");
  EXPECT_EQ(output.exit.code, 3);
}

}  // namespace
}  // namespace longhaul
