#include "results/summary/comparison.hh"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace longhaul::results {
namespace {

// Names the pair, not its conditions; delay is the axis along which the pair is followed.
constexpr const char* kNotConditions[] = {"transport", "provider", "rival", "op", "delay"};

// Parameters that both transports have; `own` gets those that only this one has.
Parameters conditions_of(const CellSummary& cell, const Vocabulary& vocabulary, Parameters& own) {
  auto conditions = cell.parameters;
  for (const auto* name : kNotConditions) conditions.erase(name);
  for (auto it = conditions.begin(); it != conditions.end();) {
    const bool one = vocabulary.of_one_transport(cell.workload, it->first);
    if (one) own.insert(*it);
    it = one ? conditions.erase(it) : std::next(it);
  }
  return conditions;
}

// A read of the latency workload is timed over a whole round trip, the stream's message over half of one.
bool comparable(const CellSummary& rdma, const std::string& op) {
  return !(rdma.workload == "latency" && op == "read");
}

Advantage judge(const std::optional<Ratio>& ratio) {
  if (!ratio || !ratio->interval) return Advantage::unknown;
  if (ratio->interval->low > 1) return Advantage::rdma;
  if (ratio->interval->high < 1) return Advantage::sockets;
  return Advantage::none;
}

// The point at which the straight line between two values of log ratio crosses 0.
double cross(const RatioPoint& left, double left_value, const RatioPoint& right, double right_value) {
  const double a = std::log(left_value);
  const double b = std::log(right_value);
  const auto from = static_cast<double>(left.delay);
  const auto to = static_cast<double>(right.delay);
  if (a == b) return std::midpoint(from, to);
  const double t = std::clamp(a / (a - b), 0.0, 1.0);
  // Along a logarithmic delay axis where both ends have a place on it.
  if (from > 0 && to > 0) return from * std::pow(to / from, t);
  return from + (to - from) * t;
}

// The bound of the decided end that faces 1.
double facing(const RatioPoint& point, Advantage decided) {
  return decided == Advantage::rdma ? point.ratio.interval->low : point.ratio.interval->high;
}

double place(const RatioPoint& left, const RatioPoint& right) {
  const auto before = left.advantage;
  const auto after = right.advantage;
  if (before != Advantage::none && after != Advantage::none)
    return cross(left, left.ratio.value, right, right.ratio.value);
  const auto decided = before == Advantage::none ? after : before;
  return cross(left, facing(left, decided), right, facing(right, decided));
}

// On whose network interface the cell ran: the driver's own, or the rival's.
const std::string& link_of(const CellSummary& cell) {
  return offers(cell.transport, Capability::any_link) ? cell.rival : cell.provider;
}

using SocketsKey = std::tuple<std::string, std::string, Parameters, std::int64_t>;
using PairKey = std::tuple<std::string, std::string, std::string, std::string, std::string, Parameters>;

}  // namespace

std::vector<Crossover> find_crossovers(const std::vector<RatioPoint>& points) {
  std::vector<Crossover> crossovers;
  const RatioPoint* last = nullptr;
  for (const auto& point : points) {
    if (point.advantage == Advantage::unknown) continue;
    if (last != nullptr && last->advantage != point.advantage) {
      crossovers.push_back({.from = last->delay,
                            .to = point.delay,
                            .at = place(*last, point),
                            .before = last->advantage,
                            .after = point.advantage});
    }
    last = &point;
  }
  return crossovers;
}

std::vector<Partners> partners(const std::vector<CellSummary>& cells, const Vocabulary& vocabulary,
                               std::string_view challenger) {
  // Sockets by what a partner must equal; the rival is empty where the campaign has one kind of netdev only.
  std::multimap<SocketsKey, const CellSummary*> sockets;
  Parameters own;
  for (const auto& cell : cells)
    if (is_baseline(cell.transport) && cell.usable > 0)
      sockets.emplace(
          SocketsKey{cell.workload, link_of(cell), conditions_of(cell, vocabulary, own), cell.forward.asked}, &cell);
  std::vector<Partners> found;
  for (const auto& cell : cells) {
    if (cell.transport != challenger || cell.usable == 0) continue;
    if (!comparable(cell, vocabulary.spelt(cell.workload, cell.parameters, "op"))) continue;
    const auto conditions = conditions_of(cell, vocabulary, own);
    auto rivals = sockets.equal_range({cell.workload, link_of(cell), conditions, cell.forward.asked});
    if (rivals.first == rivals.second)
      rivals = sockets.equal_range({cell.workload, "", conditions, cell.forward.asked});
    for (auto it = rivals.first; it != rivals.second; ++it) found.push_back({.rdma = &cell, .sockets = it->second});
  }
  return found;
}

std::vector<Pairing> pair_transports(const std::vector<CellSummary>& cells, const Vocabulary& vocabulary) {
  std::vector<Pairing> pairings;
  std::map<PairKey, std::size_t> known;
  std::vector<Partners> all;
  for (const auto& challenger : transport_names()) {
    if (is_baseline(challenger)) continue;
    const auto found = partners(cells, vocabulary, challenger);
    all.insert(all.end(), found.begin(), found.end());
  }
  for (const auto& [rdma, sockets] : all) {
    const auto& cell = *rdma;
    const auto op = vocabulary.spelt(cell.workload, cell.parameters, "op");
    Parameters own;
    auto conditions = conditions_of(cell, vocabulary, own);
    conditions_of(*sockets, vocabulary, own);
    conditions.merge(own);
    for (const auto& ours : cell.metrics) {
      const auto* theirs = sockets->metric(ours.name);
      if (theirs == nullptr || ours.better == Better::neither) continue;
      const auto ratio = ours.better == Better::lower ? ratio_interval(theirs->values, ours.values)
                                                      : ratio_interval(ours.values, theirs->values);
      if (!ratio) continue;
      const PairKey key{cell.workload, ours.name, cell.transport, link_of(cell), op, conditions};
      const auto [entry, fresh] = known.emplace(key, pairings.size());
      if (fresh) {
        pairings.push_back({.workload = cell.workload,
                            .metric = ours.name,
                            .transport = cell.transport,
                            .provider = link_of(cell),
                            .op = op,
                            .conditions = conditions,
                            .soft = cell.soft,
                            .points = {},
                            .crossovers = {}});
      }
      pairings[entry->second].points.push_back({.delay = cell.forward.asked,
                                                .rdma_cell = cell.cell_id,
                                                .sockets_cell = sockets->cell_id,
                                                .ratio = *ratio,
                                                .advantage = judge(ratio)});
    }
  }
  for (auto& pairing : pairings) {
    std::sort(pairing.points.begin(), pairing.points.end(),
              [](const auto& a, const auto& b) { return a.delay < b.delay; });
    pairing.crossovers = find_crossovers(pairing.points);
  }
  return pairings;
}

}  // namespace longhaul::results
