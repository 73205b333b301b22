#include "orchestrator/run/tolerance.hh"

#include <algorithm>
#include <cmath>

#include "common/well_known.hh"

namespace longhaul::orchestrator {
namespace {

Result<void> on_target(const char* way, const degen::Direction& asked, const degen::DirectionReport& measured,
                       bool emulated, Load load, double share) {
  // Between a look before and one after the link may have changed: no time of it is that of the run.
  if (asked.schedule.changes_delay() || asked.schedule.changes_rate()) return {};
  // A full queue adds what the workload put there, and a saturated or lossy path loses probes: judged before and after.
  if (load == Load::busy && asked.rate.bits_per_second > 0) return {};
  if (measured.samples < kFewestSamples) {
    if (asked.loses() || asked.corrupt.parts > 0) return {};
    // None has come so far as to be lost: what should have sent it is gone, or what is between.
    if (measured.samples == 0 && measured.lost == 0)
      return fail("{}: no probe reached the router: is its sender up, and is UDP port {} open to it?", way, kProbePort);
    return fail("{}: only {} probes crossed the router, {} were lost in it", way, measured.samples, measured.lost);
  }
  const auto allowed = tolerance(asked, measured.samples, emulated);
  const auto off = measured.achieved - asked.delay.count();
  if (static_cast<double>(std::abs(off)) <= share * static_cast<double>(allowed.count())) return {};
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  return fail("{}: asked for {:.3f} ms, achieved {:.3f} ms, {:.3f} ms are tolerated", way, ms(asked.delay.count()),
              ms(measured.achieved), ms(allowed.count()));
}

}  // namespace

Nanoseconds tolerance(Nanoseconds asked, bool emulated) {
  return emulated ? std::max(asked / 20, Nanoseconds{200'000}) : std::max(asked / 100, Nanoseconds{50'000});
}

Nanoseconds tolerance(const degen::Direction& asked, std::uint64_t samples, bool emulated) {
  const auto scatter = 3 * 1.2533 * static_cast<double>(asked.jitter.count()) /
                       std::sqrt(static_cast<double>(std::max<std::uint64_t>(samples, 1)));
  return tolerance(asked.delay, emulated) + Nanoseconds{static_cast<std::int64_t>(scatter)};
}

Result<void> on_target(const degen::Impairment& asked, const degen::Report& measured, bool emulated, Load load,
                       double share) {
  auto one = on_target("client to server", asked.forward, measured.forward, emulated, load, share);
  return one ? on_target("server to client", asked.back, measured.back, emulated, load, share) : one;
}

}  // namespace longhaul::orchestrator
