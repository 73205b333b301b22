#include "model/injection.hh"

#include <gmock/gmock.h>

#include <set>

namespace longhaul {
namespace {

using ::testing::HasSubstr;

TEST(Injection, EveryFaultOfEveryTargetAtEveryMomentOnceAndItsWordsGiveItBack) {
  std::size_t wanted = 0;
  for (const auto& fault : fault_specs()) wanted += fault.targets.size() * run_moments().size();
  const auto all = all_injections();
  EXPECT_EQ(all.size(), wanted);
  std::set<std::string> words;
  for (const auto& injection : all) {
    words.insert(to_words(injection));
    const auto again = injection_from_words(to_words(injection));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, injection);
  }
  EXPECT_EQ(words.size(), wanted);
}

TEST(Injection, WordsThatNameNothingAreRefusedWithWhatThereIs) {
  const auto refused = [](const char* words) {
    const auto injection = injection_from_words(words);
    return injection ? std::string{} : injection.error().message;
  };
  EXPECT_THAT(refused("burn degen at window"), HasSubstr("no fault 'burn'; there are kill, oom"));
  EXPECT_THAT(refused("partition degen at window"), HasSubstr("partition hits agent@client, agent@server"));
  EXPECT_THAT(refused("kill degen at noon"), HasSubstr("no moment 'noon'; it has apply, start"));
  for (const char* words : {"", "kill", "kill degen", "at window", "kill at window"})
    EXPECT_THAT(refused(words), HasSubstr("expected FAULT TARGET at MOMENT")) << words;
}

TEST(Injection, ATargetIsAProgramAndARole) {
  const auto bench = target_of({.fault = "kill", .target = "bench@server", .moment = "window"});
  EXPECT_EQ(bench.program, "bench");
  EXPECT_EQ(bench.role, "server");
  EXPECT_EQ(target_of({.fault = "kill", .target = "degen", .moment = "window"}).role, "");
}

}  // namespace
}  // namespace longhaul
