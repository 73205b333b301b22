// Chooses the next run from the runs so far: blocks of equal impairment, shuffled from the seed. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/injection.hh"
#include "model/record.hh"
#include "orchestrator/campaign/cells.hh"

namespace longhaul::orchestrator {

/// One execution to make: cells[cell], its repetition (from 0), its attempt (from 0, unique within the repetition).
struct PlannedRun {
  std::size_t cell = 0;
  int repetition = 0;
  int attempt = 0;
  std::optional<Injection> injection = {};  ///< a sealed lab's: its copy tries again by itself
  bool operator==(const PlannedRun&) const = default;
};

/// Runs that share an impairment, in their order.
struct Block {
  int repetition = 0;
  std::string group;
  std::vector<PlannedRun> runs;
};

/// Half width of the 95 % interval of the median, as a fraction of the median; empty: too few values.
using Precision = std::function<std::optional<double>(const std::vector<double>&)>;

/// The state of a campaign: which runs exist, and what follows from them. A run that failed is repeated within its
/// block, `attempts` times in all; then its cell is given up for this session. A refused one is repeated there, too,
/// but after kRefusals it is put off until all others are through: what spoils the WAN is mostly the machine's other
/// load, which passes. A cell is given up when kRefusalsInARow of its runs were refused with no good one between. One
/// that is unsupported ends its cell for good.
///
/// Several testbeds may take runs, each for itself, in whole repetitions: a cell and its rivals stay together, and
/// every impairment is spread over the testbeds alike, so that a testbed which is slower cannot look like a delay that
/// is. A cell that one of them gives up is the others' to make; it is given up when all have.
class Schedule {
 public:
  static constexpr int kAttempts = 3;
  static constexpr int kRefusals = 4;
  static constexpr int kRefusalsInARow = 24;

  Schedule(const std::vector<CampaignCell>& cells, RepeatRule rule, std::uint64_t seed, Precision precision,
           int attempts = kAttempts, std::size_t takers = 1);

  /// A run of an earlier session. Attempts that did not count then are not held against the cell now.
  void resume(std::string_view cell_id, int repetition, int attempt, Status status, std::optional<double> value);

  /// The next block that has something to run, for a taker (a testbed, by number), who has made what it took before.
  /// Empty: there is nothing that no other has taken; when no other has, the campaign is done. The same seed gives the
  /// same order to one taker, and a resumed campaign the same order less what is finished.
  std::optional<Block> next_block(std::size_t taker = 0);

  /// A taker makes no more: what it has not made of its repetition is for the others.
  void leave(std::size_t taker);

  /// Somebody has taken a repetition and may have to leave it to others.
  bool taken() const;

  /// No block is left of what was begun: what comes next depends on what the runs so far have given.
  bool round_over() const;

  /// Takes the outcome of a run; returns the run to add to the end of the block when it is to be repeated.
  std::optional<PlannedRun> finished(const PlannedRun& run, Status status, std::optional<double> value,
                                     std::size_t taker = 0);

  /// A cell is given up after so many failed runs in a block, or refused ones in a row.
  int limit(Status status) const { return status == Status::refused ? kRefusalsInARow : attempts_; }

  /// Runs that are still to come as far as one can know: up to each cell's minimum, and one for each cell that is not
  /// yet precise.
  std::int64_t remaining() const;
  /// The same in the block's terms, for estimates of time.
  std::vector<PlannedRun> remaining_runs() const;

  /// The number of the next attempt at a repetition.
  int next_attempt(std::size_t cell, int repetition) const;
  /// By all takers that are left, or by this one.
  bool given_up(std::size_t cell) const;
  bool given_up_by(std::size_t cell, std::size_t taker) const { return progress_[cell].given_up_by.contains(taker); }
  bool unsupported(std::size_t cell) const { return progress_[cell].unsupported; }
  int runs_done(std::size_t cell) const { return static_cast<int>(progress_[cell].values.size()); }

 private:
  struct Progress {
    std::vector<bool> done;                       ///< by repetition
    std::vector<int> next_attempt;                ///< by repetition
    std::vector<double> values;                   ///< headline metric of the runs that count
    std::map<int, std::map<Status, int>> spoilt;  ///< by repetition: refused and failed runs of the block under way
    std::map<std::size_t, int> refused_in_a_row;  ///< by taker, in this session
    std::set<std::size_t> given_up_by;            ///< takers
    bool unsupported = false;
  };
  /// What a taker has in hand: a repetition, less the blocks that were handed out.
  struct Hand {
    int repetition = 0;
    std::vector<Block> queue;  ///< next one last
  };
  struct Taker {
    bool here = true;
    int repetition = -1;      ///< that it looked at last
    std::int64_t looked = 0;  ///< undone_ when it began to look at all of them again
    std::optional<Hand> hand;
  };
  bool undone(std::size_t cell, int repetition) const;
  bool wants(std::size_t cell, int repetition, std::size_t taker) const;
  bool in_hand(int repetition) const;
  bool others_want(int repetition, std::size_t taker) const;
  bool begin_repetition(std::size_t taker);
  bool enough(std::size_t cell) const;
  void grow(Progress& progress, int repetition) const;
  void mark(Progress& progress, int repetition, int attempt, Status status, std::optional<double> value) const;
  std::vector<Block> blocks_of(int repetition, std::size_t taker) const;

  const std::vector<CampaignCell>& cells_;
  RepeatRule rule_;
  std::uint64_t seed_;
  Precision precision_;
  int attempts_;
  std::unordered_map<std::string, std::size_t> index_;  ///< cell id -> cell
  std::vector<Progress> progress_;
  std::vector<Taker> takers_;
  std::int64_t undone_ = 0;  ///< how often something was left behind that somebody may make
};

}  // namespace longhaul::orchestrator
