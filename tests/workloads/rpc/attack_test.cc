// Attacks are for machines that may be attacked; and the connections that one wants.
#include <gmock/gmock.h>

#include "tests/workloads/rpc/table.hh"
#include "workloads/suite/rpc_attack/late.hh"
#include "workloads/suite/rpc_attack/run.hh"
#include "workloads/suite/rpc_attack/spec.hh"

namespace longhaul::workloads::rpc_attack {
namespace {

using testing::HasSubstr;

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
  try {
    for (std::size_t call = 0; call < calls; ++call, ++over) {
      victim.start(call);
      while (!victim.done(call)) {
        hostile.advance();
        victim.progress();
      }
      EXPECT_EQ(victim.fault(call), "") << "as long as its call is not over";
    }
  } catch (const std::logic_error&) {
    // As an adapter would refuse it: the region is not there any more.
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
