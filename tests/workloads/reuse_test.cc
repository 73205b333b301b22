#include "workloads/protocols/reuse.hh"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "tests/results/temporary.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::workloads {
namespace {

Attempt<Reuse> reuse(const std::string& how, std::int64_t size = 65536, std::int64_t buffers = 32) {
  return reuse_of(*find_workload("rendezvous"), {{"reuse", how}, {"size", size}, {"buffers", buffers}});
}

void expect_sound(const Reuse& one) {
  std::size_t longest = 0;
  for (const auto& extent : one.order) {
    ASSERT_LE(extent.offset + extent.length, one.area);
    ASSERT_GT(extent.length, 0U);
    longest = std::max(longest, extent.length);
  }
  EXPECT_EQ(longest, one.longest);
}

TEST(ReuseOf, TheSameBufferHasAnySize) {
  const auto one = reuse("same", 1);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->area, 1U);
  EXPECT_EQ(one->at(12345).offset, 0U);
  EXPECT_TRUE(one->disjoint);
}

TEST(ReuseOf, AnywhereOverlaps) {
  const auto one = reuse("anywhere");
  ASSERT_TRUE(one);
  expect_sound(*one);
  EXPECT_FALSE(one->disjoint);
  EXPECT_EQ(one->area, 32U * 65536);
}

TEST(ReuseOf, ThePapersSizesAreDisjointBuffers) {
  for (const auto* how : {"httpd", "cello92"}) {
    const auto one = reuse(how);
    ASSERT_TRUE(one);
    expect_sound(*one);
    EXPECT_TRUE(one->disjoint);
    std::set<std::size_t> segments;
    for (const auto& extent : one->order) segments.insert(extent.offset);
    EXPECT_LE(segments.size(), 32U);
    EXPECT_GT(segments.size(), 16U);
  }
  EXPECT_LE(reuse("cello92")->longest, 8192U);
}

TEST(ReuseOf, BothEndsHaveTheSame) {
  const auto one = reuse("httpd");
  const auto other = reuse("httpd");
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_EQ(one->at(i).offset, other->at(i).offset);
}

TEST(ReuseOf, ThePayloadFillsEveryBuffer) {
  const auto one = reuse_of(*find_workload("rendezvous"), {{"reuse", "httpd"}, {"buffers", 4}, {"payload", 9}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->payload, 9);
  EXPECT_EQ(reuse("httpd")->payload, 0);
  std::vector<std::byte> area(one->area);
  fill(area, *one, pingpong::Direction::ping);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto message = std::span{area}.subspan(one->at(i).offset, one->at(i).length);
    EXPECT_FALSE(pingpong::find_fault(message, pingpong::Direction::ping, 0, 9));
    EXPECT_TRUE(message.size() < 3 || pingpong::find_fault(message, pingpong::Direction::ping, 0, 0));
  }
}

TEST(ReuseOf, ATracesPagesArePacked) {
  results::TemporaryDirectory directory;
  const auto path = directory.path() / "requests.csv";
  std::ofstream{path} << "address,length\n1099511627776,8192\n4096,4096\n1099511631872,8192\n";
  const auto one = reuse(path.string());
  ASSERT_TRUE(one) << one.error().message;
  expect_sound(*one);
  ASSERT_EQ(one->order.size(), 3U);
  EXPECT_EQ(one->order[1].offset, 0U);
  EXPECT_EQ(one->order[0].offset, 8192U);  // a page between
  EXPECT_EQ(one->order[2].offset, 12288U);
  EXPECT_EQ(one->area, 5U * 4096);
  EXPECT_FALSE(one->disjoint);
}

TEST(ReuseOf, ATraceThatIsNotThereIsRefused) {
  const auto one = reuse("/nowhere/trace.csv");
  ASSERT_FALSE(one);
  EXPECT_THAT(one.error().message, testing::HasSubstr("/nowhere/trace.csv"));
  EXPECT_FALSE(reuse("htpd"));
}

}  // namespace
}  // namespace longhaul::workloads
