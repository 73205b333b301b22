#include "degen/impairment/faults.hh"

#include <gmock/gmock.h>

#include "degen/engines/planner.hh"
#include "degen/impairment/spec.hh"
#include "tests/some.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Faults, ReadsEveryKind) {
  const auto faults = parse_faults("swap 11, drop 17,drop 20-22 ,  duplicate 5, delay 9-10 by 3ms").value();
  EXPECT_TRUE(faults.numbered);
  ASSERT_EQ(faults.list.size(), 5u);
  EXPECT_EQ(faults.list[0], (Fault{.kind = Fault::Kind::duplicate, .first = 5, .last = 5}));
  EXPECT_EQ(faults.list[1], (Fault{.kind = Fault::Kind::delay, .first = 9, .last = 10, .by = 3ms}));
  EXPECT_EQ(faults.of(21), &faults.list[4]);
  EXPECT_EQ(faults.of(23), nullptr);
  EXPECT_EQ(to_text(faults), "duplicate 5, delay 9-10 by 3ms, swap 11, drop 17, drop 20-22");
}

TEST(Faults, NoneCountsNothingAndCountTouchesNothing) {
  EXPECT_TRUE(parse_faults("none")->none());
  const auto counted = parse_faults("count").value();
  EXPECT_FALSE(counted.none());
  EXPECT_EQ(counted.of(1), nullptr);
  for (const std::string text :
       {"none", "count", "drop 1", "udp 4791: drop 17, drop 20-22", "tcp: count", "icmp: delay 2 by 1ms"})
    EXPECT_EQ(to_text(parse_faults(text).value()), text);
}

TEST(Faults, RefusesWhatCannotBeReadAndSaysWhat) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "expected drop"},
      {"lose 17", "'lose 17': expected drop, delay, swap or duplicate"},
      {"drop", "expected a packet's number from 1"},
      {"drop 0", "expected a packet's number from 1"},
      {"drop 22-20", "expected a packet's number from 1"},
      {"drop 5 6", "'6' means nothing here; separate faults by commas"},
      {"drop 5,", "expected drop"},
      {"swap 3-4", "swap takes one number"},
      {"delay 9", "expected how long, such as 'delay 9 by 3ms'"},
      {"delay 9 by 3", "'delay 9 by 3'"},
      {"delay 9 by 11s", "at most 10s"},
      {"sctp: drop 5", "'sctp:': expected whose packets are numbered: tcp, udp or icmp"},
      {": drop 5", "expected whose packets are numbered"},
      {"udp x: drop 5", "expected one port from 1 to 65535 behind udp"},
      {"udp 0: drop 5", "expected one port"},
      {"udp 65536: drop 5", "expected one port"},
      {"udp 1 2: drop 5", "expected one port"},
      {"icmp 8: drop 5", "icmp has no ports"},
      {"udp 5: none", "'none': expected drop"},
      {"drop 5, udp: drop 6", "expected whose packets"},
      {"drop 5, delay 5 by 1ms", "packet 5 has two faults"},
      {"drop 3-9, swap 9", "packet 9 has two faults"}};
  for (const auto& [text, why] : some(wrong)) {
    const auto faults = parse_faults(text);
    ASSERT_FALSE(faults) << text;
    EXPECT_THAT(faults.error().message, HasSubstr(why)) << text;
  }
}

TEST(Faults, AreAnAxisOfTheImpairment) {
  const auto one = make_impairment({{"faults", "drop 3"}, {"faults_back", "count"}}).value();
  EXPECT_EQ(one.forward.faults.list.size(), 1u);
  EXPECT_TRUE(one.back.faults.list.empty());
  EXPECT_FALSE(one.none());
  EXPECT_EQ(to_parameters(one), (Parameters{{"faults", "drop 3"}, {"faults_back", "count"}}));
  // One spelling, so that equal cells are one.
  EXPECT_EQ(to_parameters(make_impairment({{"faults", "drop  7 ,drop 3"}}).value()),
            (Parameters{{"faults", "drop 3, drop 7"}}));
  EXPECT_EQ(describe(make_impairment({{"delay", 5'000'000}, {"faults", "drop 3"}}).value()),
            "delay 5ms, faults drop 3");
  EXPECT_FALSE(make_impairment({{"faults", "drop x"}}));
}

TEST(Faults, AnEngineThatCannotSaysWhichCan) {
  const auto drop = make_impairment({{"faults", "count"}, {"faults_back", "drop 3"}}).value();
  EXPECT_THAT(check_engine(drop, "netem").error().message, HasSubstr("use engine edt or nfqueue"));
  for (const std::string engine : {"edt", "nfqueue"}) EXPECT_TRUE(check_engine(drop, engine)) << engine;
  const auto swap = make_impairment({{"faults", "drop 2, swap 3"}}).value();
  EXPECT_THAT(check_engine(swap, "edt").error().message, HasSubstr("use engine nfqueue"));
  const auto twice = make_impairment({{"faults", "none"}, {"faults_back", "duplicate 3"}}).value();
  EXPECT_THAT(check_engine(twice, "nfqueue").error().message, HasSubstr("faults_back"));
  EXPECT_THAT(check_engine(twice, "nfqueue").error().message, HasSubstr("use engine edt"));
  EXPECT_TRUE(check_engine(twice, "edt"));
}

}  // namespace
}  // namespace longhaul::degen
