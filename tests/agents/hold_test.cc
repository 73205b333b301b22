// Runs that are held until they are let go.
#include "observe/clock.hh"
#include "tests/agents/support.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

using Held = AgentTest;

TEST_F(Held, WaitsForItsGoAndForNothingElse) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    auto held = script("h", "told");
    held.hold = true;
    CO_OK(co_await controller.start(held));
    const ConnectRequest where{.run_id = "h", .peer = "127.0.0.1", .peer_port = 1};
    const auto no_client = co_await controller.connect_client(where);
    EXPECT_THAT(no_client.error().message, HasSubstr("run h is held"));
    CO_OK(co_await controller.go("h"));
    CO_VALUE(told, co_await controller.next_event("h", 20s));
    EXPECT_EQ(told.bench->message, "told go");

    auto again = held;
    again.run_id = "i";
    CO_OK(co_await controller.start(again));
    const auto late = co_await controller.go("i", observe::wall_time() + 3'600'000'000'000);
    EXPECT_THAT(late.error().message, HasSubstr("at most 60 are taken"));
    CO_OK(co_await controller.go("i", 17));
    CO_VALUE(told_when, co_await controller.next_event("i", 20s));
    EXPECT_EQ(told_when.bench->message, "told go 17");

    CO_OK(co_await controller.start(script("f", "hang")));
    const auto free = co_await controller.go("f");
    EXPECT_THAT(free.error().message, HasSubstr("run f is not held"));
    const auto nobody = co_await controller.go("g");
    EXPECT_THAT(nobody.error().message, HasSubstr("run g is not there"));
  });
}

}  // namespace
}  // namespace longhaul::agents
