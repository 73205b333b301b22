// The cost of registration, T = a p + b for p pages (MRRC paper, section 7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"

namespace longhaul::registration {

/// us a page and us a call.
struct Line {
  double per_page = 0;
  double per_call = 0;
  double of(std::uint64_t pages) const { return per_page * static_cast<double>(pages) + per_call; }
};

struct CostProfile {
  std::string name;
  Line registering;
  Line deregistering;
};

/// wu2003: FAST registration from user space (section 7; deregistration from there, too). mietke: ordinary registration
/// as paper R's table 1 implies it (PAPERS.md, M8); its deregistration keeps wu2003's proportions.
const std::vector<CostProfile>& cost_profiles();

/// Reads a profile that `longhaul-bench registration` or a user wrote: {"name": "mine", "registering": {"per_page": us,
/// "per_call": us}, "deregistering": {...}}. Refuses anything else, naming the member.
Result<CostProfile> parse_cost_profile(std::string_view json);

}  // namespace longhaul::registration
