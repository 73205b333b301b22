#include "orchestrator/run/wan.hh"

#include <algorithm>

#include "orchestrator/run/record.hh"

namespace longhaul::orchestrator {

std::string key_of(const Link& link) {
  return link.from.address + " " + link.to.address;
}

std::int64_t Wan::unimpaired_round_trip(const Link& link) const {
  const auto it = baseline_.round_trips.find(key_of(link));
  return it == baseline_.round_trips.end() ? 0 : it->second;
}

Nanoseconds Wan::probe_timeout() const {
  return asked_.forward.longest() + asked_.back.longest() + std::chrono::milliseconds{300};
}

degen::Request Wan::request() const {
  degen::Request request;
  request.kind = degen::RequestKind::apply;
  request.engine = engine_;
  request.parameters = parameters_;
  return request;
}

degen::Report Wan::corrected(degen::Report report) const {
  if (report.impaired) return report;
  for (auto* way : {&report.forward, &report.back}) {
    if (way->samples == 0) continue;
    way->unimpaired = way == &report.forward ? baseline_.forward : baseline_.back;
    way->achieved = way->median - way->unimpaired;
  }
  return report;
}

bool Wan::on_target(const degen::Report& report, double share) const {
  return orchestrator::on_target(asked_, report, emulated_, Load::idle, share).has_value();
}

void Wan::reconnected() {
  in_place_ = false;
  stale_ = true;
}

void Wan::take(Baseline baseline, const std::vector<Link>& links) {
  baseline_ = std::move(baseline);
  stale_ = !std::all_of(links.begin(), links.end(),
                        [&](const Link& link) { return baseline_.round_trips.contains(key_of(link)); });
}

Result<void> Wan::ask(std::string engine, const Parameters& parameters, bool crosses) {
  auto asked = degen::make_impairment(parameters);
  if (!asked) return tl::unexpected(asked.error());
  engine_ = std::move(engine);
  asked_ = *asked;
  parameters_ = degen::to_parameters(asked_);
  crosses_ = crosses;
  in_place_ = false;
  tries_ = 0;
  return {};
}

Admitted<bool> Wan::applied(const degen::Report& measured) {
  ++tries_;
  achieved_ = orchestrator::achieved(measured);
  in_place_ = !crosses_ || on_target(measured, kAim);
  if (in_place_ || tries_ < kTries) return in_place_;
  const auto whole = orchestrator::on_target(asked_, measured, emulated_, Load::idle);
  in_place_ = whole.has_value();
  if (in_place_) return true;
  failed();
  return tl::unexpected(Refusal{Status::refused, fmt::format("before the run, {}", whole.error().message)});
}

Admitted<void> Wan::measured(const degen::Report& during, std::uint64_t probes, const degen::Report& after) {
  if (!crosses_) return {};
  achieved_ = orchestrator::achieved(after);
  if (lost(during) || lost(after)) {
    stale_ = true;
    const auto& problem = during.problem ? during.problem : after.problem;
    return refuse_run(fmt::format("the router lost its impairment during the run{}", problem ? ": " + *problem : ""));
  }
  // Fewer probes: the window is too short to be told apart from before and after.
  if (probes >= kFewestSamples)
    if (const auto busy = orchestrator::on_target(asked_, during, emulated_, Load::busy); !busy)
      return refuse_run(fmt::format("during the run, {}", busy.error().message));
  if (const auto idle = orchestrator::on_target(asked_, after, emulated_, Load::idle); !idle)
    return refuse_run(fmt::format("after the run, {}", idle.error().message));
  return {};
}

void Wan::failed() {
  in_place_ = false;
  stale_ = true;
}

void Wan::cleared() {
  in_place_ = false;
  asked_ = {};
  parameters_.clear();
}

Admitted<void> Wan::refuse_run(std::string message) {
  in_place_ = false;
  return tl::unexpected(Refusal{Status::refused, std::move(message)});
}

bool Wan::lost(const degen::Report& report) const {
  return !asked_.none() && !(report.impaired && report.parameters == parameters_);
}

}  // namespace longhaul::orchestrator
