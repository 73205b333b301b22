// The calls of a database: their shares, sizes and places.
#include "workloads/protocols/rpc/mix.hh"

#include <gmock/gmock.h>

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kMean = 128 << 10;
constexpr std::uint64_t kBegin = 1 << 20;

TEST(MixTest, HasTheSharesAndTheMeanSizeThatThePaperTells) {
  const auto longest = Mix::longest(kMean);
  EXPECT_EQ(longest, 2 * kMean - 4096);
  Mix mix{3, kBegin, 4 * longest, longest};
  constexpr int kCalls = 20000;
  int reads = 0;
  double bytes = 0;
  for (int i = 0; i < kCalls; ++i) {
    const auto call = mix.next();
    reads += call.procedure == nfs::Procedure::read ? 1 : 0;
    bytes += static_cast<double>(call.size);
    ASSERT_EQ(call.size % 4096, 0U);
    ASSERT_GT(call.size, 0U);
    ASSERT_LE(call.size, longest);
    ASSERT_GE(call.offset, kBegin);
    ASSERT_LE(call.offset + call.size, kBegin + 4 * longest) << "the thread's own part of the file";
  }
  EXPECT_NEAR(reads / double{kCalls}, 0.8, 0.01);
  EXPECT_NEAR(bytes / kCalls / kMean, 1, 0.02);
}

TEST(MixTest, ALogIsWrittenOnePieceBehindTheOther) {
  Mix mix{0, 0, 4 * Mix::longest(kMean), Mix::longest(kMean)};
  std::uint64_t end = 0;
  int pieces = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto call = mix.next();
    if (call.procedure != nfs::Procedure::write || (call.offset != end && call.offset != 0)) continue;
    end = call.offset + call.size;
    ++pieces;
  }
  EXPECT_NEAR(pieces, 500, 80) << "one call of ten";
}

TEST(MixTest, OfAThreadItIsAlwaysTheSame) {
  const auto calls = [](std::uint64_t thread) {
    Mix mix{thread, 0, 1 << 22, Mix::longest(kMean)};
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 50; ++i) all.push_back(mix.next().size);
    return all;
  };
  EXPECT_EQ(calls(1), calls(1));
  EXPECT_NE(calls(1), calls(2));
}

TEST(MixTest, OfSmallMeansThePageIsTheLeast) {
  EXPECT_EQ(Mix::longest(256), 4096U);
  Mix mix{0, 0, 4 * 4096, 4096};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(mix.next().size, 4096U);
}

}  // namespace
}  // namespace longhaul::workloads::rpc
