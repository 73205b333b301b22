#include "degen/service/guard.hh"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "degen/service/claim.hh"
#include "tests/degen/recording.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    read = OwnFd{ends[0]};
    write = OwnFd{ends[1]};
  }
  OwnFd read, write;
};

TEST(GuardWatch, EndsWhenTheServiceEnds) {
  Pipe pipe;
  ASSERT_EQ(::write(pipe.write.get(), "xx", 2), 2);
  pipe.write.reset();
  EXPECT_EQ(watch(pipe.read.get(), 60s), Watch::ended);
}

TEST(GuardWatch, EndsWhenTheServiceIsSilent) {
  const Pipe pipe;
  EXPECT_EQ(watch(pipe.read.get(), 10ms), Watch::silent);
}

TEST(GuardWatch, GoesOnWhileTheServiceIsHeard) {
  Pipe pipe;
  constexpr auto kSilent = 2s;
  const auto began = std::chrono::steady_clock::now();
  std::jthread service{[&] {
    while (std::chrono::steady_clock::now() - began < kSilent + 200ms) {
      if (::write(pipe.write.get(), "x", 1) != 1) return;
      std::this_thread::sleep_for(20ms);
    }
    pipe.write.reset();
  }};
  EXPECT_EQ(watch(pipe.read.get(), kSilent), Watch::ended);
  EXPECT_GE(std::chrono::steady_clock::now() - began, kSilent);
}

TEST(Guard, HearsTheServiceAndKeepsItsLocks) {
  const test::TemporaryFolder folder;
  auto directory = RunDirectory::open(folder.path());
  ASSERT_TRUE(directory);
  std::vector<OwnFd> claims;
  claims.push_back(claim("guard-test0").value());
  {
    const Guard guard{{"/bin/sh", "-c", "head -c 1 <&3 >/dev/null && exec sleep 60"}, *directory, claims};
    claims.clear();
    EXPECT_FALSE(claim("guard-test0"));
    directory = RunDirectory::open(folder.path());
    ASSERT_FALSE(directory);
    EXPECT_THAT(directory.error().message, HasSubstr("another degen service"));
  }
  // The guard went with its owner.
  EXPECT_TRUE(claim("guard-test0", 5s));
  EXPECT_TRUE(RunDirectory::open(folder.path(), 5s));
}

TEST(Claim, IsOneProcesssAtATime) {
  auto first = claim("claim-test0");
  ASSERT_TRUE(first);
  EXPECT_TRUE(claim("claim-test1"));
  const auto second = claim("claim-test0");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("claim-test0: another degen serves it"));
  first->reset();
  EXPECT_TRUE(claim("claim-test0"));
}

TEST(Claim, WaitsForOneThatIsAboutToGo) {
  auto first = claim("claim-test2");
  ASSERT_TRUE(first);
  std::jthread leaves{[&] {
    std::this_thread::sleep_for(50ms);
    first->reset();
  }};
  EXPECT_TRUE(claim("claim-test2", 60s));
}

}  // namespace
}  // namespace longhaul::degen
