// Attacks are for machines that may be attacked; and the connections that one wants.
#include <gmock/gmock.h>

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
