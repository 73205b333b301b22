// Records -> what each cell measured. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/facts.hh"
#include "model/manifest.hh"
#include "model/record.hh"
#include "results/statistics/interval.hh"
#include "results/summary/vocabulary.hh"

namespace longhaul::results {

/// Below this many pooled samples there is no p99.
inline constexpr std::uint64_t kSamplesForP99 = 1000;

/// One metric of one cell, over its usable runs, in the metric's base unit.
struct MetricSummary {
  std::string name;
  std::string unit;
  Better better = Better::neither;
  std::vector<double> values;  ///< of the runs, by repetition
  std::uint64_t samples = 0;   ///< over all runs
  double median = 0;           ///< of `values`
  std::optional<Interval> interval;
  std::optional<double> p99;  ///< pooled over runs
  Histogram pooled;           ///< empty when a run has no distribution
};

/// One direction of the WAN in a cell: medians over its usable runs (over all where none is usable), ns.
struct AchievedDelay {
  std::int64_t asked = 0;
  std::optional<double> achieved;
  std::vector<double> values = {};  ///< of the runs: what `achieved` is the median of
  std::optional<double> programmed;
  std::optional<double> p99;
  std::uint64_t dropped = 0;  ///< sum over runs
};

struct CellSummary {
  std::string cell_id;
  std::string workload;
  Parameters parameters;  ///< defaults left out
  std::string transport;
  std::string provider;  ///< kernel for tcp
  std::string rival;     ///< of a tcp cell: whose network interface it ran on
  std::string device;    ///< what the client really used; empty when no run tells
  std::string topology;
  AchievedDelay forward;
  AchievedDelay back;
  std::optional<double> rtt;  ///< of the probes, median over runs, ns

  /// ok or limited: at least as many usable (ok or limited) runs as the campaign asks; limited when one of them was.
  /// Otherwise what stopped most of the other runs: unsupported, refused or failed (in a tie the first of failed,
  /// refused, unsupported); a cell without enough runs and without any such reason is failed: "not measured".
  Status status = Status::failed;
  std::string message;  ///< why it is not ok: the last one that a run gave
  std::map<Status, int> runs;
  int usable = 0;
  std::vector<std::string> limits;  ///< distinct, of the usable runs
  bool soft = false;                ///< a software RDMA provider (rxe, siw), or sockets beside one
  bool emulated = false;            ///< a node of a run was emulated
  bool virtual_clock = false;       ///< its time is counted instructions (the axis `clock`)
  /// By a virtual clock: of its usable runs, by repetition, what varied them. Runs of one seed are pairs.
  std::vector<std::uint64_t> seeds;
  /// Where testbeds share a campaign: of its usable runs, by repetition, which one of Manifest::testbeds().
  std::vector<std::size_t> testbeds;

  std::vector<MetricSummary> metrics;                        ///< the workload's order, then by name; the headline first
  std::vector<MetricSummary> cpu;                            ///< processor time of both ends (summary/processor.hh)
  const MetricSummary* metric(std::string_view name) const;  ///< of both; nullptr: there is none
};

/// The summary of a whole campaign: the cells in the manifest's order, then cells that only records know.
struct Summary {
  Manifest manifest;
  std::map<std::string, NodeFacts> facts;                        ///< by digest
  std::map<std::string, std::map<std::string, int>> node_facts;  ///< node -> digest -> runs that named it
  std::vector<CellSummary> cells;
  bool emulated = false;
};

/// Equal in all parameters but these.
bool same_but(const CellSummary& a, const CellSummary& b, std::initializer_list<const char*> axes);

/// rxe, siw: the adapter is emulated by the kernel.
bool is_soft_provider(std::string_view provider);

Result<Summary> summarise(const Manifest& manifest, const std::vector<RunRecord>& runs,
                          const std::map<std::string, NodeFacts>& facts, const Vocabulary& vocabulary);

/// What DIR's store holds, read once.
struct StoredCampaign {
  Manifest manifest;
  std::vector<RunRecord> runs;
  std::map<std::string, NodeFacts> facts;
};
Result<StoredCampaign> load(const std::string& directory);

/// Loads and summarises.
Result<Summary> summarise_directory(const std::string& directory, const Vocabulary& vocabulary);

}  // namespace longhaul::results
