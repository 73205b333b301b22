// Measured properties of this machine: how late each engine is, and how long packets take through the router when
// nothing is applied. Pure, with its JSON.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

struct LatenessEntry {
  std::string engine;
  std::string way;                   ///< forward, back
  std::int64_t delay = 0;            ///< asked, ns
  std::vector<std::int64_t> recent;  ///< the last measures, ns, oldest first; negative: early
};
BOOST_DESCRIBE_STRUCT(LatenessEntry, (), (engine, way, delay, recent))

inline constexpr std::size_t kRemembered = 15;

struct Baseline {
  std::int64_t median = 0;  ///< residence, ns
  std::uint64_t samples = 0;
};
BOOST_DESCRIBE_STRUCT(Baseline, (), (median, samples))

struct Calibration {
  std::vector<LatenessEntry> lateness;
  Baseline forward;
  Baseline back;

  const Baseline& baseline(Way way) const { return way == Way::forward ? forward : back; }
  Baseline& baseline(Way way) { return way == Way::forward ? forward : back; }

  /// The estimate for this delay; if there is none, that of the nearest delay (lateness is nearly a constant of engine
  /// and machine); 0 when nothing is known.
  Nanoseconds estimate(std::string_view engine, Way way, Nanoseconds delay) const;

  /// Takes a measured lateness. The estimate lies midway between the quartiles of the last kRemembered (the midhinge):
  /// as far from the calm windows as from those beside a workload, which come one after the other and want the same
  /// delay. What is spoilt in fewer than a quarter of them does not count.
  void learn(std::string_view engine, Way way, Nanoseconds delay, Nanoseconds late);
};
BOOST_DESCRIBE_STRUCT(Calibration, (), (lateness, forward, back))

std::string to_json(const Calibration& calibration);
Result<Calibration> calibration_from_json(std::string_view text);

}  // namespace longhaul::degen
