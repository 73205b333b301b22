// Workloads that run by themselves.
#include "workloads/harness/local.hh"

#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "observe/clock.hh"
#include "tests/workloads/ends.hh"

namespace longhaul::workloads {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kinds = std::vector<BenchEventKind>;

WorkloadSpec spec() {
  WorkloadSpec spec;
  spec.name = "alone";
  spec.parameters = {
      {.name = "size", .kind = Kind::size, .fallback = Value{64}, .min = 1, .max = 4096},
      {.name = "op", .kind = Kind::choice, .fallback = Value{"write"}, .needs = Capability::send_receive}};
  spec.metrics = {{.name = "figure", .unit = "1"}};
  spec.roles = {Role::local};
  return spec;
}

using Local = std::function<std::map<std::string, Metric>(LocalSession&)>;

struct Outcome {
  Attempt<NodeRecord> record;
  std::vector<BenchEvent> events;
  Kinds kinds() const {
    Kinds all;
    for (const auto& event : events) all.push_back(event.kind);
    return all;
  }
};

// One run under a supervisor; `interrupted` says whether it ended so.
Outcome run(const Local& local, const LocalOptions& options = {}, int stop = -1, bool* interrupted = nullptr) {
  int fds[2];
  EXPECT_EQ(::pipe(fds), 0);
  const OwnFd reader{fds[0]};
  Outcome outcome{failed("interrupted"), {}};
  {
    Events events{OwnFd{fds[1]}};
    try {
      outcome.record = run_local(options, spec(), {.workload = "alone", .local = local}, events, stop);
    } catch (const Interrupted&) {
      if (interrupted != nullptr) *interrupted = true;
    }
  }
  outcome.events = read_events(reader.get());
  return outcome;
}

TEST(Local, AccountsForItsWindow) {
  const auto outcome = run(
      [](LocalSession& session) {
        EXPECT_EQ(session.number("size"), 128);
        EXPECT_EQ(session.word("op"), "write");
        EXPECT_EQ(session.transport(), "");
        session.open_window();
        session.progress(0.1);  // too soon to tell
        std::this_thread::sleep_for(std::chrono::milliseconds{3});
        session.close_window();
        session.limit("the day");
        return std::map<std::string, Metric>{{"figure", to_metric(7, 1)}};
      },
      {.transport = {}, .device = {}, .bind = {}, .parameters = {{"size", 128}}});
  ASSERT_TRUE(outcome.record) << outcome.record.error().message;
  const auto& record = *outcome.record;
  EXPECT_EQ(record.workload, "alone");
  EXPECT_EQ(record.role, Role::local);
  EXPECT_EQ(record.parameters, (Parameters{{"size", 128}}));  // op means nothing without its transport
  EXPECT_EQ(record.metrics.at("figure").value, 7);
  EXPECT_FALSE(record.transport);
  EXPECT_GE(record.cpu->wall, 3'000'000);
  EXPECT_GE(record.window_stop - record.window_start, 3'000'000);
  EXPECT_THAT(record.limits, ElementsAre("the day"));
  EXPECT_EQ(outcome.kinds(), (Kinds{BenchEventKind::ready, BenchEventKind::window_start, BenchEventKind::window_stop,
                                    BenchEventKind::record}));
  EXPECT_EQ(outcome.events.back().record->metrics.at("figure").value, 7);
}

TEST(Local, TellsWhatItMeasuredWith) {
  const auto outcome = run(
      [](LocalSession& session) {
        EXPECT_EQ(session.device(), "rxe0");
        EXPECT_EQ(session.bind(), "10.0.0.1");
        session.set_transport({.transport = session.transport(), .provider = "rxe", .device = session.device()});
        return std::map<std::string, Metric>{};
      },
      {.transport = "rdma", .device = "rxe0", .bind = "10.0.0.1", .parameters = {}});
  ASSERT_TRUE(outcome.record);
  EXPECT_EQ(outcome.record->transport->provider, "rxe");
  EXPECT_EQ(outcome.record->parameters.count("op"), 1U);
}

// At most once in half a second, however long it takes beside whatever else this machine does.
TEST(Local, SaysHowFarItIsNowAndThen) {
  std::chrono::duration<double> taken{};
  const auto outcome = run([&](LocalSession& session) {
    const auto begun = observe::raw_time();
    session.open_window();
    for (int i = 0; i < 60; ++i) {
      session.progress(i / 50.0);
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    taken = observe::raw_time() - begun;
    session.close_window();
    return std::map<std::string, Metric>{};
  });
  const auto kinds = outcome.kinds();
  EXPECT_THAT(std::count(kinds.begin(), kinds.end(), BenchEventKind::progress),
              testing::AllOf(testing::Ge(1), testing::Le(taken.count() / 0.5)));
  for (const auto& event : outcome.events) {
    if (event.kind != BenchEventKind::progress) continue;
    ASSERT_TRUE(event.done);
    EXPECT_GE(*event.done, 0);
    EXPECT_LE(*event.done, 1) << "though it was told 1.18";
  }
}

TEST(Local, EndsAreToldApart) {
  const auto ended = [](const Local& local) {
    const auto outcome = run(local);
    EXPECT_FALSE(outcome.record);
    EXPECT_EQ(outcome.events.back().message, outcome.record.error().message);
    return std::tuple{outcome.record.error().status, outcome.record.error().exit_code, outcome.events.back().kind};
  };
  EXPECT_EQ(ended([](LocalSession&) -> std::map<std::string, Metric> { throw Unsupported("no windows"); }),
            (std::tuple{Status::unsupported, ExitCode::failure, BenchEventKind::unsupported}));
  EXPECT_EQ(ended([](LocalSession&) -> std::map<std::string, Metric> { throw WrongInput("no such policy"); }),
            (std::tuple{Status::failed, ExitCode::usage, BenchEventKind::failed}));
  EXPECT_EQ(ended([](LocalSession&) -> std::map<std::string, Metric> { throw std::runtime_error("broken"); }),
            (std::tuple{Status::failed, ExitCode::failure, BenchEventKind::failed}));
}

TEST(Local, RefusesWrongParametersBeforeItBegins) {
  const auto outcome =
      run([](LocalSession&) { return std::map<std::string, Metric>{}; }, {.parameters = {{"size", 1 << 20}}});
  ASSERT_FALSE(outcome.record);
  EXPECT_THAT(outcome.record.error().message, HasSubstr("size"));
  EXPECT_EQ(outcome.record.error().exit_code, ExitCode::usage);
  EXPECT_EQ(outcome.kinds(), Kinds{BenchEventKind::failed});
}

TEST(Local, CtrlCIsToldAndPassedOn) {
  const StopSwitch stop;
  bool interrupted = false;
  const auto outcome = run(
      [&](LocalSession& session) {
        EXPECT_EQ(session.stop(), stop.fd());
        session.check_stop();
        stop.press();
        session.check_stop();
        ADD_FAILURE() << "goes on";
        return std::map<std::string, Metric>{};
      },
      {}, stop.fd(), &interrupted);
  EXPECT_TRUE(interrupted);
  EXPECT_EQ(outcome.events.back().kind, BenchEventKind::failed);
  EXPECT_EQ(outcome.events.back().message, "interrupted");
}

}  // namespace
}  // namespace longhaul::workloads
