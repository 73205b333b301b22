#include "workloads/suite/simulation/run.hh"

#include <algorithm>

#include "registration/simulate/generator.hh"
#include "registration/simulate/rows.hh"
#include "workloads/suite/simulation/spec.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads::simulation {
namespace {

using namespace registration;

CostProfile profile_of(const LocalSession& session) {
  const auto& all = cost_profiles();
  return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == session.word("cost"); });
}

// A strategy that weighs costs weighs those of this run.
Strategy strategy_of(const LocalSession& session, const CostProfile& profile) {
  return parse_strategies(session.word("policy"), {profile}).value().front();
}

std::unique_ptr<Trace> trace_of(const LocalSession& session) {
  const auto name = session.word("trace");
  if (name == kGenerated) {
    const auto recipe = parse_generator(fmt::format(
        "requests={},objects={},skew={},sizes={},seed={}", session.number("requests"), session.number("objects"),
        static_cast<double>(session.number("skew")) / 1e6, session.word("sizes"), session.number("seed")));
    if (!recipe) throw WrongInput(recipe.error().message);
    return generate(*recipe);
  }
  const auto format = guess_format(name);
  if (!format)
    throw WrongInput(
        fmt::format("--trace {}: its name must tell the format: {}, and .zst behind it if it is compressed", name,
                    ".tsv, .log, .lis, .vscsi, .csv or oracleGeneral"));
  auto trace = open_trace(name, *format, {});
  if (!trace) throw WrongInput("--trace " + trace.error().message);
  return std::move(*trace);
}

std::map<std::string, Metric> metrics_of(const Sweep& swept, const Row& row) {
  std::map<std::string, Metric> metrics;
  const auto add = [&](const std::string& name, double value) { metrics[name] = to_metric(value, swept.requests); };
  add("hit_ratio", row.hit_ratio);
  add("cost_saved", row.cost_saved);
  add("cost", 1000 * row.cost_us);
  add("registrations", static_cast<double>(row.registrations));
  add("deregistrations", static_cast<double>(row.deregistrations));
  add("batches", static_cast<double>(row.batches));
  add("request_pages", static_cast<double>(swept.lengths.median()));
  for (const auto pages : kLengthSteps) add(fmt::format("share_{}", pages), swept.lengths.share_up_to(pages));
  return metrics;
}

std::map<std::string, Metric> local(LocalSession& session) {
  const auto profile = profile_of(session);
  SweepOptions options{
      .strategies = {strategy_of(session, profile)},
      .capacities = {{.pages = static_cast<std::uint64_t>(session.number("capacity")) / kPageSize}},
      .threads = 1,
      .progress =
          [&](double fraction) {
            session.progress(fraction);
            try {
              session.check_stop();
            } catch (const Interrupted&) {
              return false;  // the sweep has threads to end
            }
            return true;
          },
  };
  const auto trace = trace_of(session);
  session.open_window();
  const auto swept = sweep(*trace, options);
  session.close_window();
  if (!swept && swept.error().exit_code == ExitCode::interrupted) throw Interrupted{};
  if (!swept) throw WrongInput("--trace " + swept.error().message);
  if (swept->requests == 0)
    throw WrongInput(fmt::format("--trace {}: there is no request in it", session.word("trace")));
  return metrics_of(*swept, rows_of(*swept, options, {profile}).front());
}

}  // namespace

Runner runner() {
  return {.workload = "simulation", .plan = {}, .client = {}, .server = {}, .local = local};
}

}  // namespace longhaul::workloads::simulation
