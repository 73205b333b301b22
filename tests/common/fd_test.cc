#include "common/fd.hh"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace longhaul {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(OwnFd, ClosesWhenItGoes) {
  int number = -1;
  {
    OwnFd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    number = fd.get();
    ASSERT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(OwnFd, MoveAssignmentClosesTheOldOne) {
  OwnFd a{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  OwnFd b{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const int old = a.get();
  const int kept = b.get();
  a = std::move(b);
  EXPECT_FALSE(is_open(old));
  EXPECT_EQ(a.get(), kept);
  EXPECT_TRUE(is_open(kept));
}

TEST(OwnFd, ReleaseGivesItAway) {
  OwnFd a{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  const int number = a.release();
  EXPECT_FALSE(a);
  a.reset();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace longhaul
