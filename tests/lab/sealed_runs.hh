// A campaign by the virtual clock, whose runs several tests judge.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "results/store/store.hh"
#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {

/// Makes such a campaign of this text, and gives its runs. Fails the test, and gives none, where it does not exit with
/// 0.
inline std::vector<RunRecord> sealed_runs(const std::string& campaign) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "campaign.yaml";
  write_file(file, campaign);
  const auto out = directory.path() / "out";
  const auto run = longhaul({"run", file, "--lab", "--clock", "virtual", "--out", out});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  const auto store = results::Store::open(out, results::OpenMode::read);
  EXPECT_TRUE(store);
  return run.code == 0 && store ? store->runs().value() : std::vector<RunRecord>{};
}

/// A run's cell in words.
inline std::string name(const RunRecord& run) {
  return canonical({.workload = run.workload, .parameters = run.parameters});
}

/// A metric of whichever node has it, in its base unit; 0, and a failed test, where none does.
inline double metric(const RunRecord& run, const std::string& wanted) {
  for (const auto& [node, record] : run.nodes)
    if (const auto it = record.metrics.find(wanted); it != record.metrics.end()) return it->second.value;
  ADD_FAILURE() << name(run) << " has no " << wanted << ": " << run.message;
  return 0;
}

}  // namespace longhaul::testing
