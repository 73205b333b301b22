// A claim of a paper as data, and what this campaign says about it. No expected answers anywhere: a verdict follows
// from the measured cells alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

enum class Verdict { holds, does_not_hold, not_decidable };
const char* to_text(Verdict verdict);

/// A cell that a claim speaks of and the one that it is compared with. The parameters are complete: the specs' defaults
/// are filled in.
struct Match {
  const CellSummary* cell = nullptr;
  const CellSummary* rival = nullptr;
  const Parameters* parameters = nullptr;        ///< of `cell`
  const Parameters* rival_parameters = nullptr;  ///< null where there is no rival
  std::int64_t x = 0;                            ///< the claim's axis, base units
};

/// The other side of a comparison.
enum class Rival {
  baseline,  ///< RDMA cells with sockets on the same network interface, all axes equal that both transports have
  twin,      ///< with the cells that Claim::twin says
  none       ///< with nothing, or with what was asked: `rival` is null
};

/// One measured figure that a verdict rests on.
struct Evidence {
  std::string at;    ///< "delay 5ms"
  std::string what;  ///< "sockets / RDMA"
  Ratio ratio;
};

/// From the least to the most of cells' medians, in per cent of one processor.
struct Busy {
  double low = 0;
  double high = 0;
};

/// Processor use of one end in a group's cells: the cost of what the verdict speaks of.
struct ProcessorUse {
  std::string who;  ///< "RDMA client", "sockets server", "node"
  Busy busy = {};
  std::optional<Busy> polling = {};  ///< of that, the process looked for what had not come; empty: not recorded
};

/// The finding in one group of cells.
struct Finding {
  std::string group;
  Verdict verdict = Verdict::not_decidable;
  std::string reason;
  std::vector<Evidence> evidence;
  bool made_up = false;  ///< rests on requests that no application made: told after those that one did
  std::vector<ProcessorUse> processors = {};
  std::map<std::string, std::int64_t> cells;  ///< id -> its place on the axis: all that were looked at, for the plot
  std::map<std::string, std::int64_t> beside = {};  ///< the same of other transports' cells under the same conditions
};

struct Claim {
  std::string id;         ///< PAPERS.md's
  std::string source;     ///< paper, section, figure
  std::string statement;  ///< in our words
  std::string criterion;  ///< what must be seen for it to hold
  std::string workload;
  std::string metric;  ///< the plot's
  std::string x;       ///< the plot's axis: a parameter
  Rival rival = Rival::baseline;
  /// With Rival::twin: whether the two cells are to be compared; both are of a workload that the claim may speak of.
  std::function<bool(const Match&)> twin = {};
  /// The group of a cell; empty: those of an RDMA provider.
  std::function<std::string(const CellSummary&, const Vocabulary&)> group = {};
  /// True for the cells of the workload that it speaks of; the parameters are complete. Empty: it speaks of all.
  std::function<bool(const Parameters&)> concerns = {};
  /// The verdict on one group's matches, by x; there is at least one.
  std::function<Finding(const Claim&, const std::vector<Match>&)> check;
  /// Cells at one place of the axis are samples of the same (seeds of a made-up trace). Else there may be one only.
  bool samples = false;
  /// It speaks of a change along the axis: groups with one place only are none of its business.
  bool course = false;
  /// A figure that a software provider or an emulated processor cannot decide: why. Empty: they can.
  std::string needs_hardware = {};
};

/// All claims that the project tests, in the order of PAPERS.md.
const std::vector<Claim>& all_claims();

/// A claim's axis at a match, as people read it: "size 64KiB".
std::string place(const Claim& claim, const Match& match);

/// What the values of a claim's axis are: the claim knows its name only.
Kind axis_kind(const Claim& claim);

/// The median of a cell's metric; 0 where it has none.
double value_of(const CellSummary& cell, const std::string& metric);

/// True if an axis is this word; false if it is absent.
bool is(const Parameters& parameters, const char* name, const char* word);

}  // namespace longhaul::results
