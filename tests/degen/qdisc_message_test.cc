#include "degen/engines/netem/qdisc_message.hh"

#include <gmock/gmock.h>
#include <linux/gen_stats.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstring>

#include "tests/degen/hex.hh"

namespace longhaul::degen {
namespace {

using test::hex;
using testing::HasSubstr;
using namespace std::chrono_literals;

// Little-endian machine. What the kernel makes of such messages was read back with `tc qdisc show` in the lab.
TEST(QdiscMessage, DelayAlone) {
  const auto bytes =
      netem_message(5, {.interface = "rb0", .latency = 5ms, .limit = 4295, .bursts = {}}, QdiscRequest::create);
  EXPECT_EQ(hex(bytes),
            "a8000000 24000006 00000000 00000000\n"  // length, RTM_NEWQDISC, CREATE | EXCL
            "00000000 05000000 00006ede ffffffff\n"  // interface 5, handle de6e:, parent root
            "00000000 0a000100 6e657465 6d000000\n"  // TCA_KIND "netem"
            "78000200 2d310100 c7100000 00000000\n"  // TCA_OPTIONS, 78125 ticks of 64 ns, limit 4295, loss
            "00000000 00000000 00000000 10000100\n"  // gap, duplicate, jitter; CORR
            "00000000 00000000 00000000 0c000300\n"  // REORDER
            "00000000 00000000 0c000400 00000000\n"  // CORRUPT
            "00000000 08000700 00000000 14000600\n"  // ECN, RATE
            "00000000 00000000 00000000 00000000\n"
            "0c000a00 404b4c00 00000000 0c000b00\n"  // LATENCY64 5000000, JITTER64
            "00000000 00000000 ");
}

TEST(QdiscMessage, EverythingElse) {
  const auto bytes = netem_message(7,
                                   {.interface = "rb0",
                                    .latency = 10s,
                                    .limit = 1000,
                                    .bursts = LossModel{.enter = 0x01020304, .leave = 0x05060708},
                                    .ecn = true,
                                    .duplicate = 0x11111111,
                                    .corrupt = 0x33333333,
                                    .reorder = 0x22222222,
                                    .rate = 50'000'000'000},
                                   QdiscRequest::change);
  EXPECT_EQ(hex(bytes),
            "cc000000 24000000 00000000 00000000\n"
            "00000000 07000000 00006ede ffffffff\n"
            "00000000 0a000100 6e657465 6d000000\n"
            "9c000200 902f5009 e8030000 00000000\n"  // 156250000 ticks
            "01000000 11111111 00000000 10000100\n"  // gap 1: every packet may overtake
            "00000000 00000000 00000000 0c000300\n"
            "22222222 00000000 0c000400 33333333\n"
            "00000000 08000700 01000000 18000500\n"  // ECN; LOSS { GE { p, r, h, k1 } }
            "14000200 04030201 08070605 00000000\n"
            "00000000 14000600 ffffffff 00000000\n"
            "00000000 00000000 0c000800 00743ba4\n"  // RATE64
            "0b000000 0c000a00 00e40b54 02000000\n"
            "0c000b00 00000000 00000000 ");
}

TEST(QdiscMessage, GilbertElliottByItsFourProbabilities) {
  const NetemQdisc qdisc{.interface = "rb0",
                         .limit = 10,
                         .bursts = LossModel{.enter = 1, .leave = 2, .loss_bad = 0xfffffffc, .loss_good = 4}};
  // LOSS { GE { p, r, h, k1 } }: h is what the bad state lets pass.
  EXPECT_THAT(hex(netem_message(5, qdisc, QdiscRequest::create)),
              testing::ContainsRegex("14000200[ \n]01000000[ \n]02000000[ \n]03000000[ \n]04000000"));
}

TEST(QdiscMessage, ASeedIsNamedWhereThereIsOne) {
  NetemQdisc qdisc{.interface = "rb0", .limit = 10, .bursts = {}};
  const auto without = netem_message(5, qdisc, QdiscRequest::create);
  qdisc.seed = 0x0102030405060708;
  const auto with = netem_message(5, qdisc, QdiscRequest::create);
  ASSERT_EQ(with.size(), without.size() + 12);
  EXPECT_EQ(hex({with.end() - 12, with.end()}), "0c000e00 08070605 04030201 ");  // TCA_NETEM_PRNG_SEED
}

TEST(QdiscMessage, JitterBringsItsTable) {
  const auto bytes = netem_message(5, {.interface = "x", .latency = 5ms, .jitter = 1ms, .limit = 10, .bursts = {}},
                                   QdiscRequest::create);
  // 4 bytes of header and 4096 values of 2 bytes, ascending from -1 (8190/8192) to 1.
  const std::size_t table = bytes.size() - 2 * 4096 - 4;
  EXPECT_EQ(
      hex({bytes.begin() + static_cast<std::ptrdiff_t>(table), bytes.begin() + static_cast<std::ptrdiff_t>(table) + 8}),
      "04200200 02e006e0 ");
  std::int16_t last = 0;
  std::memcpy(&last, bytes.data() + bytes.size() - 2, 2);
  EXPECT_EQ(last, 8190);
}

TEST(QdiscMessage, DeletionNamesOurHandle) {
  EXPECT_EQ(hex(delete_root_message(5)),
            "24000000 25000000 00000000 00000000\n"
            "00000000 05000000 00006ede ffffffff\n"
            "00000000 ");
}

TEST(QdiscMessage, DumpAsksForAll) {
  EXPECT_EQ(hex(dump_qdiscs_message()),
            "24000000 26000003 00000000 00000000\n"
            "00000000 00000000 00000000 00000000\n"
            "00000000 ");
}

// An answer of the kernel, built by hand.
std::vector<std::byte> answer(std::uint32_t handle, const std::string& kind, std::uint32_t drops) {
  auto bytes = delete_root_message(3);
  const auto append = [&](const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
    bytes.resize((bytes.size() + 3) / 4 * 4);
  };
  const auto attribute = [&](std::uint16_t type, std::size_t payload) {
    const std::uint16_t header[2] = {static_cast<std::uint16_t>(4 + payload), type};
    append(header, 4);
  };
  attribute(TCA_KIND, kind.size() + 1);
  append(kind.c_str(), kind.size() + 1);
  const gnet_stats_queue queue{.qlen = 4, .backlog = 0, .drops = drops, .requeues = 0, .overlimits = 0};
  attribute(TCA_STATS2, 4 + sizeof queue);
  attribute(TCA_STATS_QUEUE, sizeof queue);
  append(&queue, sizeof queue);
  auto* header = reinterpret_cast<nlmsghdr*>(bytes.data());
  header->nlmsg_type = RTM_NEWQDISC;
  header->nlmsg_len = static_cast<std::uint32_t>(bytes.size());
  reinterpret_cast<tcmsg*>(bytes.data() + sizeof(nlmsghdr))->tcm_handle = handle;
  return bytes;
}

std::optional<QdiscFacts> parse(const std::vector<std::byte>& bytes) {
  return parse_qdisc(*reinterpret_cast<const nlmsghdr*>(bytes.data()));
}

TEST(QdiscMessage, ReadsWhatTheKernelAnswers) {
  const auto facts = parse(answer(0x80010000, "fq_codel", 17));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->index, 3);
  EXPECT_TRUE(facts->root());
  EXPECT_EQ(facts->kind, "fq_codel");
  EXPECT_EQ(facts->handle, 0x80010000u);
  EXPECT_EQ(facts->drops, 17u);
  EXPECT_EQ(facts->queued, 4u);
  EXPECT_FALSE(parse(delete_root_message(3)));  // RTM_DELQDISC: no description
  auto truncated = answer(0, "pfifo", 0);
  reinterpret_cast<nlmsghdr*>(truncated.data())->nlmsg_len = sizeof(nlmsghdr) + 4;
  EXPECT_FALSE(parse(truncated));
}

TEST(ForeignQdisc, OnlyTheKernelsDefaultAndOurOwnMayBeReplaced) {
  EXPECT_EQ(judge_root(std::nullopt), RootState::vacant);
  for (const auto* kind : {"noqueue", "pfifo_fast", "fq_codel", "mq"})
    EXPECT_EQ(judge_root(parse(answer(0, kind, 0))), RootState::vacant);
  EXPECT_EQ(judge_root(parse(answer(0xDE6E0000, "netem", 0))), RootState::ours);
  EXPECT_EQ(judge_root(parse(answer(0x80010000, "fq_codel", 0))), RootState::foreign);
  EXPECT_EQ(judge_root(parse(answer(0x00010000, "netem", 0))), RootState::foreign);
}

TEST(ForeignQdisc, TheErrorNamesInterfaceKindAndHandle) {
  EXPECT_TRUE(check_root("eth0", std::nullopt));
  const auto refusal = check_root("eth0", parse(answer(0x00010000, "htb", 0)));
  ASSERT_FALSE(refusal);
  EXPECT_THAT(refusal.error().message, HasSubstr("eth0"));
  EXPECT_THAT(refusal.error().message, HasSubstr("htb 1:"));
}

}  // namespace
}  // namespace longhaul::degen
