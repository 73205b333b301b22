// Cells made up for a test: what claims and predictions are checked on.
#pragma once

#include <gmock/gmock.h>

#include "degen/impairment/spec.hh"
#include "results/claims/check.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::results {

class MadeUpCells : public testing::Test {
 protected:
  Vocabulary vocabulary_{.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
  Summary summary_;
  bool soft_ = false;

  CellSummary& add(const std::string& workload, Parameters parameters, std::map<std::string, double> metrics,
                   const std::string& transport = "rdma") {
    CellSummary cell;
    cell.workload = workload;
    cell.transport = transport;
    if (transport == "rdma") cell.provider = "rxe";
    if (transport == "tcp") cell.rival = "rxe";
    if (!transport.empty()) parameters["transport"] = transport;
    if (!cell.provider.empty()) parameters["provider"] = cell.provider;
    if (!cell.rival.empty()) parameters["rival"] = cell.rival;
    cell.parameters = std::move(parameters);
    cell.cell_id = fmt::format("{}", summary_.cells.size());
    cell.status = Status::ok;
    cell.usable = 6;
    cell.soft = soft_;
    for (const auto& [name, value] : metrics) {
      MetricSummary metric;
      metric.name = name;
      metric.median = value;
      for (int i = -3; i <= 3; ++i)
        if (i != 0) metric.values.push_back(value * (1 + 0.005 * i));
      metric.interval = Interval{value * 0.985, value * 1.015, 0.97};
      cell.metrics.push_back(metric);
    }
    summary_.cells.push_back(std::move(cell));
    return summary_.cells.back();
  }

  std::vector<Finding> findings(const std::string& id) {
    for (const auto& one : check_claims(summary_, vocabulary_, all_claims()))
      if (one.claim->id == id) return one.findings;
    return {};
  }
  Finding finding(const std::string& id) {
    const auto all = findings(id);
    EXPECT_THAT(all, testing::SizeIs(1)) << id;
    return all.empty() ? Finding{} : all.front();
  }
};

}  // namespace longhaul::results
