// The model of a server's page cache and disks.
#include "workloads/protocols/rpc/disks.hh"

#include <gmock/gmock.h>

namespace longhaul::workloads::rpc {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A page takes 32.768 us of a disk, a stripe of 16 pages 524.288 us.
constexpr BitRate kRate{1'000'000'000};
constexpr Nanoseconds kPageTime{32'768};
constexpr auto kStripe = ModelledDisks::kStripe;
constexpr auto kPage = ModelledDisks::kPage;

DiskSetup setup(std::uint64_t cache_pages, std::size_t disks = 2) {
  return {.cache = cache_pages * kPage, .disks = disks, .seek = milliseconds{8}, .rate = kRate};
}

TEST(ModelledDisksTest, AMissTakesSeekAndTransferAHitNothing) {
  ModelledDisks disks{setup(1000)};
  const Nanoseconds now{milliseconds{5}};
  EXPECT_EQ(disks.read(now, 40 * kPage, 2 * kPage), now + milliseconds{8} + 2 * kPageTime);
  const auto later = now + milliseconds{20};
  EXPECT_EQ(disks.read(later, 40 * kPage, 2 * kPage), later);
  EXPECT_EQ(disks.counters().pages, 4U);
  EXPECT_EQ(disks.counters().cached, 2U);
  EXPECT_EQ(disks.counters().requests, 2U);
  EXPECT_EQ(disks.counters().waited, milliseconds{8} + 2 * kPageTime);
  disks.reset();
  EXPECT_EQ(disks.counters().requests, 0U);
}

TEST(ModelledDisksTest, WhatLiesBehindTheLastNeedsNoSeek) {
  ModelledDisks disks{setup(1000, 1)};
  const auto first = disks.read({}, 0, kPage);
  EXPECT_EQ(first, kPageTime) << "the head is at the beginning";
  EXPECT_EQ(disks.read(first, kPage, 3 * kPage), first + 3 * kPageTime);
  EXPECT_EQ(disks.read(first, 100 * kPage, kPage), first + 4 * kPageTime + milliseconds{8}) << "after the others";
}

TEST(ModelledDisksTest, DisksWorkSideBySide) {
  ModelledDisks one{setup(1000, 1)};
  ModelledDisks four{setup(1000, 4)};
  EXPECT_EQ(one.read({}, 0, 4 * kStripe), 64 * kPageTime);
  EXPECT_EQ(four.read({}, 0, 4 * kStripe), 16 * kPageTime);
  // The next stripes lie behind those on each disk.
  EXPECT_EQ(four.read(16 * kPageTime, 4 * kStripe, 4 * kStripe), 32 * kPageTime);
}

TEST(ModelledDisksTest, TheLeastRecentlyUsedPagesGo) {
  ModelledDisks disks{setup(8)};
  Nanoseconds now{};
  const auto hits = [&](std::uint64_t page, std::uint64_t count = 1) {
    const auto before = disks.counters().cached;
    now = disks.read(now, page * kPage, count * kPage);
    return disks.counters().cached - before;
  };
  EXPECT_EQ(hits(0, 8), 0U);
  EXPECT_EQ(hits(0, 8), 8U) << "all fit";
  EXPECT_EQ(hits(0), 1U);
  EXPECT_EQ(hits(20), 0U);
  EXPECT_EQ(hits(0), 1U);
  EXPECT_EQ(hits(1), 0U) << "it made room for page 20";
  // Row after row of more than there is room for: nothing is there when its turn comes again.
  std::uint64_t found = 0;
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t page = 100; page < 109; ++page) found += hits(page);
  EXPECT_EQ(found, 0U);
}

TEST(ModelledDisksTest, APageThatIsOnItsWayIsWaitedFor) {
  ModelledDisks disks{setup(1000)};
  const auto there = disks.read({}, 50 * kPage, kPage);
  EXPECT_EQ(disks.read(milliseconds{1}, 50 * kPage, kPage), there);
  EXPECT_EQ(disks.counters().cached, 1U) << "the disk reads it once";
}

TEST(ModelledDisksTest, AWriteIsOnTheDisksWhenItIsAnswered) {
  ModelledDisks disks{setup(1000)};
  EXPECT_EQ(disks.write({}, 40 * kPage, 2 * kPage), milliseconds{8} + 2 * kPageTime);
  EXPECT_EQ(disks.read(milliseconds{1}, 40 * kPage, 2 * kPage), milliseconds{1}) << "its pages are in the cache";
}

TEST(ModelledDisksTest, WithoutACacheEveryRequestGoesToTheDisks) {
  ModelledDisks disks{setup(0)};
  const auto first = disks.read({}, 40 * kPage, kPage);
  EXPECT_EQ(disks.read(first, 40 * kPage, kPage), first + milliseconds{8} + kPageTime);
}

}  // namespace
}  // namespace longhaul::workloads::rpc
