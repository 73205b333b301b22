// Programs that know nothing of the cache, with and without it, over a double of libibverbs.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace longhaul::registration {
namespace {

const std::string kLibraries = LONGHAUL_BINARY_DIR "/lib/double";
const std::string kPreload = "LD_PRELOAD=" LONGHAUL_BINARY_DIR "/lib/liblonghaul-cache.so ";

struct Ran {
  int code = -1;
  std::string out;  // both streams
};

Ran run(const std::string& command) {
  Ran ran;
  auto* const pipe = ::popen(("exec 2>&1; export LD_LIBRARY_PATH=" + kLibraries + "; " + command).c_str(), "r");
  char text[4096];
  while (const auto got = std::fread(text, 1, sizeof text, pipe)) ran.out.append(text, got);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  return ran;
}

/// How often the device registered in this scenario.
int registered(const std::string& scenario, const std::string& environment) {
  const auto ran = run("env " + environment + "timeout 60 " + kLibraries + "/scenarios " + scenario);
  EXPECT_EQ(ran.code, 0) << scenario << ": " << ran.out;
  const auto at = ran.out.find("registered ");
  return at == std::string::npos ? -1 : std::atoi(ran.out.c_str() + at + 11);
}

bool can_watch() {
  return run("env LONGHAUL_CACHE_STATS=1 " + kPreload + kLibraries + "/scenarios busy").out.find("nothing is kept") ==
         std::string::npos;
}

class Interpose : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_watch()) GTEST_SKIP() << "no userfaultfd here";
  }
};

TEST_F(Interpose, WhatAProgramDeregistersStaysRegistered) {
  EXPECT_EQ(registered("keep", ""), 102);
  EXPECT_EQ(registered("keep", kPreload), 1);
  EXPECT_EQ(registered("keep", kPreload + "LONGHAUL_CACHE=off "), 102);
  EXPECT_EQ(registered("other_range", kPreload), 3) << "the keys of a larger region reach too far";
  EXPECT_EQ(registered("other_range", kPreload + "LONGHAUL_CACHE_REACH=pages "), 1);
}

TEST_F(Interpose, WhatMayNotBeKeptIsPassedBy) {
  EXPECT_EQ(registered("passed_by", kPreload), 21);
  EXPECT_EQ(registered("shared", kPreload), 5);
  EXPECT_EQ(registered("shared", kPreload + "LONGHAUL_CACHE_SHARED=1 "), 1);
  EXPECT_EQ(registered("fork_protected", kPreload), 3);
}

TEST_F(Interpose, DomainsAndDevicesClose) {
  EXPECT_EQ(registered("busy", kPreload), 2);
  EXPECT_EQ(registered("device", kPreload), 1);
  EXPECT_EQ(registered("domains", kPreload), 201);
}

TEST_F(Interpose, MemoryThatGoesIsForgotten) {
  EXPECT_EQ(registered("unmapped", kPreload), 101);
}

TEST_F(Interpose, MemoryAtTheAddressOfOtherMemoryIsNotTakenForIt) {
  EXPECT_GE(registered("reused", kPreload), 8000);
}

TEST_F(Interpose, AChildIsPassedBy) {
  EXPECT_EQ(registered("forked", kPreload), 2);
}

TEST_F(Interpose, ThreadsShareWhatIsKept) {
  const int times = registered("threads", kPreload);
  EXPECT_GT(times, 0);
  EXPECT_LT(times, 16000);
}

// The allocator holds its locks while it gives memory back that is watched, and waits for the watch.
TEST_F(Interpose, ADomainGoesWhileItsRegionsAreDeregistered) {
  EXPECT_EQ(registered("domain_in_tidying", kPreload), 10);
}

TEST_F(Interpose, TheAllocatorAndTheWatchDoNotWaitForEachOther) {
  EXPECT_GT(registered("heap", kPreload), 0);
}

TEST_F(Interpose, ARegionThatIsChangedIsTheProgramsAlone) {
  EXPECT_EQ(registered("changed", kPreload), 2);
}

TEST_F(Interpose, TheProgramGetsTheMemoryThatItMayLock) {
  EXPECT_EQ(registered("no_memory", kPreload), 21);
  EXPECT_EQ(registered("no_memory", kPreload + "LONGHAUL_CACHE_POLICY=lru LONGHAUL_CACHE_BYTES=12KiB "), 21);
}

TEST_F(Interpose, ALibraryThatCameWithAPluginIsFound) {
  const auto ran = run("env " + kPreload + kLibraries + "/host " + kLibraries + "/plugin.so keep");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("registered 1\n"), std::string::npos) << ran.out;
}

TEST_F(Interpose, TellsAtTheEnd) {
  const auto ran = run("env LONGHAUL_CACHE_STATS=1 " + kPreload + kLibraries + "/scenarios keep");
  EXPECT_NE(ran.out.find("101 hits of 102"), std::string::npos) << ran.out;
  const std::string file = ::testing::TempDir() + "cache-" + std::to_string(::getpid()) + ".json";
  registered("passed_by", kPreload + "LONGHAUL_CACHE_STATS=" + file + " ");
  std::stringstream text;
  text << std::ifstream{file}.rdbuf();
  EXPECT_NE(text.str().find(R"("passed_by": {"range": 0, "address": 1, "flags": 10, "remote": 5, "shared": 5)"),
            std::string::npos)
      << text.str();
  ::unlink(file.c_str());
}

TEST_F(Interpose, TellsByASocket) {
  const std::string socket = ::testing::TempDir() + "cache-" + std::to_string(::getpid()) + ".socket";
  const auto ran =
      run("mkfifo " + socket + ".in " + socket + ".out; env " + kPreload + "LONGHAUL_CACHE_SOCKET=" + socket + " " +
          kLibraries + "/scenarios waiting <" + socket + ".in >" + socket + ".out & exec 3>" + socket +
          ".in; read ready <" + socket +
          ".out; python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
          "print(s.recv(4096).decode())' " +
          socket + "; exec 3>&-; wait; ls " + socket + "; rm " + socket + ".in " + socket + ".out");
  EXPECT_NE(ran.out.find(R"("hits": 2, "misses": 1)"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("cannot access"), std::string::npos) << "the socket's file is gone: " << ran.out;
}

// docs/registration-cache.md, as a user copies it.
TEST(CacheLibrary, TheExampleOfTheDocumentCompilesAndRuns) {
  const std::string folder = ::testing::TempDir() + "cache-example-" + std::to_string(::getpid());
  const auto made = run("mkdir -p " + folder + "; unset LD_LIBRARY_PATH; cd " + folder +
                        "; awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' " LONGHAUL_SOURCE_DIR
                        "/docs/registration-cache.md >example.c; wc -l <example.c; "
                        "${CC:-cc} -Wall -Wextra -Werror -I" LONGHAUL_SOURCE_DIR
                        "/registration/preload example.c -o example -libverbs -L" LONGHAUL_BINARY_DIR
                        "/lib -llonghaul-cache && LD_LIBRARY_PATH=" LONGHAUL_BINARY_DIR "/lib ./example");
  EXPECT_NE(made.out.find("no RDMA device"), std::string::npos) << made.out;
  run("rm -r " + folder);
}

TEST(InterposeWrong, AWrongValueIsToldAndNothingIsKept) {
  const auto ran = run("env LONGHAUL_CACHE_BYTES=twelve " + kPreload + kLibraries + "/scenarios keep");
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("LONGHAUL_CACHE_BYTES: 'twelve' is no size"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("registered 102\n"), std::string::npos) << ran.out;
}

TEST(InterposeWrong, ProgramsWithoutVerbsDoNotNoticeIt) {
  const auto ran = run("env LONGHAUL_CACHE_STATS=1 LONGHAUL_CACHE_BYTES=twelve " + kPreload +
                       "sh -c 'echo $((6 * 7)); ls /dev/null'");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "42\n/dev/null\n");
}

}  // namespace
}  // namespace longhaul::registration
