// The report's maps of which way to take as JSON. Pure. Heavy to include: .cc only.
#pragma once

#include <boost/json.hpp>

#include "results/summary/summary.hh"

namespace longhaul::results {

boost::json::array decisions_data(const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
