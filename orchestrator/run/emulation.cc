#include "orchestrator/run/emulation.hh"

#include "common/median.hh"
#include "orchestrator/run/pending.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kBaselineProbes = 60;
constexpr std::int64_t kPhaseProbes = 24;  // a little more than degen learns from (kEnoughSamples)
constexpr std::int64_t kMoreProbes = 72;   // where those were off the mark
constexpr Nanoseconds kProbeInterval = std::chrono::milliseconds{2};

bool cross(const std::vector<Link>& links) {
  return links.front().path == "wan";
}

}  // namespace

Awaitable<Result<std::vector<std::int64_t>>> Emulation::probe(std::vector<Link> links, std::int64_t count) {
  // One after the other would take a round trip for each link; together they share it.
  std::vector<Pending<Result<agents::ProbeResult>>> tasks;
  const auto each = (count + static_cast<std::int64_t>(links.size()) - 1) / static_cast<std::int64_t>(links.size());
  for (const auto& link : links) {
    auto task = co_await Pending<Result<agents::ProbeResult>>::start(
        nodes_.probe(link, each, kProbeInterval, wan_.probe_timeout()));
    tasks.push_back(std::move(task));
  }
  std::vector<std::int64_t> all;
  Result<void> outcome;
  for (auto& task : tasks) {
    auto result = co_await task.wait();
    if (result)
      all.insert(all.end(), result->round_trips.begin(), result->round_trips.end());
    else if (outcome)
      outcome = tl::unexpected(result.error());
  }
  if (!outcome) co_return tl::unexpected(outcome.error());
  co_return all;
}

Awaitable<Result<degen::Report>> Emulation::degen(degen::Request request) {
  auto control = nodes_.at(router_);
  auto reply = co_await control->degen(std::move(request));
  if (!reply) co_return tl::unexpected(reply.error());
  if (!reply->ok) co_return fail("{}: degen: {}", router_, reply->error.value_or("refused without a reason"));
  co_return reply->report.value_or(degen::Report{});
}

Awaitable<Result<degen::Report>> Emulation::report(degen::RequestKind kind) {
  if (router_.empty()) co_return degen::Report{};
  degen::Request request;
  request.kind = kind;
  auto report = co_await degen(std::move(request));
  if (report) report = wan_.corrected(std::move(*report));
  co_return report;
}

Awaitable<Result<degen::Report>> Emulation::take_report() {
  return report(degen::RequestKind::measure);
}

Awaitable<Result<PathMeasurement>> Emulation::measure(std::vector<Link> links, double share) {
  auto round_trips = co_await probe(links, kPhaseProbes);
  if (!round_trips) co_return tl::unexpected(round_trips.error());
  if (cross(links)) {
    auto so_far = co_await report(degen::RequestKind::show);
    if (!so_far) co_return tl::unexpected(so_far.error());
    if (!wan_.on_target(*so_far, share)) {
      auto more = co_await probe(links, kMoreProbes);
      if (!more) co_return tl::unexpected(more.error());
      round_trips->insert(round_trips->end(), more->begin(), more->end());
    }
  }
  auto whole = co_await take_report();
  if (!whole) co_return tl::unexpected(whole.error());
  co_return PathMeasurement{.report = std::move(*whole), .round_trips = std::move(*round_trips)};
}

Awaitable<Result<void>> Emulation::measure_baseline(std::vector<Link> links) {
  auto cleared = co_await clear();
  if (!cleared) co_return cleared;
  // The first packets find cold caches and, somewhere, neighbours unresolved.
  auto warm = co_await measure(links);
  if (!warm) co_return tl::unexpected(warm.error());
  Baseline baseline;
  for (const auto& link : links) {
    std::vector<Link> one;
    one.push_back(link);
    auto round_trips = co_await probe(std::move(one), kBaselineProbes);
    if (!round_trips) co_return tl::unexpected(round_trips.error());
    if (round_trips->empty())
      co_return fail("no probe from {} ({}) came back from {} ({}); is the path up, and UDP port 7473 open?",
                     link.client, link.from.address, link.server, link.to.address);
    baseline.round_trips[key_of(link)] = upper_median(std::move(*round_trips));
  }
  auto report = co_await take_report();
  if (!report) co_return tl::unexpected(report.error());
  if (cross(links) && (report->forward.samples == 0 || report->back.samples == 0))
    co_return fail("probes came back, but {} saw none of them cross in both directions: is it really on the path?",
                   router_);
  baseline.forward = report->forward.median;
  baseline.back = report->back.median;
  wan_.take(std::move(baseline), links);
  co_return Result<void>{};
}

Awaitable<Admitted<degen::Report>> Emulation::put_in_place(std::string engine, Parameters parameters,
                                                           std::vector<Link> links) {
  const auto give_up = [this](const Error& error) {
    wan_.failed();
    return tl::unexpected(Refusal{Status::failed, error.message});
  };
  const auto asked = wan_.ask(std::move(engine), parameters, cross(links));
  if (!asked) co_return give_up(asked.error());
  for (;;) {
    if (wan_.crosses()) {
      auto applied = co_await degen(wan_.request());
      if (!applied) co_return give_up(applied.error());
    }
    auto found = co_await measure(links, Wan::kAim);
    if (!found) co_return give_up(found.error());
    const auto in_place = wan_.applied(found->report);
    if (!in_place) co_return tl::unexpected(in_place.error());
    if (*in_place) co_return std::move(found->report);
  }
}

Awaitable<Result<void>> Emulation::clear() {
  wan_.cleared();
  if (router_.empty()) co_return Result<void>{};
  degen::Request request;
  request.kind = degen::RequestKind::clear;
  auto cleared = co_await degen(std::move(request));
  if (!cleared) co_return tl::unexpected(cleared.error());
  co_return Result<void>{};
}

}  // namespace longhaul::orchestrator
