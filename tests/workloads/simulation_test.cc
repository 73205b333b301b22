// The simulation says what the simulator says.
#include "workloads/suite/simulation/run.hh"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "registration/simulate/generator.hh"
#include "registration/simulate/rows.hh"
#include "tests/workloads/ends.hh"

namespace longhaul::workloads {
namespace {

using testing::HasSubstr;

Attempt<NodeRecord> simulate(Parameters parameters, int stop = -1) {
  Events events;
  parameters.try_emplace("requests", 20'000);
  parameters.try_emplace("objects", 500);
  return run_local({.transport = {}, .device = {}, .bind = {}, .parameters = std::move(parameters)},
                   *find_workload("simulation"), *find_runner("simulation"), events, stop);
}

std::string why(Parameters parameters) {
  const auto record = simulate(std::move(parameters));
  EXPECT_FALSE(record);
  if (record) return {};
  EXPECT_EQ(record.error().status, Status::failed);
  EXPECT_EQ(record.error().exit_code, ExitCode::usage);
  return record.error().message;
}

TEST(SimulationSpec, RunsAloneWithoutATransport) {
  const auto& spec = *find_workload("simulation");
  EXPECT_TRUE(is_local(spec));
  EXPECT_TRUE(spec.transports.empty());
  EXPECT_EQ(spec.metrics.front().name, "hit_ratio");
  EXPECT_NE(find_parameter(spec.parameters, spec.plot_axis), nullptr);
  const auto parse = [&](const char* name, const char* text) {
    return parse_value(*find_parameter(spec.parameters, name), text);
  };
  EXPECT_EQ(parse("skew", "90%"), Value{900'000});
  EXPECT_TRUE(parse("policy", "mrrc:frequent=0.6:eviction=0.2"));
  EXPECT_FALSE(parse("policy", "lru,mrrc"));
  EXPECT_THAT(parse("policy", "lur").error().message, HasSubstr("did you mean 'lru'?"));
  EXPECT_THAT(parse("policy", "all").error().message, HasSubstr("a run takes one"));
  EXPECT_TRUE(parse("trace", "/data/msr/usr_0.csv.zst"));
  EXPECT_FALSE(parse("trace", "$(reboot)"));
}

TEST(SimulationSpec, LastsByItsRequests) {
  const auto& spec = *find_workload("simulation");
  EXPECT_EQ(spec.lasts({}), std::chrono::seconds{1});
  EXPECT_EQ(spec.lasts({{"requests", 10'000'000}}), std::chrono::seconds{50});
  EXPECT_EQ(spec.lasts({{"trace", "/data/usr_0.csv"}, {"requests", 1}}), std::chrono::seconds{100});
}

// Cell identity hangs on them: no value of it may ever change.
TEST(SimulationSpec, DefaultsNeverChange) {
  EXPECT_EQ(complete(*find_workload("simulation"), {}).value(), (Parameters{{"policy", "lru"},
                                                                            {"capacity", 8 << 20},
                                                                            {"cost", "wu2003"},
                                                                            {"trace", "generated"},
                                                                            {"sizes", "httpd"},
                                                                            {"objects", 8192},
                                                                            {"requests", 200'000},
                                                                            {"skew", 900'000},
                                                                            {"seed", 1}}));
}

// rate weighs costs: it comes once for each profile, and the run's is taken.
TEST(Simulation, IsTheSweepOfTheSameRecipe) {
  namespace reg = registration;
  const auto trace = reg::generate(reg::parse_generator("requests=20000,objects=500,skew=0.9,sizes=cello92").value());
  const reg::SweepOptions options{.strategies = reg::parse_strategies("mrrc,rate", reg::cost_profiles()).value(),
                                  .capacities = {{.pages = 256}}};
  const auto swept = reg::sweep(*trace, options).value();
  const auto rows = reg::rows_of(swept, options, reg::cost_profiles());
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& row : rows) {
    const auto record =
        simulate({{"policy", row.policy}, {"cost", row.cost_profile}, {"capacity", 1 << 20}, {"sizes", "cello92"}});
    ASSERT_TRUE(record) << record.error().message;
    const auto value = [&](const char* name) { return record->metrics.at(name).value; };
    EXPECT_EQ(value("hit_ratio"), row.hit_ratio) << row.policy;
    EXPECT_EQ(value("cost_saved"), row.cost_saved) << row.policy << row.cost_profile;
    EXPECT_DOUBLE_EQ(value("cost"), 1000 * row.cost_us);
    EXPECT_EQ(value("registrations"), static_cast<double>(row.registrations));
    EXPECT_EQ(value("batches"), static_cast<double>(row.batches));
    EXPECT_EQ(record->metrics.at("hit_ratio").samples, 20'000U);
    EXPECT_FALSE(record->transport);
    EXPECT_GT(record->window_stop, record->window_start);
  }
}

TEST(Simulation, SharesSayHowLongRequestsAre) {
  const auto record = simulate({{"sizes", "cello92"}, {"skew", 0}});
  ASSERT_TRUE(record);
  EXPECT_NEAR(record->metrics.at("share_1").value, 0.2, 0.05);  // 80 % have two pages
  EXPECT_EQ(record->metrics.at("share_2").value, 1);
  EXPECT_EQ(record->metrics.at("request_pages").value, 2);
}

TEST(Simulation, TheSeedMakesOtherRequests) {
  const auto hits = [](std::int64_t seed) {
    return simulate({{"seed", seed}, {"capacity", 1 << 20}})->metrics.at("hit_ratio").value;
  };
  EXPECT_EQ(hits(1), hits(1));
  EXPECT_NE(hits(1), hits(2));
}

TEST(Simulation, ReadsATrace) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("longhaul-{}.lis", ::getpid());
  std::ofstream{path} << "0 8 0 0\n0 8 0 1\n8 8 0 2\n";
  const auto record = simulate({{"trace", path.string()}});
  std::filesystem::remove(path);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_DOUBLE_EQ(record->metrics.at("hit_ratio").value, 1.0 / 3);
}

TEST(Simulation, RefusesWhatThereIsNot) {
  EXPECT_THAT(why({{"policy", "lur"}}), HasSubstr("policy: there is no policy 'lur'; did you mean 'lru'?"));
  EXPECT_THAT(why({{"policy", "mrrc:frequent=7"}}), HasSubstr("frequent is a number from 0 to 1"));
  EXPECT_THAT(why({{"policy", "all"}}), HasSubstr("a run takes one"));
  EXPECT_THAT(why({{"trace", "nowhere.lis"}}), HasSubstr("nowhere.lis: No such file"));
  EXPECT_THAT(why({{"trace", "x.foo"}}), HasSubstr("its name must tell the format"));
  EXPECT_THAT(why({{"capacity", 100}}), HasSubstr("capacity"));
}

TEST(Simulation, CtrlCEndsIt) {
  const StopSwitch stop;
  stop.press();
  EXPECT_THROW(simulate({{"requests", 1'000'000}}, stop.fd()), Interrupted);
}

}  // namespace
}  // namespace longhaul::workloads
