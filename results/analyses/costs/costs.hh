// The cost of registering as a line, a p + b for p pages of 4 KiB, fitted from the cells of the workload
// `registration`: cost profiles that `longhaul simulate --cost FILE` takes. Pure.
#pragma once

#include <string>
#include <vector>

#include "results/statistics/line.hh"
#include "results/summary/summary.hh"

namespace longhaul::results {

/// Bytes of a page that costs are counted in.
inline constexpr double kPageSize = 4096;

/// The cells of one provider, method and kind of memory, all sizes. Times in ns.
struct FittedCosts {
  std::string name;  ///< "rxe", "rxe kernel_fast", "siw absent": what is not the default is said
  std::string provider;
  std::size_t sizes = 0;
  LineFit registering;
  LineFit deregistering;
  bool soft = false;
  bool emulated = false;
  bool virtual_clock = false;  ///< costs by one clock say nothing about the other
};

/// By name. Groups of fewer than two sizes have no line.
std::vector<FittedCosts> fit_costs(const Summary& summary, const Vocabulary& vocabulary);

/// For the terminal.
std::string to_text(const std::vector<FittedCosts>& costs);
/// A JSON array of profiles, us: what to_profile() gives for each.
std::string to_json(const std::vector<FittedCosts>& costs);
/// The profile's JSON, us, with the intervals beside. A fit below 0 is 0 there.
std::string to_profile(const FittedCosts& costs);

}  // namespace longhaul::results
