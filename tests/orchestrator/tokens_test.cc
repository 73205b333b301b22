#include "orchestrator/run/tokens.hh"

#include <gmock/gmock.h>

#include <set>

#include "agents/protocol/messages.hh"

namespace longhaul::orchestrator {
namespace {

// What agents take.
bool well_formed(const std::string& token) {
  agents::EchoRequest echo{.address = "10.0.0.1", .on = true, .token = token};
  return agents::request_from_json(to_json(agents::Request{.id = 1, .kind = agents::RequestKind::echo, .echo = echo}))
      .has_value();
}

TEST(Tokens, AreTakenByAgentsAndNeverTheSame) {
  Tokens drawn{std::nullopt};
  Tokens seeded{7};
  std::set<std::string> all;
  for (int i = 0; i < 100; ++i) {
    for (const auto& token : {drawn.next(), seeded.next()}) {
      EXPECT_TRUE(well_formed(token)) << token;
      all.insert(token);
    }
  }
  EXPECT_EQ(all.size(), 200U);
}

// The same bits in every copy of a sealed lab, and of every version: what runs there is compared bit by bit.
TEST(Tokens, OfASeedAreItsOwnForEver) {
  Tokens one{7};
  Tokens same{7};
  Tokens other{8};
  const auto first = one.next();
  EXPECT_EQ(first, same.next());
  EXPECT_EQ(one.next(), same.next());
  EXPECT_NE(first, other.next());
  EXPECT_EQ(first, "61d831b41bf5d8616c70de610bb58ae1");
}

}  // namespace
}  // namespace longhaul::orchestrator
