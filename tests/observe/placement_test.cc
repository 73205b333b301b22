#include "observe/placement.hh"

#include <gmock/gmock.h>

namespace longhaul::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Placement, MasksNameProcessorsFromTheRight) {
  EXPECT_THAT(parse_cpu_mask("0"), IsEmpty());
  EXPECT_THAT(parse_cpu_mask("2"), ElementsAre(1));
  EXPECT_THAT(parse_cpu_mask("13"), ElementsAre(0, 1, 4));
  EXPECT_THAT(parse_cpu_mask("1,00000001"), ElementsAre(0, 32));
  EXPECT_THAT(parse_cpu_mask("all"), IsEmpty());
}

TEST(Placement, SoftirqsAreCountedByProcessor) {
  const std::string text =
      "                    CPU0       CPU2       \n"
      "          HI:          1          0\n"
      "      NET_TX:          4          5\n"
      "      NET_RX:     123456        789\n";
  EXPECT_THAT(parse_softirqs(text, "NET_RX"), ElementsAre(Pair(0, 123456U), Pair(2, 789U)));
  EXPECT_THAT(parse_softirqs(text, "BLOCK"), IsEmpty());
  EXPECT_THAT(parse_softirqs("nonsense", "NET_RX"), IsEmpty());
}

TEST(Placement, AnInterfaceThatIsNotThereIsNotSteered) {
  EXPECT_THAT(receive_processors("no-such-netdev"), IsEmpty());
}

}  // namespace
}  // namespace longhaul::observe
