// The report's part on transfers as JSON: predictions and savings. Pure. Heavy to include: .cc only.
#pragma once

#include <boost/json.hpp>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// Null where the campaign has no transfers over RDMA.
boost::json::value transfers_data(const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
