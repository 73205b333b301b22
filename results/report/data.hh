// The report's figures as JSON: what the page draws and what `longhaul report --json` prints. Pure. Heavy to include:
// .cc only.
#pragma once

#include <boost/json.hpp>

#include "results/report/analysis.hh"

namespace longhaul::results {

inline boost::json::value optional_number(const std::optional<double>& value) {
  return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

/// With `distributions`, each metric carries the quantiles that the page's distribution view draws.
boost::json::object data_of(const Analysis& analysis, bool distributions);

}  // namespace longhaul::results
