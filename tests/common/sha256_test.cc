#include "common/sha256.hh"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

namespace longhaul {
namespace {

// FIPS 180-4, examples.
constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, GivesTheStandardsExample) {
  EXPECT_EQ(Sha256{}.add("abc").hex(), kAbc);
  EXPECT_EQ(Sha256{}.add("a").add("").add("bc").hex(), kAbc);
  EXPECT_EQ(Sha256{}.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(short_digest("abc"), "ba7816bf8f01cfea");
  EXPECT_EQ(Sha256{}.add("abc").base64(), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(Sha256, ReadsFiles) {
  const auto path = ::testing::TempDir() + "longhaul-sha256-" + std::to_string(::getpid());
  std::ofstream(path) << "abc";
  EXPECT_EQ(Sha256{}.add_file(path).hex(), kAbc);
  ::unlink(path.c_str());
  EXPECT_THROW(Sha256{}.add_file(path), std::system_error);
}

}  // namespace
}  // namespace longhaul
