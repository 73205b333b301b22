// A campaign without a testbed: records as a lab would give them, the same at every call. A test double for whatever
// reads results; the shape of its figures follows LAB.md's (emulated processors, rxe and siw).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/facts.hh"
#include "model/manifest.hh"
#include "model/record.hh"
#include "results/store/store.hh"
#include "results/summary/summary.hh"
#include "results/summary/vocabulary.hh"

namespace longhaul::results::synthetic {

inline constexpr std::int64_t kMillisecond = 1'000'000;  // ns

struct Options {
  std::vector<std::int64_t> delays_ns = {0, 1'000'000, 5'000'000, 20'000'000};
  std::vector<std::int64_t> sizes = {64, 16384};
  int runs = 6;
  unsigned seed = 1;
  double noise = 0.04;  ///< standard deviation between runs, of the part that is not the path
  double slower = 1;    ///< of that part, in every run: another machine
  bool emulated = true;
  int samples = 800;           ///< of a run without delay
  bool virtual_clock = false;  ///< all runs of a cell are then the same
};

struct Campaign {
  Manifest manifest;
  std::vector<RunRecord> runs;
  std::map<std::string, NodeFacts> facts;
};

/// 4 series (rdma over rxe and siw, tcp on the netdev of each) x delays x sizes x runs, all ok.
Campaign campaign(const Options& options = {});

/// A latency workload, a simulation and the impairment axes as their owners declare them, as far as results needs them.
Vocabulary vocabulary();

using Measured = std::map<std::string, Metric>;  // by name

/// One cell more, of a client or of a workload that runs alone, with six runs.
void add_cell(Campaign& campaign, const std::string& workload, const Parameters& parameters, Role role,
              const std::function<Measured(int repetition)>& measure);

/// One cell made unusable: its runs get this status and message and lose their figures.
void spoil(Campaign& campaign, std::size_t cell, Status status, const std::string& message);

/// Every second repetition made on another testbed, whose nodes are called west-..., and whose figures are so many
/// times as large.
void share(Campaign& campaign, double larger);

/// All that a page and a table must cope with: every status, hostile texts, an asymmetric and a lan cell.
Campaign awkward();

/// A workload that runs by itself, without transport, path and facts: two policies x three capacities, 6 equal runs
/// each.
Campaign alone();

/// Transfers: three processes over rxe and sockets beside it, without delay and at 5 ms, 6 runs each.
Campaign transfers();

/// What the campaign's runs say together. Throws std::runtime_error where they say nothing.
Summary summed(const Campaign& campaign);

/// Writes all of it to `directory` through the store.
Result<void> write(const Campaign& campaign, const std::filesystem::path& directory);

}  // namespace longhaul::results::synthetic
