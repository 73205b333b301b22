// The report's part on a paper's figures as JSON. Pure. Heavy to include: .cc only.
#pragma once

#include <boost/json.hpp>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// Null where the campaign has cells for none of them.
boost::json::value figures_data(const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
