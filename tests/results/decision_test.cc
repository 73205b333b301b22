// Which way to take: the map over size and delay.
#include "results/analyses/decision.hh"

#include <gmock/gmock.h>

#include "tests/results/made_up.hh"

namespace longhaul::results {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::SizeIs;

constexpr double kMs = 1e6;

class Decisions : public MadeUpCells {
 protected:
  void call(Parameters more, double operation, const char* transport = "rdma") {
    more.try_emplace("size", 32768);
    more.try_emplace("procedure", std::string{"write"});
    more["delay"] = 5'000'000;
    add("rpc", std::move(more), {{"operation", operation}}, transport).forward.asked = 5'000'000;
  }
  auto all() { return decisions(summary_, vocabulary_); }
};

TEST_F(Decisions, OfCallsNameTheDesignsBesideSockets) {
  call({}, 20 * kMs);
  call({{"design", std::string{"push"}}}, 10.5 * kMs);
  call({{"design", std::string{"push"}}, {"server_buffers", std::string{"each-time"}}}, 10.51 * kMs);
  call({{"completion", std::string{"event"}}}, 20.1 * kMs);
  call({}, 10.4 * kMs, "tcp");
  ASSERT_THAT(all(), SizeIs(1));
  const auto one = all().front();
  EXPECT_EQ(one.workload, "rpc");
  EXPECT_EQ(one.provider, "rxe");
  EXPECT_EQ(one.task.at("procedure"), "write");
  EXPECT_EQ(one.task.at("threads"), "1");
  EXPECT_EQ(one.delay, 5'000'000);
  EXPECT_THAT(one.choices, ElementsAre(Field(&Choice::name, "sockets"), Field(&Choice::name, "push, preregistered"),
                                       Field(&Choice::name, "push, preregistered, server_buffers each-time"),
                                       Field(&Choice::name, "read-write, preregistered"),
                                       Field(&Choice::name, "read-write, preregistered, completion event")));
  EXPECT_TRUE(one.choices[1].as_good);
  EXPECT_FALSE(one.choices[3].as_good);
}

TEST_F(Decisions, AnotherTaskAndAnotherPathAreOtherPlaces) {
  call({}, 20 * kMs);
  call({{"design", std::string{"push"}}}, 10 * kMs);
  for (const Parameters& other :
       {Parameters{{"procedure", std::string{"read"}}}, {{"threads", 8}}, {{"size", 8192}}, {{"loss", 10000}}}) {
    call(other, 20 * kMs);
    auto pushed = other;
    pushed["design"] = std::string{"push"};
    call(pushed, 10 * kMs);
  }
  EXPECT_THAT(all(), SizeIs(5));
  call({{"threads", 16}}, 1 * kMs);
  EXPECT_THAT(all(), SizeIs(5)) << "one way is no choice";
}

}  // namespace
}  // namespace longhaul::results
