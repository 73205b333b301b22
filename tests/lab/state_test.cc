#include "lab/state.hh"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lab/control.hh"
#include "lab/machine.hh"

namespace longhaul::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class State : public testing::Test {
 protected:
  State() {
    char directory[] = "/tmp/lh-XXXXXX";
    root_ = ::mkdtemp(directory);
    ::setenv("XDG_RUNTIME_DIR", root_.c_str(), 1);
  }
  ~State() override {
    std::filesystem::remove_all(root_);
    ::unsetenv("XDG_RUNTIME_DIR");
  }
  LabState named(const std::string& name, bool ephemeral = false) {
    LabState state;
    state.name = name;
    state.ephemeral = ephemeral;
    return state;
  }
  std::string root_;
};

TEST_F(State, ANameIsClaimedOnce) {
  auto first = named("one");
  ASSERT_TRUE(claim(first));
  auto second = named("one");
  EXPECT_THAT(claim(second).error().message, HasSubstr("being started already"));
  first.phase = "up";
  save(first);
  EXPECT_THAT(claim(second).error().message, HasSubstr("`longhaul lab down --name one`"));
  EXPECT_THAT(lab_names(), ElementsAre("one"));
  remove_lab("one");
  EXPECT_TRUE(claim(second));
}

TEST_F(State, NamesThatWouldLeaveTheFolderAreRefused) {
  for (const char* bad : {"", "../x", "a b", "a/b", "a,b", "123456789012345678901234567890123"})
    EXPECT_FALSE(check_name(bad)) << bad;
}

TEST_F(State, WhatDeadOwnersLeftIsRemoved) {
  for (const auto& [name, phase, ephemeral] :
       {std::tuple{"unfinished", "starting", false}, {"ended", "up", true}, {"kept", "up", false}}) {
    auto state = named(name, ephemeral);
    ASSERT_TRUE(claim(state));
    state.phase = phase;
    // This process, but not the one that it was: the number came round.
    state.owner_start += 1;
    save(state);
    if (std::string(name) == "kept") break;
  }
  std::filesystem::create_directory(labs_directory() + "/claimed-but-killed");
  clean_stale();
  EXPECT_THAT(lab_names(), ElementsAre("kept"));
}

TEST_F(State, LivingOwnersLabsStay) {
  auto state = named("mine", true);
  ASSERT_TRUE(claim(state));
  clean_stale();
  EXPECT_THAT(lab_names(), ElementsAre("mine"));
  EXPECT_EQ(load("mine")->phase, "starting");
}

TEST_F(State, TheFolderIsThisUsersAlone) {
  struct stat status {};
  const std::string base = std::filesystem::path(labs_directory()).parent_path();
  ASSERT_EQ(::stat(base.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  ::chmod(base.c_str(), 0755);
  EXPECT_THROW(labs_directory(), std::system_error);
}

TEST_F(State, AProcessThatHasAMachinesOldNumberIsNotTakenForIt) {
  const std::string directory = labs_directory();
  std::ofstream(directory + "/vm.pid") << ::getpid() << '\n';
  EXPECT_FALSE(Machine::find("vm", directory));
}

TEST(Control, WordsReachTheShellAsTheyAre) {
  EXPECT_EQ(shell_quote("it's $x"), "'it'\\''s $x'");
  const auto command = remote_command("/l", 5022, "client", {"echo", "a b"});
  EXPECT_EQ(command.arguments.back(), "/etc/longhaul/node/client 'echo' 'a b'");
  EXPECT_THAT(command.environment, ElementsAre("HOME=/l/home"));
}

}  // namespace
}  // namespace longhaul::lab
