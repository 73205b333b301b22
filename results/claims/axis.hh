// What the values of a claim's axis are: a claim knows its name only.
#pragma once

#include "results/claims/claim.hh"

namespace longhaul::results {

Kind axis_kind(const Claim& claim);

}  // namespace longhaul::results
