// The workload `transfer`: what is made of the moments of both ends, and the baseline over real sockets.
#include <gmock/gmock.h>

#include "tests/some.hh"
#include "tests/workloads/ends.hh"
#include "workloads/harness/runner.hh"
#include "workloads/suite/transfer/moments.hh"
#include "workloads/suite/transfer/spec.hh"

namespace longhaul::workloads::transfer {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

double value(const std::map<std::string, Metric>& metrics, const char* name) {
  return metrics.at(name).value;
}

observe::RawTime at(std::int64_t ns) {
  return observe::from_ns(ns);
}

frrwp::Moments client_of_write() {
  return {.started = at(1000),
          .told = at(1010),
          .registering = at(1020),
          .registered = at(1120),
          .key_came = at(1500),
          .posted = at(1510),
          .released = at(1900)};
}
frrwp::Moments server_of_write(std::int64_t ahead) {
  return {.started = at(1200 + ahead),
          .registering = at(1210 + ahead),
          .registered = at(1310 + ahead),
          .key_sent = at(1320 + ahead),
          .arrived = at(1800 + ahead),
          .released = at(1850 + ahead)};
}

TEST(MomentLogTest, IntervalsOnOneClock) {
  MomentLog log{true, {}};
  log.add(client_of_write(), server_of_write(0));
  const auto metrics = log.metrics();
  EXPECT_EQ(value(metrics, "transfer"), 800);
  EXPECT_EQ(value(metrics, "critical_path"), 510);
  EXPECT_EQ(value(metrics, "client_registration"), 100);
  EXPECT_EQ(value(metrics, "server_registration"), 100);
  EXPECT_EQ(value(metrics, "start_trip"), 190);
  EXPECT_EQ(value(metrics, "key_trip"), 180);
  EXPECT_EQ(value(metrics, "submission"), 10);
  EXPECT_EQ(value(metrics, "key_exposed"), 530);
  EXPECT_EQ(value(metrics, "at_key_sent"), 320);
  EXPECT_FALSE(log.left_out());
}

TEST(MomentLogTest, TheOtherClockIsTakenIntoAccount) {
  MomentLog log{true, {.offset = Nanoseconds{1'000'000}, .error = Nanoseconds{20}}};
  log.add(client_of_write(), server_of_write(1'000'000));
  EXPECT_EQ(value(log.metrics(), "start_trip"), 190);
  EXPECT_EQ(value(log.metrics(), "transfer"), 800);
  EXPECT_FALSE(log.left_out());
}

TEST(MomentLogTest, WhatTheClocksCannotTellIsLeftOut) {
  MomentLog log{true, {.offset = {}, .error = Nanoseconds{300}}};
  log.add(client_of_write(), server_of_write(0));
  const auto metrics = log.metrics();
  EXPECT_THAT(metrics, Not(Contains(Key("start_trip"))));
  EXPECT_THAT(metrics, Contains(Key("critical_path"))) << "on one clock, for a write";
  EXPECT_THAT(metrics, Contains(Key("transfer"))) << "longer than the error";
  EXPECT_TRUE(log.left_out());
}

TEST(MomentLogTest, OfAReadTheSourceIsTheServer) {
  MomentLog log{false, {}};
  log.add({.started = at(100),
           .told = at(110),
           .registering = at(120),
           .registered = at(150),
           .key_sent = at(160),
           .arrived = at(900),
           .released = at(950)},
          {.started = at(200),
           .registering = at(210),
           .registered = at(260),
           .key_came = at(300),
           .posted = at(310),
           .released = at(980)});
  const auto metrics = log.metrics();
  EXPECT_EQ(value(metrics, "critical_path"), 210);
  EXPECT_EQ(value(metrics, "transfer"), 800);
  EXPECT_EQ(value(metrics, "key_trip"), 140);
  EXPECT_EQ(value(metrics, "submission"), 10);
}

TEST(MomentLogTest, NeighboursTellWhatIsSaved) {
  MomentLog log{true, {}};
  auto typical = client_of_write();
  for (const std::int64_t more : {100, 300, -50}) {
    typical.posted = client_of_write().posted + Nanoseconds{more};
    log.add_typical(typical, server_of_write(0));
    log.add(client_of_write(), server_of_write(0));
  }
  EXPECT_EQ(value(log.metrics(), "saved"), 100);
  EXPECT_EQ(log.metrics().at("saved").samples, 3U);
  EXPECT_EQ(log.metrics().at("critical_path").samples, 3U) << "those of the typical process are not in it";
  log.reset();
  log.add(client_of_write(), server_of_write(0));
  EXPECT_THAT(log.metrics(), Not(Contains(Key("saved"))));
}

TEST(MomentLogTest, EveryMetricIsDeclared) {
  MomentLog log{true, {}};
  log.add(client_of_write(), server_of_write(0));
  const auto declared = spec().metrics;
  for (const auto& [name, metric] : some(log.metrics()))
    EXPECT_TRUE(std::any_of(declared.begin(), declared.end(), [&](const auto& one) { return one.name == name; }))
        << name;
}

TEST(TransferSpecTest, TripsArePredicted) {
  const auto predict = spec().predict;
  const Parameters delays{{"delay", 5'000'000}, {"delay_back", 3'000'000}};
  const auto with = [&](Parameters more) {
    more.insert(delays.begin(), delays.end());
    return predict(more).value_or(0);
  };
  EXPECT_EQ(with({}), 13e6) << "START, KEY, data";
  EXPECT_EQ(with({{"protocol", "advertised"}}), 5e6);
  EXPECT_EQ(with({{"transport", "tcp"}}), 5e6);
  EXPECT_EQ(with({{"direction", "read"}}), 8e6);
  EXPECT_FALSE(predict({}));
}

TEST(TransferTest, SocketsTransferInBothDirections) {
  for (const std::string direction : {"write", "read"}) {
    for (const std::string completion : {"poll", "event"}) {
      ServerThread server;
      Events events;
      const auto result = run_client(
          towards(server.port(), quick({{"size", 100'000}, {"direction", direction}, {"completion", completion}})),
          *find_workload("transfer"), *find_runner("transfer"), events, -1);
      ASSERT_TRUE(result) << direction << ": " << result.error().message;
      const auto& metrics = result->client.metrics;
      EXPECT_GT(metrics.at("transfer").value, 0);
      EXPECT_THAT(metrics, Not(Contains(Key("critical_path")))) << "nothing has to be got ready";
      EXPECT_GE(metrics.at("transfer").samples, 10U);
    }
  }
}

}  // namespace
}  // namespace longhaul::workloads::transfer
