#include "model/units.hh"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace longhaul {
namespace {

TEST(Units, ReadsExactly) {
  const std::tuple<Kind, const char*, std::int64_t> cases[] = {
      {Kind::duration, "5ms", 5'000'000},
      {Kind::duration, "1.5us", 1'500},
      {Kind::duration, "0", 0},
      {Kind::duration, "0.000000001s", 1},
      {Kind::duration, "2 s", 2'000'000'000},
      {Kind::duration, "1min", 60'000'000'000},
      {Kind::size, "64B", 64},
      {Kind::size, "64", 64},
      {Kind::size, "16KiB", 16384},
      {Kind::size, "1.5KiB", 1536},
      {Kind::size, "1kB", 1000},
      {Kind::rate, "100Mbit/s", 100'000'000},
      {Kind::rate, "2.5Gbps", 2'500'000'000},
      {Kind::rate, "unlimited", 0},
      {Kind::fraction, "0.1%", 1'000},
      {Kind::fraction, "25ppm", 25},
      {Kind::count, "17", 17},
      {Kind::flag, "yes", 1},
  };
  for (const auto& [kind, text, value] : cases) {
    const auto parsed = parse_quantity(kind, text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, value) << text;
  }
}

TEST(Units, RefusalsSayWhatWasExpected) {
  const std::tuple<Kind, const char*, const char*> cases[] = {
      {Kind::duration, "5 parsecs", "expected a duration such as 5ms, 1.5us or 2s, got '5 parsecs'"},
      {Kind::duration, "-5ms", "expected a duration such as 5ms, 1.5us or 2s, got '-5ms': it cannot be negative"},
      {Kind::duration, "5", "expected a duration such as 5ms, 1.5us or 2s, got '5': the unit is missing"},
      {Kind::duration, "0.5ns", "'0.5ns' is not a whole number of ns or is too large"},
      {Kind::duration, "99999999999999999999s", "'99999999999999999999s' is not a whole number of ns or is too large"},
      {Kind::duration, "", "expected a duration such as 5ms, 1.5us or 2s, got ''"},
      {Kind::size, "1.", "expected a size such as 64B, 16KiB or 4MiB, got '1.'"},
      {Kind::count, "1e3", "expected a whole number, got '1e3'"},
      {Kind::flag, "maybe", "expected true or false, got 'maybe'"},
  };
  for (const auto& [kind, text, message] : cases) {
    const auto parsed = parse_quantity(kind, text);
    ASSERT_FALSE(parsed) << text << " gave " << *parsed;
    EXPECT_EQ(parsed.error().message, message);
  }
}

TEST(Units, WritesWhatItReads) {
  EXPECT_EQ(format_quantity(Kind::duration, 5'000'000), "5ms");
  EXPECT_EQ(format_quantity(Kind::duration, 1'500), "1.5us");
  EXPECT_EQ(format_quantity(Kind::duration, 0), "0");
  EXPECT_EQ(format_quantity(Kind::size, 16384), "16KiB");
  EXPECT_EQ(format_quantity(Kind::size, 1000), "1000B");
  EXPECT_EQ(format_quantity(Kind::size, 1536), "1536B");
  EXPECT_EQ(format_quantity(Kind::rate, 2'500'000'000), "2.5Gbit/s");
  EXPECT_EQ(format_quantity(Kind::fraction, 1'000), "1000ppm");
  EXPECT_EQ(format_quantity(Kind::fraction, 25'000), "2.5%");
  for (const auto kind : {Kind::duration, Kind::size, Kind::rate, Kind::fraction, Kind::count}) {
    for (const std::int64_t value : {0LL, 1LL, 9LL, 999LL, 1'000LL, 1'024LL, 65'537LL, 123'456'789LL, 60'000'000'000LL,
                                     4'000'000'000'000'000'000LL}) {
      const auto text = format_quantity(kind, value);
      const auto parsed = parse_quantity(kind, text);
      ASSERT_TRUE(parsed) << text;
      EXPECT_EQ(*parsed, value) << text;
    }
  }
}

TEST(Units, BytesInFlightRoundsUpAndDoesNotOverflow) {
  using namespace std::chrono_literals;
  EXPECT_EQ(bytes_in_flight(BitRate{1'000'000'000}, 40ms).count, 5'000'000);
  EXPECT_EQ(bytes_in_flight(BitRate{1}, 1ns).count, 1);
  EXPECT_EQ(bytes_in_flight(BitRate{400'000'000'000}, 10s).count, 500'000'000'000);
}

}  // namespace
}  // namespace longhaul
