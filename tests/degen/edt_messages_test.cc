#include "degen/engines/edt/messages.hh"

#include <gmock/gmock.h>
#include <linux/pkt_sched.h>

#include "tests/degen/hex.hh"

namespace longhaul::degen {
namespace {

using test::hex;

// Little-endian machine. What the kernel makes of such messages was read back with `tc` in the lab.
TEST(EdtMessage, FairQueue) {
  EXPECT_EQ(hex(fq_message(5, {.limit = 4295, .horizon = 1'005'000}, QdiscRequest::create)),
            "68000000 24000006 00000000 00000000\n"  // length, RTM_NEWQDISC, CREATE | EXCL
            "00000000 05000000 00006ede ffffffff\n"  // interface 5, handle de6e:, parent root
            "00000000 07000100 66710000 3c000200\n"  // TCA_KIND "fq", TCA_OPTIONS
            "08000100 c7100000 08000200 c7100000\n"  // PLIMIT, FLOW_PLIMIT
            "08000500 00000000 08000800 0a000000\n"  // RATE_ENABLE, BUCKETS_LOG
            "08000a00 ffff0100 08000d00 00000000\n"  // ORPHAN_MASK, TIMER_SLACK
            "08000e00 c8550f00 ");                   // HORIZON
}

TEST(EdtMessage, FairQueueIsChangedInPlace) {
  const auto bytes = fq_message(5, {.limit = 1}, QdiscRequest::change);
  EXPECT_EQ(hex({bytes.begin() + 4, bytes.begin() + 8}), "24000000 ");  // no flag: none is made
}

TEST(EdtMessage, Clsact) {
  EXPECT_EQ(hex(clsact_message(5)),
            "30000000 24000006 00000000 00000000\n"
            "00000000 05000000 0000ffff f1ffffff\n"
            "00000000 0b000100 636c7361 63740000\n");
  EXPECT_EQ(hex(delete_clsact_message(5)),
            "24000000 25000000 00000000 00000000\n"
            "00000000 05000000 0000ffff f1ffffff\n"
            "00000000 ");
}

TEST(EdtMessage, Filter) {
  EXPECT_EQ(hex(filter_message(5, Hook::ingress, 9, kOwnFilter)),
            "54000000 2c000004 00000000 00000000\n"  // RTM_NEWTFILTER, CREATE
            "00000000 05000000 6ede0000 f2ffffff\n"  // handle 0xde6e, clsact's ingress
            "00036400 08000100 62706600 28000200\n"  // priority 100, ETH_P_ALL; "bpf"; TCA_OPTIONS
            "08000600 09000000 13000700 6c6f6e67\n"  // TCA_BPF_FD, TCA_BPF_NAME
            "6861756c 5f646567 656e0000 08000800\n"  // TCA_BPF_FLAGS: the program decides
            "01000000 ");
}

TEST(EdtMessage, DeletionOfAFilterNamesItsPlace) {
  EXPECT_EQ(hex(delete_filter_message(5, Hook::egress)),
            "2c000000 2d000000 00000000 00000000\n"
            "00000000 05000000 6ede0000 f3ffffff\n"
            "00036400 08000100 62706600 ");
}

// A filter as the kernel would answer with it.
std::optional<FilterFacts> facts(std::vector<std::byte> bytes) {
  reinterpret_cast<nlmsghdr*>(bytes.data())->nlmsg_type = RTM_NEWTFILTER;
  return parse_filter(*reinterpret_cast<const nlmsghdr*>(bytes.data()));
}

tcmsg& header_of(std::vector<std::byte>& bytes) {
  return *reinterpret_cast<tcmsg*>(bytes.data() + sizeof(nlmsghdr));
}

TEST(EdtMessage, OurFiltersAreKnownByPlaceHandleAndName) {
  for (const auto name : {kOwnFilter, kOwnFilterAndClsact}) {
    const auto ours = facts(filter_message(5, Hook::ingress, 9, name));
    ASSERT_TRUE(ours);
    EXPECT_EQ(ours->name, name);
    EXPECT_EQ(ours->kind, "bpf");
    EXPECT_EQ(ours->priority, kOwnPriority);
    EXPECT_TRUE(ours->ours());
    EXPECT_FALSE(ours->in_the_way());
  }
  // Another program where ours would be is in the way; beside it, it is not.
  const auto foreign = facts(filter_message(5, Hook::ingress, 9, "cilium"));
  EXPECT_FALSE(foreign->ours());
  EXPECT_TRUE(foreign->in_the_way());
  auto beside = filter_message(5, Hook::ingress, 9, "cilium");
  header_of(beside).tcm_handle = 1;
  EXPECT_FALSE(facts(beside)->ours());
  EXPECT_FALSE(facts(beside)->in_the_way());
  auto earlier = filter_message(5, Hook::ingress, 9, kOwnFilter);
  header_of(earlier).tcm_info = TC_H_MAKE(1U << 16, 0x0300U);
  EXPECT_FALSE(facts(earlier)->ours());
  EXPECT_FALSE(facts(earlier)->in_the_way());
}

TEST(EdtMessage, WhatIsNoFilterIsNone) {
  EXPECT_FALSE(parse_filter(*reinterpret_cast<const nlmsghdr*>(clsact_message(5).data())));
  auto cut = filter_message(5, Hook::egress, 9, kOwnFilter);
  reinterpret_cast<nlmsghdr*>(cut.data())->nlmsg_len = sizeof(nlmsghdr) + 4;
  EXPECT_FALSE(facts(cut));
}

TEST(EdtMessage, ClsactAndIngressHoldFilters) {
  EXPECT_TRUE(holds_filters({.index = 5, .handle = 0xffff0000, .parent = TC_H_CLSACT, .kind = "clsact"}));
  EXPECT_TRUE(holds_filters({.index = 5, .handle = 0xffff0000, .parent = TC_H_INGRESS, .kind = "ingress"}));
  EXPECT_FALSE(holds_filters({.index = 5, .handle = 0xde6e0000, .parent = TC_H_ROOT, .kind = "fq"}));
}

}  // namespace
}  // namespace longhaul::degen
