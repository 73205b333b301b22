// Results of a simulation as rows: one a strategy, capacity and cost profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "registration/simulate/sweep.hh"

namespace longhaul::registration {

struct Row {
  std::string policy;
  bool bound = false;  ///< knows the future: no policy of use, a limit
  std::uint64_t capacity_bytes = 0;
  std::string cost_profile;
  std::uint64_t requests = 0;
  double hit_ratio = 0;
  std::optional<double> hit_ratio_error = {};   ///< where it was sampled: half of a 95 % interval's width
  std::optional<double> cost_saved_error = {};  ///< likewise
  double cost_us = 0;                           ///< of registering and deregistering
  double cost_saved = 0;                        ///< share of what it costs to register and deregister for each request
  double cost_saved_unbatched = 0;  ///< the same where each region is deregistered by itself (PAPERS.md, reading 7)
  std::uint64_t registrations = 0;
  std::uint64_t deregistrations = 0;
  std::uint64_t batches = 0;  ///< calls that deregister, where a batch is one
};

/// A strategy that weighs a profile is left out under the others.
std::vector<Row> rows_of(const Sweep& result, const SweepOptions& options, const std::vector<CostProfile>& profiles);

/// Belady-size and PFOO-L at each capacity. Empty where the trace's requests overlap.
std::vector<Row> bound_rows(Sweep& result, const std::vector<Capacity>& capacities,
                            const std::vector<CostProfile>& profiles);

/// With the header trace,policy,capacity_bytes,cost_profile,requests,hit_ratio,cost_us,cost_saved,registrations,
/// deregistrations,batches,hit_ratio_error,cost_saved_error; the errors empty where nothing was sampled.
std::string csv_header();
std::string csv_of(const std::string& trace, const std::vector<Row>& rows);

}  // namespace longhaul::registration
