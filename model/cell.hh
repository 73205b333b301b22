// A cell: one point of a campaign's matrix, and its identity.
#pragma once

#include <string>
#include <vector>

#include "model/parameter.hh"

namespace longhaul {

/// Axes that every cell has, whatever the workload: transport, provider, rival, path, engine, clock. The impairment's
/// axes are degen's (degen/impairment/spec.hh), the workload's its own spec's.
const std::vector<ParameterSpec>& common_axes();

/// The one common axis that is a fact of the testbed: no campaign names it, whoever runs the campaign sets it.
inline constexpr const char* kClockAxis = "clock";
inline constexpr const char* kHostClock = "host";
inline constexpr const char* kVirtualClock = "virtual";

/// The word of the axis `engine` that leaves the choice to degen (degen/engines/choice.hh).
inline constexpr const char* kAutoEngine = "auto";

/// One point of the matrix. `parameters` holds every axis by name: common, impairment and workload together; names are
/// unique among them. An axis at its default is left out (make_cell does it), so that a new axis changes no identity.
struct Cell {
  std::string workload;
  Parameters parameters;
  bool operator==(const Cell&) const = default;
};

/// Leaves out what is at its default. `specs` are all axes that the cell may have.
Cell make_cell(std::string workload, const Parameters& parameters, const std::vector<ParameterSpec>& specs);

/// "latency;delay=5000000;provider=rxe;size=64;transport=rdma": sorted, integers in base units.
std::string canonical(const Cell& cell);

/// 16 hex digits: the first 64 bits of the SHA-256 of canonical(). Resume and compare live on it.
std::string cell_id(const Cell& cell);

}  // namespace longhaul
