#include "orchestrator/run/order.hh"

#include <gmock/gmock.h>

#include <set>

#include "tests/orchestrator/copies.hh"
#include "tests/orchestrator/fixture.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::HasSubstr;

auto members(const Variation& variation) {
  return std::tuple{variation.seed, variation.phase, variation.padding};
}

// A campaign measured today must be the same when it is made again by a later longhaul.
TEST(Variation, IsTheSameForever) {
  EXPECT_EQ(members(vary(1, 0, 0)), (std::tuple{15536814552842731488U, 1557505, 2768}));
  EXPECT_EQ(members(vary(1, 1, 0)), (std::tuple{13451330216881561764U, 1746852, 960}));
  EXPECT_EQ(members(vary(7, 5, 2)), (std::tuple{15850070899127682038U, 146744, 3760}));
}

TEST(Variation, DiffersByRepetitionAttemptAndSeed) {
  std::set<std::uint64_t> seeds;
  std::set<std::int64_t> phases, paddings;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (int repetition = 0; repetition < 20; ++repetition)
      for (int attempt = 0; attempt < 3; ++attempt) {
        const auto variation = vary(seed, repetition, attempt);
        EXPECT_EQ(members(variation), members(vary(seed, repetition, attempt)));
        seeds.insert(variation.seed);
        phases.insert(variation.phase);
        paddings.insert(variation.padding);
      }
  EXPECT_EQ(seeds.size(), 180U);
  EXPECT_GT(phases.size(), 170U);
  EXPECT_GT(paddings.size(), 80U);
}

TEST(Variation, PhaseIsBelowATickAndPaddingMovesAStackWithinAPage) {
  std::int64_t latest = 0, longest = 0;
  for (int repetition = 0; repetition < 500; ++repetition) {
    const auto variation = vary(9, repetition, 0);
    EXPECT_GE(variation.phase, 0);
    EXPECT_LT(variation.phase, 4'000'000);
    EXPECT_GE(variation.padding, 0);
    EXPECT_LT(variation.padding, 4096);
    EXPECT_EQ(variation.padding % 16, 0);
    latest = std::max(latest, variation.phase);
    longest = std::max(longest, variation.padding);
  }
  EXPECT_GT(latest, 3'900'000) << "all of a tick is used";
  EXPECT_GT(longest, 4000) << "all of a page is used";
}

TEST(Variation, PayloadIsTheUsualOneInTheFirstRepetitionAndAnyInTheOthers) {
  std::set<std::int64_t> payloads;
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const auto payload = vary(3, repetition, repetition % 2).payload;
    EXPECT_TRUE(repetition > 0 || payload == 0) << payload;
    EXPECT_GE(payload, 0);
    payloads.insert(payload);
  }
  EXPECT_EQ(payloads.size(), 256U) << "all patterns are used, and no other";
  EXPECT_EQ(vary(3, 0, 1).payload, 0) << "nor does another attempt change it";
}

TEST(VaryPayload, SetsWhatTheWorkloadHasAndTheCampaignDoesNotName) {
  auto with = testing::ping();
  with.parameters.push_back(
      {.name = "payload", .kind = Kind::count, .help = "", .fallback = Value{0}, .max = 255, .choices = {}});
  const Parameters cell{{"size", Value{64}}};
  EXPECT_EQ(vary_payload(cell, with, 0), cell);
  EXPECT_EQ(vary_payload(cell, with, 77), (Parameters{{"size", Value{64}}, {"payload", Value{77}}}));
  const Parameters named{{"payload", Value{5}}};
  EXPECT_EQ(vary_payload(named, with, 77), named);
  EXPECT_EQ(vary_payload(cell, testing::ping(), 77), cell);
}

TEST(Order, ComesOutOfItsDocumentAsItWentIn) {
  const SealedOrder order{.campaign_text = "name: \"n\"\n# \xc3\xa9\t\\\n",
                          .clock = "virtual",
                          .cell_id = "abc",
                          .repetition = 3,
                          .attempt = 2,
                          .variation = {.seed = 0xffffffffffffffffU, .phase = 5, .padding = 16},
                          .limit = 60'000'000'000,
                          .injection = Injection{.fault = "kill", .target = "degen", .moment = "window"}};
  const auto again = order_from_json(to_json(order));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(order));
  EXPECT_EQ(again->campaign_text, order.campaign_text);
  EXPECT_EQ(again->variation.seed, order.variation.seed);
  EXPECT_EQ(again->repetition, 3);
  EXPECT_EQ(again->injection, order.injection);
  EXPECT_FALSE(order_from_json("{"));
  EXPECT_FALSE(order_from_json(R"({"cell_id":"x"})"));
}

TEST(Order, AnInjectionThatThereIsNotIsRefused) {
  SealedOrder order{.campaign_text = "", .clock = "virtual", .cell_id = "abc", .variation = {}};
  order.injection = Injection{.fault = "kill", .target = "/etc/passwd", .moment = "window"};
  const auto refused = order_from_json(to_json(order));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the order's injection: "));
  EXPECT_THAT(refused.error().message, HasSubstr("kill hits agent@client"));
}

TEST(Saying, IsBounded) {
  const auto why = [](const std::string& said) {
    const auto saying = understand_saying(said);
    return saying ? std::string{} : saying.error().message;
  };
  const auto record = say_record(testing::measured({.cell_id = "one", .variation = {}}));
  std::string many, nodes;
  for (int i = 0; i < 17; ++i) many += record;
  for (int i = 0; i < 65; ++i) nodes += say_facts(fmt::format("n{}", i), NodeFacts{});
  EXPECT_EQ(why(many.substr(record.size())), "");
  EXPECT_THAT(why(many), HasSubstr("more than 16 records of one run"));
  auto last = testing::measured({.cell_id = "one", .variation = {}});
  last.message = "during the run, client to server: asked for 1.000 ms";
  EXPECT_THAT(why(many.substr(2 * record.size()) + say_record(last) + record),
              HasSubstr("records of one run, the last: during the run, client to server"));
  EXPECT_THAT(why(nodes), HasSubstr("the facts of more than 64 nodes"));
  EXPECT_THAT(why(std::string((std::size_t{16} << 20) + 1, 'x') + "\n" + record),
              HasSubstr("a line of 16777217 bytes"));
  const auto talks = understand_saying(say_trouble(std::string(100'000, 'x')));
  ASSERT_TRUE(talks);
  EXPECT_EQ(talks->trouble.size(), 16384U);
  std::string remarks;
  for (int i = 0; i < 17; ++i) remarks += say_remark(std::string(100'000, 'x'));
  const auto remarked = understand_saying(remarks);
  ASSERT_TRUE(remarked);
  EXPECT_EQ(remarked->remarks.size(), 16U);
  EXPECT_EQ(remarked->remarks.back().size(), 16384U);
}

TEST(Saying, IsUnderstoodAsItWasSaid) {
  NodeFacts facts;
  facts.hostname = "h";
  const auto first = testing::measured({.cell_id = "one", .variation = {.seed = 1}});
  const auto second = testing::measured({.cell_id = "two", .repetition = 4, .variation = {.seed = 2}});
  const auto saying =
      understand_saying(say_facts("client", facts) + "[    0.1] a kernel's line\n\n" + say_record(first) + "records\n" +
                        say_record(second) + say_remark("without\nan engine") + say_trouble("it broke\nin two lines"));
  ASSERT_TRUE(saying) << saying.error().message;
  ASSERT_EQ(saying->facts.size(), 1U);
  EXPECT_EQ(saying->facts.at("client").hostname, "h");
  ASSERT_EQ(saying->records.size(), 2U);
  EXPECT_EQ(saying->records[0].cell_id, "one");
  EXPECT_EQ(saying->records[1].run_id, "two/4/0");
  EXPECT_EQ(samples_digest(saying->records[1]), samples_digest(second));
  EXPECT_EQ(saying->remarks, std::vector<std::string>{"without an engine"});
  EXPECT_EQ(saying->trouble, "it broke in two lines");
}

TEST(Saying, OfAnInjectedFaultHasAllAttemptsAndWhereASessionEnded) {
  const auto run = testing::measured({.cell_id = "one"});
  const auto saying =
      understand_saying(say_injected({}) + say_record(run) + say_record(run) + say_resumed() + say_record(run));
  ASSERT_TRUE(saying) << saying.error().message;
  EXPECT_EQ(saying->injected, kInjectionDone);
  EXPECT_EQ(saying->records.size(), 3U);
  EXPECT_EQ(saying->resumed, std::size_t{2});
  const auto not_done = understand_saying(say_injected(fail("no process\nof that name")));
  ASSERT_TRUE(not_done);
  EXPECT_EQ(not_done->injected, "no process of that name");
  EXPECT_FALSE(not_done->resumed);
}

TEST(Saying, ThatIsCutOffIsAnErrorThatSaysSo) {
  const auto whole = say_record(testing::measured({.cell_id = "one"}));
  const auto cut = understand_saying(whole.substr(0, whole.size() / 2));
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message, HasSubstr("the sealed lab's record: "));
  const auto facts = understand_saying("facts client {\"hostname\":\n");
  ASSERT_FALSE(facts);
  EXPECT_THAT(facts.error().message, HasSubstr("the sealed lab's facts: "));
  EXPECT_FALSE(understand_saying("facts client\n"));
  const auto without_newline = understand_saying(whole.substr(0, whole.size() - 1));
  ASSERT_TRUE(without_newline);
  EXPECT_EQ(without_newline->records.size(), 1U);
  EXPECT_TRUE(understand_saying(""));
}

std::int64_t number(const Parameters& parameters, const char* name) {
  return std::get<std::int64_t>(parameters.at(name));
}

TEST(ShortWindow, IsNeverLongerThanAskedFor) {
  const auto asked = shorten_window({{"duration", Value{20'000'000}}, {"warmup", Value{0}}}, testing::ping(),
                                    std::chrono::milliseconds{200});
  EXPECT_EQ(number(asked, "duration"), 20'000'000);
  EXPECT_EQ(number(asked, "warmup"), 0);
  // ... nor than without a word: the parameters' own values are 1 s and 100 ms.
  const auto silent = shorten_window({}, testing::ping(), std::chrono::seconds{1});
  EXPECT_EQ(number(silent, "duration"), 1'000'000'000);
  EXPECT_EQ(number(silent, "warmup"), 100'000'000);
}

TEST(ShortWindow, GrowsWithTheRoundTrip) {
  const auto near = shorten_window({}, testing::ping(), Nanoseconds{0});
  EXPECT_EQ(number(near, "duration"), 64'000'000);
  EXPECT_EQ(number(near, "warmup"), 8'000'000);
  const auto far = shorten_window({}, testing::ping(), std::chrono::milliseconds{10});
  EXPECT_EQ(number(far, "duration"), 114'000'000);
  EXPECT_EQ(number(far, "warmup"), 28'000'000);
}

TEST(ShortWindow, LeavesEverythingElseAlone) {
  const Parameters solo{{"capacity", Value{8192}}, {"policy", Value{"lru"}}};
  EXPECT_EQ(shorten_window(solo, testing::solo(), std::chrono::milliseconds{1}), solo);
  EXPECT_EQ(shorten_window({}, testing::solo(), std::chrono::milliseconds{1}), Parameters{});
  auto with = shorten_window({{"size", Value{64}}, {"min_samples", Value{500}}, {"duration", Value{900'000'000}}},
                             testing::ping(), Nanoseconds{0});
  EXPECT_EQ(number(with, "size"), 64);
  EXPECT_EQ(number(with, "min_samples"), 500);
  EXPECT_EQ(with.size(), 4U);
  // Five samples a run do, where nobody says how many: there are six runs.
  auto counted = testing::ping();
  auto& count = counted.parameters.emplace_back(counted.parameters.front());
  count.name = "min_samples";
  EXPECT_EQ(number(shorten_window({}, counted, Nanoseconds{0}), "min_samples"), 5);
  EXPECT_EQ(number(shorten_window({{"min_samples", Value{500}}}, counted, Nanoseconds{0}), "min_samples"), 500);
  // What is called a duration but is none.
  auto odd = testing::ping();
  for (auto& parameter : odd.parameters)
    if (parameter.name == "duration") parameter.kind = Kind::count;
  EXPECT_EQ(number(shorten_window({{"duration", Value{900'000'000}}}, odd, Nanoseconds{0}), "duration"), 900'000'000);
}

}  // namespace
}  // namespace longhaul::orchestrator
