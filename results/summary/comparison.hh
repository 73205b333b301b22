// Sockets against RDMA: which cells form a pair, their ratio along the delay, and where the advantage ends. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// The decision from the interval of a ratio.
enum class Advantage {
  rdma,     ///< the whole interval is on RDMA's side of 1
  sockets,  ///< on the sockets' side
  none,     ///< it contains 1
  unknown   ///< too few runs for an interval
};

/// One delay of a pair.
struct RatioPoint {
  std::int64_t delay = 0;  ///< one-way, asked, ns
  std::string rdma_cell;
  std::string sockets_cell;
  Ratio ratio;  ///< how many times better RDMA is: sockets / RDMA where lower is better, RDMA / sockets where higher is
  Advantage advantage = Advantage::unknown;
};

/// Between two neighbouring delays the advantage changes hands or ends.
struct Crossover {
  std::int64_t from = 0;  ///< the last delay with the verdict `before`, ns
  std::int64_t to = 0;    ///< the first with `after`
  double at = 0;  ///< interpolated, ns: where the ratio (or, when an advantage ends or begins, the nearer bound) is 1
  Advantage before = Advantage::unknown;
  Advantage after = Advantage::unknown;
};

/// A challenger and the baseline (sockets) on the same network interface, everything but the delay equal.
struct Pairing {
  std::string workload;
  std::string metric;
  std::string transport;  ///< the challenger's
  std::string provider;
  std::string op;
  Parameters conditions;  ///< all other axes that are not at their default: size, a fixed delay_back ...; not delay
  bool soft = false;
  std::vector<RatioPoint> points;     ///< by delay
  std::vector<Crossover> crossovers;  ///< by delay; empty: none found
};

/// A challenger's cell (rdma unless another is asked for) and a baseline cell on its network interface, equal in all
/// axes that both transports have.
struct Partners {
  const CellSummary* rdma = nullptr;
  const CellSummary* sockets = nullptr;
};

/// All of them, in the order of the challenger's cells; those without results are left out, and reads of the latency
/// workload (they are a whole round trip, the sockets' figure is half of one).
std::vector<Partners> partners(const std::vector<CellSummary>& cells, const Vocabulary& vocabulary,
                               std::string_view challenger = "rdma");

/// Pairs of every challenger, by the headline and every other metric with a direction of better.
std::vector<Pairing> pair_transports(const std::vector<CellSummary>& cells, const Vocabulary& vocabulary);

/// The verdicts' changes along the delay; points with Advantage::unknown are passed over. Exposed for its tests.
std::vector<Crossover> find_crossovers(const std::vector<RatioPoint>& points);

}  // namespace longhaul::results
