#include "registration/cache/cost.hh"

namespace longhaul::registration {

const std::vector<CostProfile>& cost_profiles() {
  static const std::vector<CostProfile> profiles{
      {.name = "wu2003", .registering = {0.77, 7.42}, .deregistering = {0.22, 1.1}},
      {.name = "mietke", .registering = {0.62, 75.0}, .deregistering = {0.18, 11.1}},
  };
  return profiles;
}

}  // namespace longhaul::registration
