// Attacks are for machines that may be attacked; and the connections that one wants.
#include <gmock/gmock.h>

#include "tests/workloads/rpc/table.hh"
#include "workloads/suite/rpc_attack/late.hh"
#include "workloads/suite/rpc_attack/run.hh"
#include "workloads/suite/rpc_attack/spec.hh"
#include "workloads/suite/rpc_attack/suspect.hh"

namespace longhaul::workloads::rpc_attack {
namespace {

using testing::HasSubstr;
namespace nfs = rpc::nfs;

Attempt<ConnectionPlan> planned(Role role, const Parameters& parameters = {}) {
  return runner().plan(spec(), parameters, "rdma", role);
}

TEST(RpcAttackTest, OnlyAServerThatMayBeAttackedTakesPart) {
  const auto refused = planned(Role::server);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, Status::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("a server that was started with --under-test"));
  allow();
  EXPECT_TRUE(planned(Role::server));
}

TEST(RpcAttackTest, EachGuessHasAConnectionOfItsOwn) {
  allow();
  const auto connections = [](const char* attack) {
    return planned(Role::server, {{"attack", std::string{attack}}, {"tries", 100}})->connections;
  };
  EXPECT_EQ(connections("none"), 1U);
  EXPECT_EQ(connections("withhold"), 2U);
  EXPECT_EQ(connections("guess"), 101U);
  EXPECT_EQ(connections("late-write"), 2U);
  EXPECT_EQ(connections("flood"), 101U);
  EXPECT_EQ(connections("mislead"), 101U);
  EXPECT_EQ(connections("stall"), 2U);
}

// Buffers of a client that were changed after their calls.
std::size_t changed_late(std::size_t deferred, std::size_t calls) {
  rpc::Options options{.size = 8192, .threads = calls};
  options.client_buffers = {.strategy = "each-time", .deferred = deferred};
  const auto client_plan = *rpc::plan_of(options, Role::client, false);
  const auto server_plan = *rpc::plan_of(options, Role::server, false);
  FakeConnection client_end{total_memory(client_plan), client_plan.memory};
  FakeConnection server_end{total_memory(server_plan), server_plan.memory};
  client_end.join(server_end);
  rpc::post_receives(client_end, client_plan);
  rpc::post_receives(server_end, server_plan);
  rpc::MemoryStore store{options.file_size(), 1, 1};
  rpc::ServerThreads threads{.all = 1};
  rpc::RdmaClient victim{client_end, options};
  LateWriter hostile{server_end, options, store, threads};
  std::size_t over = 0;
  // It ends where the double refuses a write, as an adapter would: the region is not there any more.
  for (; over < calls; ++over) {
    victim.start(over);
    for (int step = 0; step < 100 && !victim.done(over); ++step) {
      hostile.advance();
      victim.progress();
    }
    if (!victim.done(over)) break;
    EXPECT_EQ(victim.fault(over), "") << "as long as its call is not over";
  }
  std::size_t changed = 0;
  for (std::size_t call = 0; call < over; ++call) changed += victim.fault(call).empty() ? 0 : 1;
  return changed;
}

TEST(RpcAttackTest, ALateWriteGetsAtRegionsThatLieAndAtNoOther) {
  EXPECT_EQ(changed_late(0, 20), 0U) << "deregistered before the call is over";
  for (const std::size_t deferred : {1, 4, 9}) EXPECT_EQ(changed_late(deferred, 20), deferred);
  EXPECT_EQ(changed_late(40, 20), 19U) << "of each call but the last";
}

// A hostile client's connection ends, and what the server had for it is there for others again.
TEST(RpcAttackTest, WhatEndsAConnectionEndsNothingElse) {
  for (const auto misdeed : {rpc::Misdeed::floods, rpc::Misdeed::misleads}) {
    rpc::ServerThreads threads{.all = 2};
    const rpc::Options calls{
        .procedure = nfs::Procedure::write, .size = 8192, .threads = 4, .credits = 3, .server_threads = 2};
    rpc::Table honest{calls, &threads};
    ASSERT_TRUE(honest.play());
    for (int i = 0; i < 5; ++i) {
      auto options = calls;
      options.misdeed = misdeed;
      rpc::Table hostile{options, &threads};
      Suspect suspect{hostile.server_end, options, hostile.store, threads};
      const auto flood = misdeed == rpc::Misdeed::floods ? options.threads : 1;
      for (std::size_t thread = 0; thread < flood; ++thread) hostile.client->start(thread);
      for (int step = 0; step < 20; ++step) suspect.advance();
      EXPECT_EQ(suspect.server(), nullptr);
      EXPECT_NE(suspect.ended(), "");
      EXPECT_EQ(threads.waiting, 0U);
      EXPECT_TRUE(honest.play()) << "the server's threads serve it";
    }
  }
}

TEST(RpcAttackTest, AClientThatStallsGetsAsManyRepliesAsItHadRoomFor) {
  rpc::ServerThreads threads{.all = 2};
  rpc::Options options{.size = 8192, .credits = 2};
  rpc::Table honest{options, &threads};
  options.misdeed = rpc::Misdeed::stalls;
  rpc::Table hostile{options, &threads};
  std::size_t replies = 0;
  try {
    while (replies < 100 && hostile.play()) ++replies;
  } catch (const std::exception&) {  // the double has no patience where an adapter waits for a receive
  }
  EXPECT_EQ(replies, rpc::Layout(options, Role::client, false).in_slots);
  EXPECT_TRUE(honest.play());
}

TEST(RpcAttackTest, TheServerSharesItsDomainAndGrantsWhatTheDesignUses) {
  allow();
  const auto plan = [](const char* design, const char* domain) {
    return *planned(Role::server, {{"design", std::string{design}}, {"domain", std::string{domain}}});
  };
  EXPECT_TRUE(plan("read-read", "shared").shared_domain);
  EXPECT_FALSE(plan("read-read", "own").shared_domain);
  EXPECT_FALSE(planned(Role::client)->shared_domain) << "the attacker's own domain is its business";
  EXPECT_EQ(plan("read-read", "shared").rights, Rights::read);
  EXPECT_EQ(plan("read-write", "shared").rights, Rights::none);
}

}  // namespace
}  // namespace longhaul::workloads::rpc_attack
