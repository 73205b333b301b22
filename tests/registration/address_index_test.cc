// The index of regions by address, against a list that is searched from end to end.
#include "registration/cache/address_index.hh"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace longhaul::registration {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class AddressIndexTest : public testing::Test {
 protected:
  RegionId add(Pages pages) {
    regions_.push_back({.first = pages.first, .count = static_cast<std::uint32_t>(pages.count)});
    const auto id = static_cast<RegionId>(regions_.size() - 1);
    index_.insert(id);
    return id;
  }
  std::vector<RegionId> touching(Pages asked) const {
    std::vector<RegionId> found;
    index_.touching(asked, found);
    return found;
  }
  std::vector<Regions::Region> regions_;
  AddressIndex index_{regions_};
};

TEST_F(AddressIndexTest, FindsWhatARangeTouchesInTheOrderOfAddresses) {
  const auto across = add({60, 10});  // two blocks
  const auto at_end = add({127, 1});
  const auto long_one = add({200, 1000});
  const auto huge = add({10'000, 1'000'000});
  EXPECT_THAT(touching({0, 60}), IsEmpty());
  EXPECT_THAT(touching({0, 61}), ElementsAre(across));
  EXPECT_THAT(touching({69, 1}), ElementsAre(across));
  EXPECT_THAT(touching({70, 57}), IsEmpty());
  EXPECT_THAT(touching({64, 64}), ElementsAre(across, at_end));
  EXPECT_THAT(touching({1199, 1}), ElementsAre(long_one));
  EXPECT_THAT(touching({500'000, 1}), ElementsAre(huge));
  EXPECT_THAT(touching({1'009'999, 5}), ElementsAre(huge));
  EXPECT_THAT(touching({1'010'000, 5}), IsEmpty());
  EXPECT_THAT(touching({0, std::uint64_t{1} << 52}), ElementsAre(across, at_end, long_one, huge));
  EXPECT_THAT(touching({65, std::uint64_t{1} << 52}), ElementsAre(across, at_end, long_one, huge));
  EXPECT_THAT(touching({70, std::uint64_t{1} << 52}), ElementsAre(at_end, long_one, huge)) << "the first ends there";
  EXPECT_EQ(index_.find(127), at_end);
  EXPECT_EQ(index_.find(128), kNoRegion);
  index_.erase(huge);
  index_.erase(across);
  EXPECT_THAT(touching({0, 20'000}), ElementsAre(at_end, long_one));
  EXPECT_EQ(index_.size(), 2U);
}

TEST_F(AddressIndexTest, IsAListThatIsSearchedFromEndToEnd) {
  std::mt19937_64 random{7};
  const auto draw = [&](std::uint64_t below) { return random() % below; };
  std::vector<RegionId> there;
  for (int turn = 0; turn < 60'000; ++turn) {
    const auto span = turn % 3 == 0 ? 40'000U : 3'000U;
    // Most are small, some fill blocks, a few are kept in the tree.
    const auto kind = draw(20);
    const Pages pages{draw(span), 1 + draw(kind == 0 ? 9000 : kind < 3 ? 600 : 20)};
    std::vector<RegionId> expected;
    for (const auto id : there)
      if (regions_[id].first < pages.end() && regions_[id].first + regions_[id].count > pages.first)
        expected.push_back(id);
    std::sort(expected.begin(), expected.end(),
              [this](RegionId a, RegionId b) { return regions_[a].first < regions_[b].first; });
    ASSERT_EQ(touching(pages), expected) << turn;
    if (expected.empty()) {
      there.push_back(add(pages));
    } else if (draw(2) == 0) {
      const auto gone = expected[draw(expected.size())];
      index_.erase(gone);
      std::erase(there, gone);
      ASSERT_EQ(index_.find(regions_[gone].first), kNoRegion);
    }
    ASSERT_EQ(index_.size(), there.size());
  }
  for (const auto id : there) EXPECT_EQ(index_.find(regions_[id].first), id);
}

}  // namespace
}  // namespace longhaul::registration
