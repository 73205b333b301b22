// Figures of a paper, drawn anew from a campaign's cells: one panel for each delay. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// A paper's figure, and which cells of ours stand for it.
struct FigureSpec {
  std::string name;     ///< "Figure 7", "Figures 15 and 16"
  std::string caption;  ///< the paper's
  std::string shows;    ///< what of ours is drawn
  std::string workload;
  std::string metric;
  std::string x;                                           ///< a parameter: the paper's axis
  std::vector<std::pair<std::string, std::string>> where;  ///< axes and their values, as campaign files spell them
  /// The axes by which the lines of a panel differ, the first told always, others where they are not as by default. A
  /// place is drawn where two such ways were measured. Empty: a line for each provider that has two places.
  std::vector<std::string> ways;
  std::vector<std::string> panels = {};  ///< axes beside the delay of which each value gets a panel
  bool sockets = false;                  ///< drawn beside
};

struct FigurePoint {
  std::int64_t x = 0;  ///< base units
  const CellSummary* cell = nullptr;
};

struct FigureLine {
  std::string link;  ///< provider, or the one on whose network interface sockets were used
  std::string way;   ///< "read-read", "preregistered, copy client"; "sockets"; empty: there is but one
  bool sockets = false;
  std::vector<FigurePoint> points;  ///< by x
};

/// All other axes are equal in a panel: of their combinations that with the most points.
struct FigurePanel {
  std::string name;  ///< "5ms each way, size 32KiB"
  std::vector<FigureLine> lines;
};

struct Figure {
  const FigureSpec* spec = nullptr;
  std::vector<FigurePanel> panels;  ///< by delay, with two points at least; none: the figure is left out
  std::string left_out;             ///< "Figure 9: ...", what the campaign lacks for it
};

/// Figures 6 to 16 of "Designing NFS with RDMA" (2007).
const std::vector<FigureSpec>& nfs_figures();
inline constexpr const char* kNfsPaper = "Designing NFS with RDMA (2007)";

/// One for each spec; empty where the campaign has cells for none.
std::vector<Figure> figures(const std::vector<FigureSpec>& specs, const Summary& summary, const Vocabulary& vocabulary);

}  // namespace longhaul::results
