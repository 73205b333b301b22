#include "lab/plan/cpio.hh"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

#include "common/child.hh"

namespace longhaul::lab {
namespace {

TEST(Cpio, IsReadByCpioItself) {
  char directory[] = "/tmp/longhaul-cpio-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::string archive = std::string(directory) + "/a.cpio";
  std::ofstream(archive) << make_cpio(
      {{.path = "/etc/a/one", .bytes = "12345", .mode = 0640, .uid = 1000},
       {.path = "/etc/a/two", .bytes = "", .mode = 0755, .uid = 0},
       {.path = "/root/.ssh/k", .bytes = std::string("\0x", 2), .mode = 0600, .uid = 0}});
  const auto listing =
      run_command({"sh", "-c", "cpio -t --quiet -v -n <" + archive + " | sed 's/  */ /g' | cut -d' ' -f1,3,4,5,9"});
  EXPECT_TRUE(listing.exit.ok());
  EXPECT_EQ(
      listing.out,
      "drwxr-xr-x 0 0 0 etc\ndrwxr-xr-x 0 0 0 etc/a\n-rw-r----- 1000 1000 5 etc/a/one\n-rwxr-xr-x 0 0 0 etc/a/two\n"
      "drwx------ 0 0 0 root\ndrwx------ 0 0 0 root/.ssh\n-rw------- 0 0 2 root/.ssh/k\n");
  EXPECT_EQ(
      run_command({"sh", "-c", std::string("cd ") + directory + " && cpio -i --quiet --to-stdout etc/a/one <a.cpio"})
          .out,
      "12345");
  run_command({"rm", "-r", directory});
}

TEST(Cpio, RefusesARelativePath) {
  EXPECT_THROW(make_cpio({{.path = "etc/x", .bytes = ""}}), std::invalid_argument);
}

TEST(Cpio, IsPaddedForWhatFollows) {
  EXPECT_EQ(make_cpio({{.path = "/x", .bytes = "y"}}).size() % 512, 0U);
}

}  // namespace
}  // namespace longhaul::lab
