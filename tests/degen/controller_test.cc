#include "degen/service/controller.hh"

#include <gmock/gmock.h>

#include "tests/degen/recording.hh"

namespace longhaul::degen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

Request apply_request(const Parameters& parameters, std::string engine = "netem") {
  return {.kind = RequestKind::apply, .engine = std::move(engine), .parameters = parameters, .force = {}, .client = {}};
}
Request plain_request(RequestKind kind) {
  return {.kind = kind, .engine = {}, .parameters = {}, .force = {}, .client = {}};
}

class ControllerTest : public testing::Test {
 protected:
  ControllerTest() { restart(); }

  // As a new process in the same run directory.
  void restart() {
    controller.reset();
    std::vector<std::unique_ptr<Engine>> engines;
    engines.push_back(std::make_unique<test::RecordingEngine>("netem", netem));
    engines.push_back(std::make_unique<test::RecordingEngine>("nfqueue", nfqueue));
    controller = std::make_unique<ImpairmentController>([] { return test::kSides; }, std::move(engines), directory,
                                                        [this] { return ++drawn; });
    controller->connected(1, "pid 11");
    controller->connected(2, "pid 22");
  }

  Reply ask(ClientId client, const Request& request) { return controller->handle(client, request, now()); }
  Now now() const { return {.steady = time, .real = 1000s + time}; }
  bool owned() const { return !directory.read(kOwnershipFile).empty(); }

  // `count` probes each way, which take this long through the router.
  void probe(int count, Nanoseconds forward, Nanoseconds back) {
    for (int i = 0; i < count; ++i) {
      ++sequence;
      const auto at = 1000s + time;
      controller->see({.way = Way::forward, .leaving = false, .session = 1, .sequence = sequence, .time = at});
      controller->see({.way = Way::forward, .leaving = true, .session = 1, .sequence = sequence, .time = at + forward});
      controller->see({.way = Way::back,
                       .leaving = false,
                       .session = 1,
                       .sequence = sequence,
                       .direction = 1,
                       .time = at + forward});
      controller->see({.way = Way::back,
                       .leaving = true,
                       .session = 1,
                       .sequence = sequence,
                       .direction = 1,
                       .time = at + forward + back});
      time += 1ms;
    }
  }

  const test::TemporaryFolder folder;
  const RunDirectory directory = RunDirectory::open(folder.path()).value();
  test::Log netem;
  test::Log nfqueue;
  std::unique_ptr<ImpairmentController> controller;
  Nanoseconds time = 100s;
  std::uint32_t sequence = 0;
  std::uint32_t drawn = 100;  // the last seed
};

TEST_F(ControllerTest, AppliesAndClears) {
  auto reply = ask(1, apply_request({{"delay", 5'000'000}, {"delay_back", 1'000'000}}));
  ASSERT_TRUE(reply.ok) << reply.error.value_or("");
  EXPECT_TRUE(reply.held);
  EXPECT_TRUE(reply.report->impaired);
  EXPECT_EQ(reply.report->engine, "netem");
  EXPECT_EQ(reply.report->holder, "pid 11");
  EXPECT_EQ(reply.report->forward.asked, 5'000'000);
  EXPECT_EQ(reply.report->forward.programmed, 5'000'000);
  EXPECT_EQ(reply.report->back.asked, 1'000'000);
  EXPECT_GT(reply.report->forward.queue_limit, 0u);
  reply = ask(1, plain_request(RequestKind::clear));
  EXPECT_TRUE(reply.ok);
  EXPECT_FALSE(reply.held);
  EXPECT_FALSE(reply.report->impaired);
  EXPECT_THAT(netem.events, ElementsAre("netem apply", "netem clear"));
}

TEST_F(ControllerTest, TheOwnershipFileIsThereBeforeTheKernelIsTouchedAndGoesAfter) {
  bool there = false;
  netem.on_apply = [&] { there = owned(); };
  ask(1, apply_request({{"delay", 5'000'000}}));
  EXPECT_TRUE(there);
  EXPECT_TRUE(owned());
  ask(1, plain_request(RequestKind::clear));
  EXPECT_FALSE(owned());
}

TEST_F(ControllerTest, AStartClearsWhatTheFileNames) {
  directory.write(kOwnershipFile,
                  R"({"version":1,"pid":1,"engine":"netem","holder":"x","interfaces":["old7"],"table":false})");
  netem.left = {"netem qdisc on old7"};
  EXPECT_THAT(controller->sweep({}), ElementsAre("netem qdisc on old7"));
  EXPECT_THAT(netem.swept, ElementsAre("ra0", "rb0", "old7"));
  EXPECT_EQ(nfqueue.swept, netem.swept);
  EXPECT_FALSE(owned());
}

TEST_F(ControllerTest, AnUnreadableOwnershipFileStillClearsTheConfiguredInterfaces) {
  directory.write(kOwnershipFile, "{torn");
  controller->sweep({});
  EXPECT_THAT(netem.swept, ElementsAre("ra0", "rb0"));
}

TEST_F(ControllerTest, AStartLeavesInterfacesThatAnotherDegenHasByNow) {
  directory.write(kOwnershipFile,
                  R"({"version":1,"pid":1,"engine":"netem","holder":"x","interfaces":["old7","rb0"],"table":false})");
  controller->sweep([](const std::string&) { return false; });
  EXPECT_THAT(netem.swept, ElementsAre("ra0", "rb0"));
}

TEST_F(ControllerTest, WhatIsGoneFromTheKernelEndsTheImpairmentWithinHalfASecond) {
  ask(1, apply_request({{"loss", 1'000}}));
  EXPECT_EQ(controller->deadline(), time + kLook);
  netem.missing = "rb0: degen's qdisc is gone";
  time += kLook - 1ms;
  controller->tick(now());
  EXPECT_TRUE(controller->report().impaired);
  time += 1ms;
  controller->tick(now());
  const auto report = controller->report();
  EXPECT_FALSE(report.impaired);
  EXPECT_EQ(report.problem, "rb0: degen's qdisc is gone");
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_FALSE(owned());
  EXPECT_FALSE(ask(1, plain_request(RequestKind::heartbeat)).held);

  netem.missing.reset();
  EXPECT_EQ(ask(1, apply_request({{"loss", 1'000}})).report->problem, std::nullopt);
}

TEST_F(ControllerTest, WhoeverMeasuresIsToldAtOnceThatSomethingIsGone) {
  ask(1, apply_request({{"rate", 1'000'000}}));
  netem.missing = "rb0: the interface is gone";
  const auto reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_FALSE(reply.report->impaired);
  EXPECT_EQ(reply.report->problem, "rb0: the interface is gone");
}

TEST_F(ControllerTest, WhatCannotBeRemovedIsTriedAgainAndNothingIsAppliedMeanwhile) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  netem.resists = true;
  auto reply = ask(1, plain_request(RequestKind::clear));
  EXPECT_TRUE(reply.report->impaired);
  EXPECT_EQ(reply.report->holder, "");
  EXPECT_TRUE(owned());
  EXPECT_FALSE(controller->clean());
  reply = ask(2, apply_request({{"delay", 1'000'000}}));
  EXPECT_THAT(*reply.error, HasSubstr("could not be removed"));
  EXPECT_EQ(netem.plans.size(), 1u);

  time += kLook;
  controller->tick(now());
  EXPECT_TRUE(controller->report().impaired);
  netem.resists = false;
  time += kLook;
  controller->tick(now());
  EXPECT_FALSE(controller->report().impaired);
  EXPECT_FALSE(owned());
  EXPECT_EQ(controller->deadline(), std::nullopt);
  EXPECT_TRUE(ask(2, apply_request({{"delay", 1'000'000}})).ok);
}

TEST_F(ControllerTest, WhatAStartCannotRemoveIsTriedAgain) {
  directory.write(kOwnershipFile, "{torn");
  netem.resists = true;
  controller->sweep({});
  EXPECT_TRUE(owned());
  netem.resists = false;
  time += kLook;
  controller->tick(now());
  EXPECT_FALSE(owned());
  EXPECT_TRUE(controller->clean());
}

TEST_F(ControllerTest, TheSecondClientIsToldWhoHoldsIt) {
  auto first = apply_request({{"delay", 5'000'000}});
  first.client = "agent of router";
  ask(1, first);
  for (const auto& request : {apply_request({{"delay", 1'000'000}}), plain_request(RequestKind::measure)}) {
    const auto reply = ask(2, request);
    EXPECT_FALSE(reply.ok);
    EXPECT_FALSE(reply.held);
    EXPECT_THAT(*reply.error, testing::AllOf(HasSubstr("agent of router (pid 11)"), HasSubstr("delay 5ms")));
  }
  EXPECT_EQ(netem.plans.size(), 1u);
  // It may look, its clear does nothing, its departure does nothing.
  EXPECT_EQ(ask(2, plain_request(RequestKind::show)).report->holder, "agent of router (pid 11)");
  EXPECT_TRUE(ask(2, plain_request(RequestKind::clear)).ok);
  controller->disconnected(2);
  EXPECT_TRUE(ask(1, plain_request(RequestKind::heartbeat)).held);
}

TEST_F(ControllerTest, ShowsWhatItsEnginesLackSinceItWasTried) {
  nfqueue.lacks = {{Need::real_time, "Operation not permitted"}};
  EXPECT_THAT(ask(1, plain_request(RequestKind::show)).report->lacks, IsEmpty());
  EXPECT_EQ(controller->find_lacks().size(), 1u);
  const auto shown = reply_from_json(to_json(ask(1, plain_request(RequestKind::show))));
  ASSERT_TRUE(shown);
  ASSERT_EQ(shown->report->lacks.size(), 1u);
  EXPECT_EQ(shown->report->lacks[0].need, Need::real_time);
  EXPECT_EQ(shown->report->lacks[0].why, "Operation not permitted");
  EXPECT_THAT(ask(1, plain_request(RequestKind::measure)).report->lacks, IsEmpty())
      << "no run's report is longer for it";
}

TEST_F(ControllerTest, ClearWithForceTakesItAway) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  auto request = plain_request(RequestKind::clear);
  request.force = true;
  EXPECT_TRUE(ask(2, request).ok);
  EXPECT_FALSE(ask(1, plain_request(RequestKind::heartbeat)).held);
  EXPECT_EQ(netem.events.back(), "netem clear");
}

TEST_F(ControllerTest, ClearsWhenTheClientGoes) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  controller->disconnected(1);
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_FALSE(owned());
  EXPECT_TRUE(ask(2, apply_request({{"delay", 1'000'000}})).ok);
}

TEST_F(ControllerTest, ClearsWhenTheHeartbeatStops) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  time += 4s;
  ask(1, plain_request(RequestKind::heartbeat));
  time += 4s;
  controller->tick(now());
  EXPECT_TRUE(controller->report().impaired);
  time += 1s;
  controller->tick(now());
  EXPECT_FALSE(controller->report().impaired);
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_FALSE(ask(1, plain_request(RequestKind::heartbeat)).held);
  EXPECT_EQ(controller->deadline(), std::nullopt);
}

TEST_F(ControllerTest, RenewsTheEnginesLeaseWhileItIsHeld) {
  netem.renewal = 500ms;
  ask(1, apply_request({{"delay", 5'000'000}}));
  EXPECT_THAT(netem.events, ElementsAre("netem apply", "netem renew"));
  EXPECT_EQ(controller->deadline(), time + 500ms);
  time += 499ms;
  controller->tick(now());
  EXPECT_EQ(netem.events.size(), 2u);
  time += 1ms;
  controller->tick(now());
  EXPECT_THAT(netem.events, ElementsAre("netem apply", "netem renew", "netem renew"));
  EXPECT_EQ(controller->deadline(), time + 500ms);
  // Not of a holder that is silent: it is cleared instead, however late the tick.
  time += 6s;
  controller->tick(now());
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_EQ(controller->deadline(), std::nullopt);
}

TEST_F(ControllerTest, AnEngineThatNeedsNoRenewalIsNotAskedAgain) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  EXPECT_EQ(controller->deadline(), time + kLook);  // not before it looks after its objects
  netem.on_renew = [] { ADD_FAILURE() << "renewed"; };
  time += 4s;
  controller->tick(now());
}

TEST_F(ControllerTest, ALeaseThatCannotBeRenewedIsCleared) {
  netem.renewal = 500ms;
  ask(1, apply_request({{"delay", 5'000'000}}));
  netem.on_renew = [] { throw std::runtime_error("the map is gone"); };
  time += 500ms;
  controller->tick(now());
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_FALSE(controller->report().impaired);
  EXPECT_EQ(controller->report().problem, "the map is gone") << "so that the run is refused";
  EXPECT_FALSE(owned());
}

TEST_F(ControllerTest, AnotherClientsRequestsDoNotRenewTheLease) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  time += 5s;
  EXPECT_TRUE(ask(2, apply_request({{"delay", 1'000'000}})).ok);
  EXPECT_TRUE(ask(2, plain_request(RequestKind::heartbeat)).held);
}

TEST_F(ControllerTest, ABadRequestLeavesWhatIsApplied) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  for (const auto& request : {apply_request({{"delay", -5}}), apply_request({{"size", 64}}),
                              apply_request({{"delay", 5}}, "netsim"), apply_request({{"duplicate", 5}}, "nfqueue")}) {
    const auto reply = ask(1, request);
    EXPECT_FALSE(reply.ok);
    EXPECT_TRUE(reply.held);
  }
  EXPECT_THAT(netem.events, ElementsAre("netem apply"));
  EXPECT_EQ(controller->report().forward.asked, 5'000'000);
}

TEST_F(ControllerTest, ARefusalOfTheEngineTouchesNothing) {
  netem.refuse = "rb0: foreign qdisc htb 1:";
  const auto reply = ask(1, apply_request({{"delay", 5'000'000}}));
  EXPECT_THAT(*reply.error, HasSubstr("htb 1:"));
  EXPECT_THAT(netem.events, IsEmpty());
  EXPECT_FALSE(owned());
}

TEST_F(ControllerTest, AFailureOfTheEngineLeavesNothing) {
  netem.fail = "no memory";
  EXPECT_EQ(*ask(1, apply_request({{"delay", 5'000'000}})).error, "no memory");
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_FALSE(owned());
  EXPECT_FALSE(controller->report().impaired);
}

TEST_F(ControllerTest, AnExceptionOfTheEngineLeavesNothing) {
  netem.on_apply = [] { throw std::runtime_error("netlink is gone"); };
  EXPECT_THAT(*ask(1, apply_request({{"delay", 5'000'000}})).error, HasSubstr("netlink is gone"));
  EXPECT_EQ(netem.events.back(), "netem clear");
  EXPECT_FALSE(owned());
}

TEST_F(ControllerTest, AnotherEngineComesAfterTheFirstHasGone) {
  std::vector<std::string> order;
  ask(1, apply_request({{"delay", 5'000'000}}));
  nfqueue.on_apply = [&] { order = netem.events; };
  ask(1, apply_request({{"delay", 5'000'000}}, "nfqueue"));
  EXPECT_THAT(order, ElementsAre("netem apply", "netem clear"));
  EXPECT_EQ(controller->report().engine, "nfqueue");
}

TEST_F(ControllerTest, WhatIsRandomFollowsFromASeedThatTheReportNames) {
  auto request = apply_request({{"delay", 5'000'000}, {"loss", 1000}});
  EXPECT_EQ(ask(1, request).report->seed, 101u);  // drawn
  EXPECT_FALSE(netem.plans.back().seed.asked);
  request.seed = 7;
  EXPECT_EQ(ask(1, request).report->seed, 7u);
  EXPECT_EQ(netem.plans.back().seed, (Seed{.value = 7, .asked = true}));
  EXPECT_EQ(ask(2, plain_request(RequestKind::show)).report->seed, 7u);
  // Nothing is random, or the kernel draws it otherwise.
  EXPECT_FALSE(ask(1, apply_request({{"delay", 5'000'000}})).report->seed);
  netem.draws_by_seed = false;
  EXPECT_FALSE(ask(1, apply_request({{"loss", 1000}})).report->seed);
}

// This test's service has no engine edt, as a router without BPF has none.
TEST_F(ControllerTest, AutoTakesTheFirstEngineThatThisRouterHasAndSaysWhy) {
  const auto reply = ask(1, apply_request({{"delay", 5'000'000}}, "auto"));
  ASSERT_TRUE(reply.ok) << reply.error.value_or("");
  EXPECT_EQ(reply.report->engine, "netem");
  EXPECT_EQ(reply.report->chosen, "not edt: engine edt is not available in this service");
  EXPECT_THAT(netem.events, ElementsAre("netem apply"));
  // Who names an engine is told of no choice.
  EXPECT_FALSE(ask(1, apply_request({{"delay", 5'000'000}})).report->chosen);
}

TEST_F(ControllerTest, AutoGoesOnWhereTheKernelRefuses) {
  netem.fail = "rb0: this kernel has no netem";
  const auto reply = ask(1, apply_request({{"delay", 5'000'000}}, "auto"));
  ASSERT_TRUE(reply.ok) << reply.error.value_or("");
  EXPECT_EQ(reply.report->engine, "nfqueue");
  EXPECT_THAT(reply.report->chosen.value(), HasSubstr("not netem: rb0: this kernel has no netem"));
  EXPECT_THAT(nfqueue.events, ElementsAre("nfqueue apply"));
  EXPECT_EQ(ask(1, plain_request(RequestKind::show)).report->chosen, reply.report->chosen);
  EXPECT_FALSE(ask(1, plain_request(RequestKind::clear)).report->chosen);
}

TEST_F(ControllerTest, AutoIsRefusedWithTheReasonOfEachEngine) {
  netem.refuse = "rb0: a qdisc htb";
  nfqueue.fail = "nft: no such file";
  const auto reply = ask(1, apply_request({{"delay", 5'000'000}}, "auto"));
  EXPECT_FALSE(reply.ok);
  EXPECT_THAT(reply.error.value(),
              testing::AllOf(HasSubstr("not netem: rb0: a qdisc htb"), HasSubstr("not nfqueue: nft: no such file")));
  EXPECT_FALSE(owned());
}

TEST_F(ControllerTest, ADelayOfNothingHoldsTheRouterAndTouchesNothing) {
  const auto reply = ask(1, apply_request({}));
  EXPECT_TRUE(reply.ok && reply.held);
  EXPECT_FALSE(reply.report->impaired);
  EXPECT_THAT(netem.events, IsEmpty());
  EXPECT_FALSE(ask(2, apply_request({})).ok);
}

TEST_F(ControllerTest, TheLoopCloses) {
  // The router takes 30 and 20 us; the engine is 250 and 150 us late.
  probe(30, 30us, 20us);
  auto reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_EQ(reply.report->forward.median, 30'000);
  EXPECT_EQ(reply.report->forward.samples, 30u);

  ask(1, apply_request({{"delay", 5'000'000}}));
  probe(30, 5ms + 280us, 5ms + 170us);
  reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_EQ(reply.report->forward.unimpaired, 30'000);
  EXPECT_EQ(reply.report->forward.achieved, 5'250'000);
  EXPECT_EQ(reply.report->forward.programmed, 5'000'000);
  EXPECT_EQ(reply.report->forward.lateness, 250'000);

  reply = ask(1, apply_request({{"delay", 5'000'000}}));
  EXPECT_EQ(reply.report->forward.programmed, 4'750'000);
  EXPECT_EQ(reply.report->back.programmed, 4'850'000);
  probe(30, 5ms + 30us, 5ms + 20us);
  reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_EQ(reply.report->forward.achieved, 5'000'000);
  EXPECT_EQ(reply.report->back.achieved, 5'000'000);
  EXPECT_EQ(reply.report->forward.lateness, 250'000);

  // Known after a restart too.
  restart();
  EXPECT_EQ(ask(1, apply_request({{"delay", 5'000'000}})).report->forward.programmed, 4'750'000);
}

TEST_F(ControllerTest, FewSamplesTeachNothing) {
  probe(30, 30us, 20us);
  ask(1, apply_request({{"delay", 5'000'000}}));
  probe(static_cast<int>(kEnoughSamples) - 1, 6ms, 6ms);
  EXPECT_EQ(ask(1, plain_request(RequestKind::measure)).report->forward.samples, kEnoughSamples - 1);
  EXPECT_EQ(ask(1, apply_request({{"delay", 5'000'000}})).report->forward.programmed, 5'000'000);
}

TEST_F(ControllerTest, JitterAndRateTeachNothing) {
  probe(30, 30us, 20us);
  for (const auto& parameters : {Parameters{{"delay", 5'000'000}, {"jitter", 1'000'000}},
                                 Parameters{{"delay", 5'000'000}, {"rate", 1'000'000}}}) {
    ask(1, apply_request(parameters));
    probe(30, 7ms, 7ms);
    ask(1, plain_request(RequestKind::measure));
    EXPECT_EQ(ask(1, apply_request(parameters)).report->forward.programmed, 5'000'000);
  }
}

TEST_F(ControllerTest, AHeldRouterWithoutImpairmentIsNoBaseline) {
  probe(30, 30us, 20us);
  ask(1, apply_request({}));  // learns: the window before ended
  probe(30, 900us, 900us);    // a workload runs
  auto reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_EQ(reply.report->forward.unimpaired, 30'000);
  EXPECT_EQ(reply.report->forward.achieved, 870'000);
  ask(1, plain_request(RequestKind::clear));
  EXPECT_EQ(controller->report().forward.unimpaired, 30'000);
}

TEST_F(ControllerTest, MeasureBeginsAWindowShowDoesNot) {
  ask(1, apply_request({{"delay", 5'000'000}}));
  netem.counters = {.dropped = 7, .overflowed = 2};
  probe(10, 5ms, 5ms);
  EXPECT_EQ(ask(2, plain_request(RequestKind::show)).report->forward.samples, 10u);
  auto reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_EQ(reply.report->forward.samples, 10u);
  EXPECT_EQ(reply.report->forward.dropped, 7u);
  EXPECT_EQ(reply.report->forward.overflowed, 2u);
  netem.counters.dropped = 8;
  reply = ask(1, plain_request(RequestKind::measure));
  EXPECT_EQ(reply.report->forward.samples, 0u);
  EXPECT_EQ(reply.report->forward.dropped, 1u);
}

TEST_F(ControllerTest, ProbesThatDoNotLeaveAreLost) {
  ask(1, apply_request({{"delay", 100'000'000}}));
  controller->see({.way = Way::forward, .leaving = false, .session = 1, .sequence = 1, .time = 1000s + time});
  time += 200ms;
  EXPECT_EQ(ask(1, plain_request(RequestKind::measure)).report->forward.lost, 0u);
  time += 1s;
  EXPECT_EQ(ask(1, plain_request(RequestKind::measure)).report->forward.lost, 1u);
}

TEST_F(ControllerTest, ProbesOfTheOldImpairmentDoNotCountForTheNew) {
  ask(1, apply_request({{"delay", 100'000'000}}));
  controller->see({.way = Way::forward, .leaving = false, .session = 1, .sequence = 1, .time = 1000s + time});
  ask(1, apply_request({{"delay", 5'000'000}}));
  controller->see({.way = Way::forward, .leaving = true, .session = 1, .sequence = 1, .time = 1000s + time + 100ms});
  EXPECT_EQ(controller->report().forward.samples, 0u);
}

}  // namespace
}  // namespace longhaul::degen
