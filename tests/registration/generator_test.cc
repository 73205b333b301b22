#include "registration/simulate/generator.hh"

#include <gmock/gmock.h>

#include <map>

#include "tests/some.hh"

namespace longhaul::registration {
namespace {

using testing::HasSubstr;

std::vector<Pages> made(std::string_view recipe) {
  const auto trace = generate(parse_generator(recipe).value());
  std::vector<Pages> all;
  std::vector<Pages> batch;
  while (trace->next(batch) && !batch.empty()) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

TEST(Generator, MakesTheSameRequestsAgain) {
  const auto first = made("requests=1000,objects=50,seed=3");
  EXPECT_EQ(first.size(), 1000U);
  EXPECT_EQ(first, made("requests=1000,objects=50,seed=3"));
  EXPECT_NE(first, made("requests=1000,objects=50,seed=4"));
}

TEST(Generator, AsksByZipfsLaw) {
  std::map<std::uint64_t, double> counts;
  for (const auto& one : made("requests=400000,objects=1000,skew=1,sizes=page")) ++counts[one.first];
  std::vector<double> sorted;
  for (const auto& [first, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_NEAR(sorted[0] / sorted[9], 10, 1);
  EXPECT_NEAR(sorted[0] / 400000, 1 / 7.485, 0.005);  // the harmonic number of 1000
}

TEST(Generator, SizesAreThePapers) {
  std::map<std::uint64_t, double> cello;
  for (const auto& one : made("requests=100000,objects=20000,skew=0,sizes=cello92")) ++cello[one.count];
  EXPECT_EQ(cello.size(), 2U);
  EXPECT_NEAR(cello[2] / 100000, 0.8, 0.02);
  std::uint64_t largest = 0;
  for (const auto& one : made("requests=10000,objects=5000,sizes=httpd")) largest = std::max(largest, one.count);
  EXPECT_EQ(largest, 32U);
}

TEST(Generator, ObjectsNeverTouch) {
  std::map<std::uint64_t, std::uint64_t> objects;
  for (const auto& one : made("requests=20000,objects=3000,sizes=uniform")) objects[one.first] = one.count;
  std::uint64_t end = 0;
  for (const auto& [first, count] : some(objects)) {
    EXPECT_TRUE(end == 0 || first > end);
    end = first + count;
  }
}

TEST(Generator, RefusesWhatMakesNoSense) {
  const auto error = [](std::string_view text) { return parse_generator(text).error().message; };
  EXPECT_THAT(error("requets=1"), HasSubstr("'requets' is none of requests, objects, skew, sizes, seed"));
  EXPECT_THAT(error("requests=0"), HasSubstr("--generate requests: expected a number from 1"));
  EXPECT_THAT(error("skew=x"), HasSubstr("expected a number from 0 to 10, got 'x'"));
  EXPECT_THAT(error("sizes=huge"), HasSubstr("expected httpd, cello92, uniform, page, got 'huge'"));
}

}  // namespace
}  // namespace longhaul::registration
