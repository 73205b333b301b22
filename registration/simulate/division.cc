#include "registration/simulate/division.hh"

#include <algorithm>

namespace longhaul::registration {
namespace {

// A trace of a share, and how far its rows are taken.
struct Piece {
  std::size_t share = 0;  // from 1
  const SimulatedTrace* found = nullptr;
  std::size_t capacities = 0;
  std::size_t taken = 0;

  std::size_t left() const { return found->rows.size() - taken; }
  void move(std::size_t rows, std::vector<Row>* to) {
    const auto begin = found->rows.begin() + static_cast<std::ptrdiff_t>(taken);
    if (to != nullptr) to->insert(to->end(), begin, begin + static_cast<std::ptrdiff_t>(rows));
    taken += rows;
  }
};

tl::unexpected<Error> foreign(std::size_t share) {
  return refuse("share {} is of another simulation: other traces, capacities, policies or costs", share);
}

bool are_alike(const SimulatedTrace& a, const SimulatedTrace& b) {
  return a.name == b.name && a.requests == b.requests && a.pages == b.pages && a.sample == b.sample;
}

Result<SimulatedTrace> join_pieces(std::vector<Piece>& pieces, const SweepOptions& all,
                                   const std::vector<CostProfile>& profiles) {
  auto whole = *pieces.front().found;
  whole.rows.clear();
  for (const auto& piece : pieces)
    if (!are_alike(*piece.found, whole))
      return refuse("shares {} and {} are of different simulations: other traces, or in another order",
                    pieces.front().share, piece.share);
  // As rows_of() orders them.
  for (const auto& strategy : all.strategies) {
    const auto costs = std::count_if(profiles.begin(), profiles.end(), [&](const CostProfile& profile) {
      return strategy.weighs.empty() || strategy.weighs == profile.name;
    });
    for (auto& piece : pieces) {
      const auto rows = static_cast<std::size_t>(costs) * (strategy.policy ? piece.capacities : 1);
      if (piece.left() < rows) return foreign(piece.share);
      // What has no capacity is the same in each.
      piece.move(rows, strategy.policy || &piece == pieces.data() ? &whole.rows : nullptr);
    }
  }
  for (auto& piece : pieces) {
    const auto bounds = piece.left();
    piece.move(bounds, &whole.rows);
    if (bounds > 0 && !whole.rows[whole.rows.size() - bounds].bound) return foreign(piece.share);
  }
  return whole;
}

}  // namespace

std::vector<Part> parts_of(std::size_t traces, std::size_t capacities, Share share) {
  const auto work = traces * capacities;
  const auto begin = work * (share.number - 1) / share.of;
  const auto end = work * share.number / share.of;
  std::vector<Part> parts;
  for (auto at = begin; at < end;) {
    const auto first = at % capacities;
    const auto count = std::min(capacities - first, end - at);
    parts.push_back({.trace = at / capacities, .first = first, .count = count});
    at += count;
  }
  return parts;
}

Result<std::vector<SimulatedTrace>> join_shares(const std::vector<std::vector<SimulatedTrace>>& shares,
                                                std::size_t traces, const SweepOptions& all,
                                                const std::vector<CostProfile>& profiles) {
  std::vector<std::vector<Piece>> pieces(traces);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto parts = parts_of(traces, all.capacities.size(), {.number = i + 1, .of = shares.size()});
    if (parts.size() != shares[i].size()) return foreign(i + 1);
    for (std::size_t k = 0; k < parts.size(); ++k)
      pieces[parts[k].trace].push_back({.share = i + 1, .found = &shares[i][k], .capacities = parts[k].count});
  }
  std::vector<SimulatedTrace> whole;
  for (auto& some : pieces) {
    if (some.empty()) return refuse("there is no share to join");
    auto trace = join_pieces(some, all, profiles);
    if (!trace) return tl::unexpected(trace.error());
    whole.push_back(std::move(*trace));
  }
  return whole;
}

}  // namespace longhaul::registration
