#include "common/share.hh"

#include <gmock/gmock.h>

namespace longhaul {
namespace {

TEST(Share, IsReadAsItIsWritten) {
  const auto share = parse_share("2/8");
  ASSERT_TRUE(share);
  EXPECT_EQ(share->number, 2U);
  EXPECT_EQ(share->of, 8U);
  EXPECT_TRUE(parse_share("8/8"));
}

TEST(Share, WhatIsNoneIsRefusedWithWhatIsExpected) {
  for (const char* text : {"", "2", "/", "2/", "/8", "0/8", "9/8", "-1/8", "+2/8", "2/8x", "2 /8", "1/0",
                           "99999999999999999999/99999999999999999999"}) {
    const auto share = parse_share(text);
    ASSERT_FALSE(share) << text;
    EXPECT_EQ(share.error().message, std::string{text} + ": expected such as 2/8, the second of eight");
  }
}

}  // namespace
}  // namespace longhaul
