#include "orchestrator/run/wan.hh"

#include <algorithm>

namespace longhaul::orchestrator {
namespace {

constexpr int kTries = 5;
constexpr double kAim = 0.5;  // of the tolerance, so that the run's own measurement has room
constexpr std::int64_t kBaselineProbes = 60;
constexpr std::int64_t kPhaseProbes = 24;  // a little more than degen learns from (kEnoughSamples)
constexpr std::int64_t kMoreProbes = 72;   // where those were off the mark
constexpr Nanoseconds kProbeInterval = std::chrono::milliseconds{2};

std::string key_of(const Link& link) {
  return link.from.address + " " + link.to.address;
}

}  // namespace

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Nanoseconds Wan::probe_timeout() const {
  return asked_.forward.longest() + asked_.back.longest() + std::chrono::milliseconds{300};
}

Awaitable<Result<std::vector<std::int64_t>>> Wan::probe(std::vector<Link> links, std::int64_t count) {
  // One after the other would take a round trip for each link; together they share it.
  std::vector<Pending<Result<agents::ProbeResult>>> tasks;
  std::vector<std::shared_ptr<NodeControl>> clients;
  const auto each = (count + static_cast<std::int64_t>(links.size()) - 1) / static_cast<std::int64_t>(links.size());
  for (const auto& link : links) {
    clients.push_back(nodes_.at(link.client));
    auto task = co_await Pending<Result<agents::ProbeResult>>::start(
        clients.back()->probe(link.from.address, link.to.address, each, kProbeInterval, probe_timeout()));
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

Awaitable<Result<degen::Report>> Wan::degen(degen::Request request) {
  auto control = nodes_.at(router_);
  auto reply = co_await control->degen(std::move(request));
  if (!reply) co_return tl::unexpected(reply.error());
  if (!reply->ok) co_return fail("{}: degen: {}", router_, reply->error.value_or("refused without a reason"));
  co_return reply->report.value_or(degen::Report{});
}

// While nothing is applied degen has nothing to subtract from; the start of the campaign has.
void Wan::correct(degen::Report& report) const {
  if (report.impaired) return;
  for (auto* way : {&report.forward, &report.back}) {
    if (way->samples == 0) continue;
    way->unimpaired = way == &report.forward ? baseline_.forward : baseline_.back;
    way->achieved = way->median - way->unimpaired;
  }
}

Awaitable<Result<degen::Report>> Wan::report(degen::RequestKind kind) {
  if (router_.empty()) co_return degen::Report{};
  degen::Request request;
  request.kind = kind;
  auto report = co_await degen(std::move(request));
  if (report) correct(*report);
  co_return report;
}

Awaitable<Result<degen::Report>> Wan::take_report() {
  return report(degen::RequestKind::measure);
}

Awaitable<Result<PathMeasurement>> Wan::measure(std::vector<Link> links, double share) {
  auto round_trips = co_await probe(links, kPhaseProbes);
  if (!round_trips) co_return tl::unexpected(round_trips.error());
  if (!router_.empty() && links.front().path == "wan") {
    auto so_far = co_await report(degen::RequestKind::show);
    if (!so_far) co_return tl::unexpected(so_far.error());
    if (!off_target(asked_, *so_far, emulated_, Load::idle, share).empty()) {
      auto more = co_await probe(links, kMoreProbes);
      if (!more) co_return tl::unexpected(more.error());
      round_trips->insert(round_trips->end(), more->begin(), more->end());
    }
  }
  auto whole = co_await take_report();
  if (!whole) co_return tl::unexpected(whole.error());
  co_return PathMeasurement{.report = std::move(*whole), .round_trips = std::move(*round_trips)};
}

Awaitable<Result<void>> Wan::baseline(std::vector<Link> links) {
  auto cleared = co_await clear();
  if (!cleared) co_return cleared;
  // The first packets find cold caches and, somewhere, neighbours unresolved.
  auto warm = co_await measure(links);
  if (!warm) co_return tl::unexpected(warm.error());
  for (const auto& link : links) {
    std::vector<Link> one;
    one.push_back(link);
    auto round_trips = co_await probe(std::move(one), kBaselineProbes);
    if (!round_trips) co_return tl::unexpected(round_trips.error());
    if (round_trips->empty())
      co_return fail("no probe from {} ({}) came back from {} ({}); is the path up, and UDP port 7473 open?",
                     link.client, link.from.address, link.server, link.to.address);
    baseline_.round_trips[key_of(link)] = median(std::move(*round_trips));
  }
  auto report = co_await take_report();
  if (!report) co_return tl::unexpected(report.error());
  if (!router_.empty() && links.front().path == "wan" && (report->forward.samples == 0 || report->back.samples == 0))
    co_return fail("probes came back, but {} saw none of them cross in both directions: is it really on the path?",
                   router_);
  baseline_.forward = report->forward.median;
  baseline_.back = report->back.median;
  co_return Result<void>{};
}

bool Wan::knows(const std::vector<Link>& links) const {
  return std::all_of(links.begin(), links.end(),
                     [&](const Link& link) { return baseline_.round_trips.contains(key_of(link)); });
}

Awaitable<Result<Impaired>> Wan::impair(std::string engine, Parameters parameters, std::vector<Link> links) {
  auto asked = degen::make_impairment(parameters);
  if (!asked) co_return tl::unexpected(asked.error());
  asked_ = *asked;
  parameters_ = degen::to_parameters(*asked);
  Impaired result;
  const bool wan = !router_.empty() && links.front().path == "wan";
  for (result.tries = 1;; ++result.tries) {
    if (wan) {
      degen::Request request;
      request.kind = degen::RequestKind::apply;
      request.engine = engine;
      request.parameters = parameters_;
      auto applied = co_await degen(std::move(request));
      if (!applied) co_return tl::unexpected(applied.error());
    }
    auto measured = co_await measure(links, kAim);
    if (!measured) co_return tl::unexpected(measured.error());
    result.measured = std::move(*measured);
    if (!wan || off_target(asked_, result.measured.report, emulated_, Load::idle, kAim).empty()) break;
    result.off_target = off_target(asked_, result.measured.report, emulated_, Load::idle);
    if (result.tries >= kTries) co_return result;
  }
  result.off_target.clear();
  co_return result;
}

Awaitable<Result<void>> Wan::clear() {
  asked_ = {};
  parameters_.clear();
  if (router_.empty()) co_return Result<void>{};
  degen::Request request;
  request.kind = degen::RequestKind::clear;
  auto cleared = co_await degen(std::move(request));
  if (!cleared) co_return tl::unexpected(cleared.error());
  co_return Result<void>{};
}

std::string Wan::lost(const degen::Report& report) const {
  if (router_.empty() || asked_.none()) return {};
  if (report.impaired && report.parameters == parameters_) return {};
  return "the router lost its impairment during the run";
}

std::int64_t Wan::unimpaired_round_trip(const Link& link) const {
  const auto it = baseline_.round_trips.find(key_of(link));
  return it == baseline_.round_trips.end() ? 0 : it->second;
}

}  // namespace longhaul::orchestrator
