#include "common/watchdog.hh"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/manager.hh"

namespace longhaul {
namespace {

TEST(Watchdog, TellsTheServiceManager) {
  const testing_support::ServiceManager manager;
  ASSERT_EQ(::setenv("NOTIFY_SOCKET", manager.path().c_str(), 1), 0);
  const Watchdog watchdog;
  ASSERT_EQ(::unsetenv("NOTIFY_SOCKET"), 0);
  ASSERT_TRUE(watchdog);
  EXPECT_EQ(manager.heard(), "");
  watchdog.beat();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");

  const Watchdog none;
  EXPECT_FALSE(none);
  none.beat();
}

}  // namespace
}  // namespace longhaul
