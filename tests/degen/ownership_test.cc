#include "degen/service/ownership.hh"

#include <gmock/gmock.h>

#include "degen/engines/planner.hh"
#include "tests/degen/recording.hh"

namespace longhaul::degen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Ownership, NamesWhatAPlanWillPutIntoTheKernel) {
  const auto impairment = make_impairment({{"delay", 1'000'000}}).value();
  const auto netem = ownership_of(plan_for(impairment, "netem", test::kSides, {}).value(), "me");
  EXPECT_THAT(netem.interfaces, ElementsAre("rb0", "ra0"));
  EXPECT_FALSE(netem.table);
  const auto nfqueue = ownership_of(plan_for(impairment, "nfqueue", test::kSides, {}).value(), "me");
  EXPECT_TRUE(nfqueue.interfaces.empty());
  EXPECT_TRUE(nfqueue.table);
  const auto read = ownership_from_json(to_json(netem)).value();
  EXPECT_EQ(read.interfaces, netem.interfaces);
  EXPECT_EQ(read.holder, "me");
  EXPECT_EQ(read.pid, ::getpid());
}

TEST(RunDirectory, FilesAreReplacedWhole) {
  const test::TemporaryFolder folder;
  const auto directory = RunDirectory::open(folder.path() + "/run").value();
  EXPECT_EQ(directory.read("a.json"), "");
  directory.write("a.json", "a long first version");
  directory.write("a.json", "short");
  EXPECT_EQ(directory.read("a.json"), "short");
  directory.remove("a.json");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{directory.path()}, {}), 1);  // its lock
  EXPECT_EQ(directory.read("a.json"), "");
}

TEST(RunDirectory, BelongsToOneService) {
  const test::TemporaryFolder folder;
  {
    const auto first = RunDirectory::open(folder.path());
    ASSERT_TRUE(first);
    const auto second = RunDirectory::open(folder.path());
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
  }
  EXPECT_TRUE(RunDirectory::open(folder.path()));
}

}  // namespace
}  // namespace longhaul::degen
