// Verdicts for the report page. Heavy to include: .cc only.
#pragma once

#include <boost/json.hpp>

#include "results/claims/check.hh"

namespace longhaul::results {

boost::json::array claims_data(const std::vector<Checked>& checked);

}  // namespace longhaul::results
