#include "common/json.hh"

#include <gtest/gtest.h>

#include <bit>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <random>
#include <string>

namespace longhaul {
namespace {

namespace json = boost::json;

json::value read(std::string_view text, const json::parse_options& options = {}) {
  json::error_code error;
  auto value = read_json(text, error, options);
  EXPECT_FALSE(error) << text << ": " << error.message();
  return value;
}

json::error_code refusal(std::string_view text) {
  json::error_code error;
  const auto value = read_json(text, error);
  EXPECT_TRUE(error) << text;
  EXPECT_TRUE(value.is_null());
  return error;
}

TEST(Json, ANumberIsTheDoubleNearestToWhatIsWritten) {
  EXPECT_EQ(read("21024.228416727026").as_double(), 21024.228416727026);
  EXPECT_EQ(read("[-113174.08141314563]").at(0).as_double(), -113174.08141314563);
  EXPECT_EQ(read("12345444444444444444444444444444444444447310.0").as_double(),
            12345444444444444444444444444444444444447310.0);
  EXPECT_EQ(read("4.9e-324").as_double(), 4.9e-324);
  EXPECT_EQ(read("1.7976931348623157E+308").as_double(), 1.7976931348623157e308);
}

TEST(Json, WhatIsWrittenIsReadAgainToTheBit) {
  std::mt19937_64 random{20261127};
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(read(json::serialize(json::value(value))).as_double(), value);
  }
}

TEST(Json, IsOtherwiseWhatBoostReads) {
  for (const auto* text :
       {R"({"a":[1,-2,18446744073709551615,9223372036854775808],"b":{},"c":[],"d":"\u00e9\ud83d\ude00\n","e":null})",
        " [true, false, 0, -0, 0.5, 1e3] \n", R"("")", "-7", "123456789012345678901234567890", R"({"k":1,"k":2})",
        "1e-400"})
    EXPECT_EQ(json::serialize(read(text)), json::serialize(json::parse(text))) << text;
}

TEST(Json, RefusesWhatBoostRefuses) {
  EXPECT_EQ(refusal(""), json::error::incomplete);
  EXPECT_EQ(refusal("[1.5"), json::error::incomplete);
  EXPECT_EQ(refusal("1.5 x"), json::error::extra_data);
  EXPECT_EQ(refusal("{}{}"), json::error::extra_data);
  EXPECT_EQ(refusal(std::string(100, '[')), json::error::too_deep);
  for (const auto* text : {"1.", "01", "+1", "NaN", "[1,]", "'a'", "\"\xff\"", "1e999"}) {
    json::error_code error;
    json::parse(text, error);
    json::error_code ours;
    read_json(text, ours);
    EXPECT_EQ(ours, error) << text;
  }
  EXPECT_THROW(read_json("[1,]"), boost::system::system_error);
  EXPECT_EQ(read_json("[1.5]").at(0).as_double(), 1.5);
  json::parse_options latin;
  latin.allow_invalid_utf8 = true;
  EXPECT_EQ(read("\"\xff\"", latin).as_string(), "\xff");
}

}  // namespace
}  // namespace longhaul
