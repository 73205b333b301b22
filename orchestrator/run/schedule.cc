#include "orchestrator/run/schedule.hh"

#include <algorithm>
#include <map>
#include <utility>

#include "common/random.hh"

namespace longhaul::orchestrator {

Schedule::Schedule(const std::vector<CampaignCell>& cells, RepeatRule rule, std::uint64_t seed, Precision precision,
                   int attempts, std::size_t takers)
    : cells_(cells),
      rule_(rule),
      seed_(seed),
      precision_(std::move(precision)),
      attempts_(attempts),
      progress_(cells.size()),
      takers_(takers) {
  for (std::size_t i = 0; i < cells_.size(); ++i) index_.emplace(cells_[i].id, i);
}

void Schedule::grow(Progress& progress, int repetition) const {
  const auto size = static_cast<std::size_t>(repetition) + 1;
  if (progress.done.size() < size) {
    progress.done.resize(size, false);
    progress.next_attempt.resize(size, 0);
  }
}

void Schedule::mark(Progress& progress, int repetition, int attempt, Status status, std::optional<double> value) const {
  grow(progress, repetition);
  const auto at = static_cast<std::size_t>(repetition);
  progress.next_attempt[at] = std::max(progress.next_attempt[at], attempt + 1);
  if (status == Status::unsupported) progress.unsupported = true;
  if (counts(status)) {
    progress.done[at] = true;
    if (value) progress.values.push_back(*value);
  }
}

void Schedule::resume(std::string_view cell_id, int repetition, int attempt, Status status,
                      std::optional<double> value) {
  const auto it = index_.find(std::string{cell_id});
  if (it != index_.end() && repetition >= 0) mark(progress_[it->second], repetition, attempt, status, value);
}

bool Schedule::enough(std::size_t cell) const {
  const auto& progress = progress_[cell];
  const auto runs = std::count(progress.done.begin(), progress.done.end(), true);
  if (runs < rule_.min) return false;
  if (runs >= rule_.max || !rule_.precision) return true;
  // A computed value comes out the same again: no further run makes it more precise.
  const auto& values = progress.values;
  if (cells_[cell].local && values.size() > 1 &&
      std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); }))
    return true;
  // Twice in a row: who stops at the first interval that is narrow enough stops at those that are so by chance, and too
  // seldom have the true value in them (tests/results/stopping_test.cc simulates both rules).
  const auto narrow = [&](const std::vector<double>& some) {
    const auto width = precision_(some);
    return width && *width <= *rule_.precision;
  };
  return values.size() > 1 && narrow(values) && narrow({values.begin(), std::prev(values.end())});
}

bool Schedule::given_up(std::size_t cell) const {
  const auto& by = progress_[cell].given_up_by;
  for (std::size_t taker = 0; taker < takers_.size(); ++taker)
    if (takers_[taker].here && !by.contains(taker)) return false;
  return !by.empty();
}

bool Schedule::undone(std::size_t cell, int repetition) const {
  const auto& progress = progress_[cell];
  if (progress.unsupported) return false;
  const auto at = static_cast<std::size_t>(repetition);
  if (at < progress.done.size() && progress.done[at]) return false;
  return !enough(cell);
}

bool Schedule::wants(std::size_t cell, int repetition, std::size_t taker) const {
  return !given_up_by(cell, taker) && undone(cell, repetition);
}

int Schedule::next_attempt(std::size_t cell, int repetition) const {
  const auto& attempts = progress_[cell].next_attempt;
  const auto at = static_cast<std::size_t>(repetition);
  return at < attempts.size() ? attempts[at] : 0;
}

std::vector<Block> Schedule::blocks_of(int repetition, std::size_t taker) const {
  // The order is drawn over ALL cells and then thinned, so that what is finished does not change the rest of it.
  Random random{seed_ ^ (0x6c6f6e676861756cU + 0x100000001b3U * static_cast<std::uint64_t>(repetition))};
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < cells_.size(); ++i) groups[cells_[i].group].push_back(i);
  std::vector<std::string> order;
  for (auto& [group, members] : groups) {
    std::sort(members.begin(), members.end(), [&](auto a, auto b) { return cells_[a].id < cells_[b].id; });
    shuffle(members, random);
    order.push_back(group);
  }
  shuffle(order, random);

  std::vector<Block> blocks;
  for (const auto& group : order) {
    Block block{.repetition = repetition, .group = group, .runs = {}};
    for (const auto cell : groups[group]) {
      if (!wants(cell, repetition, taker)) continue;
      block.runs.push_back({.cell = cell, .repetition = repetition, .attempt = next_attempt(cell, repetition)});
    }
    if (!block.runs.empty()) blocks.push_back(std::move(block));
  }
  return blocks;
}

bool Schedule::in_hand(int repetition) const {
  return std::any_of(takers_.begin(), takers_.end(),
                     [&](const Taker& one) { return one.hand && one.hand->repetition == repetition; });
}

bool Schedule::others_want(int repetition, std::size_t taker) const {
  if (takers_.size() == 1) return false;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    if (!undone(cell, repetition)) continue;
    for (std::size_t other = 0; other < takers_.size(); ++other)
      if (other != taker && takers_[other].here && !given_up_by(cell, other)) return true;
  }
  return false;
}

// Ends: every round has a good run, or brings a cell nearer to being given up.
bool Schedule::begin_repetition(std::size_t taker) {
  auto& own = takers_[taker];
  for (;;) {
    if (own.repetition + 1 >= rule_.max) {
      if (own.looked == undone_) return false;
      own.looked = undone_;
      own.repetition = -1;
      continue;
    }
    ++own.repetition;
    if (in_hand(own.repetition)) continue;
    auto blocks = blocks_of(own.repetition, taker);
    if (blocks.empty()) continue;
    std::reverse(blocks.begin(), blocks.end());
    own.hand = Hand{.repetition = own.repetition, .queue = std::move(blocks)};
    return true;
  }
}

std::optional<Block> Schedule::next_block(std::size_t taker) {
  auto& own = takers_[taker];
  for (;;) {
    if (!own.hand && !begin_repetition(taker)) return std::nullopt;
    auto& queue = own.hand->queue;
    if (queue.empty()) {
      if (others_want(own.hand->repetition, taker)) ++undone_;  // they may have passed it over
      own.hand.reset();
      continue;
    }
    auto block = std::move(queue.back());
    queue.pop_back();
    // Others have gone on meanwhile.
    std::erase_if(block.runs, [&](const PlannedRun& run) { return !wants(run.cell, run.repetition, taker); });
    if (block.runs.empty()) continue;
    for (const auto& run : block.runs) progress_[run.cell].spoilt.erase(run.repetition);
    return block;
  }
}

void Schedule::leave(std::size_t taker) {
  auto& own = takers_[taker];
  if (own.hand) ++undone_;
  own.hand.reset();
  own.here = false;
}

bool Schedule::taken() const {
  return std::any_of(takers_.begin(), takers_.end(), [](const Taker& one) { return one.hand.has_value(); });
}

bool Schedule::round_over() const {
  return std::all_of(takers_.begin(), takers_.end(),
                     [](const Taker& one) { return !one.hand || one.hand->queue.empty(); });
}

std::optional<PlannedRun> Schedule::finished(const PlannedRun& run, Status status, std::optional<double> value,
                                             std::size_t taker) {
  auto& progress = progress_[run.cell];
  mark(progress, run.repetition, run.attempt, status, value);
  auto& refused_in_a_row = progress.refused_in_a_row[taker];
  if (status != Status::refused && status != Status::failed) {
    refused_in_a_row = 0;
    return std::nullopt;
  }
  const auto spoilt = ++progress.spoilt[run.repetition][status];
  if (status == Status::refused) ++refused_in_a_row;
  if (status == Status::refused ? refused_in_a_row >= kRefusalsInARow : spoilt >= attempts_) {
    progress.given_up_by.insert(taker);
    return std::nullopt;
  }
  if (status == Status::refused && spoilt >= kRefusals) {
    ++undone_;
    return std::nullopt;
  }
  return PlannedRun{.cell = run.cell, .repetition = run.repetition, .attempt = run.attempt + 1};
}

std::vector<PlannedRun> Schedule::remaining_runs() const {
  std::vector<PlannedRun> runs;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    const auto& progress = progress_[cell];
    if (progress.unsupported || given_up(cell) || enough(cell)) continue;
    const auto done = static_cast<int>(std::count(progress.done.begin(), progress.done.end(), true));
    for (int i = 0; i < std::max(1, rule_.min - done); ++i)
      runs.push_back({.cell = cell, .repetition = done + i, .attempt = 0});
  }
  return runs;
}

std::int64_t Schedule::remaining() const {
  return static_cast<std::int64_t>(remaining_runs().size());
}

}  // namespace longhaul::orchestrator
