#include "results/claims/emulation.hh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/units.hh"
#include "results/claims/judge.hh"
#include "results/summary/clock.hh"

namespace longhaul::results {
namespace {

constexpr double kSpacingKept = 1.25;  // a burst's length behind the router against before it
constexpr double kJitterMet = 0.05;    // the path's own scatter adds to it
constexpr double kJitterWidest = 1.2;
constexpr double kShareWidest = 3;    // a wider 95 % interval says nothing
constexpr double kFalseAlarm = 0.01;  // of all shares together: whoever trusts the emulator should hear few of them

/// Something that can be asked of a path, and the metric that shows it.
struct Quality {
  const char* parameter;
  Kind kind;
  const char* metric;
};

constexpr Quality kShares[] = {{"loss", Kind::fraction, "loss"},
                               {"duplicate", Kind::fraction, "duplicates"},
                               {"reorder", Kind::fraction, "reordered"}};

// Between the quartiles of a distribution whose scale is the jitter: uniform within +- jitter; normal with it as
// standard deviation; Pareto of shape 3, the same (degen/impairment/spec.hh).
double quartile_range(const CellSummary& cell) {
  if (is(cell.parameters, "distribution", "normal")) return 1.349;
  if (is(cell.parameters, "distribution", "pareto")) return (std::cbrt(4) - std::cbrt(4.0 / 3)) / std::sqrt(0.75);
  return 1;
}

// "delay 5ms, loss 1%": what is asked of the path.
std::string asked_of(const CellSummary& cell) {
  std::string text;
  const auto add = [&](const char* name, Kind kind) {
    if (const auto value = integer_of(cell.parameters, name); value > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_quantity(kind, value));
  };
  add("delay", Kind::duration);
  add("jitter", Kind::duration);
  for (const auto* word : {"normal", "pareto"})
    if (is(cell.parameters, "distribution", word)) text += fmt::format(" ({})", word);
  for (const auto& share : kShares) add(share.parameter, share.kind);
  return text;
}

bool is_steady(const CellSummary& cell) {
  return integer_of(cell.parameters, "jitter") == 0 && integer_of(cell.parameters, "rate") == 0;
}

// Packets are lost by something else than axis `loss`, too; what share of them is no claim of ours.
bool loses_otherwise(const CellSummary& cell) {
  for (const auto* name : {"ge_enter", "ge_loss_good", "corrupt", "queue"})
    if (integer_of(cell.parameters, name) > 0) return true;
  return false;
}

// Packets that count as independent: lost ones come in rows.
double independent(const CellSummary& cell, const Quality& share, std::uint64_t packets) {
  const auto row = std::string_view{share.parameter} == "loss"
                       ? std::max<std::int64_t>(integer_of(cell.parameters, "loss_burst"), 1)
                       : 1;
  return static_cast<double>(packets) / static_cast<double>(2 * row - 1);
}

// yes: it meets what was asked, and is narrow enough to say so.
Judgement meets(const std::optional<Interval>& interval, double slack, double widest) {
  if (!interval) return Judgement::unsure;
  if (interval->low > 1 + slack || interval->high < 1 - slack) return Judgement::no;
  return interval->low >= 1 / widest && interval->high <= widest ? Judgement::yes : Judgement::unsure;
}

// Tolerance of a delay, as a share of it.
double slack_of_delay(const CellSummary& cell) {
  const auto asked = static_cast<double>(cell.forward.asked);
  const auto floor = cell.virtual_clock ? 10e3 : noisy(cell) ? 200e3 : 50e3;  // ns
  return std::max(noisy(cell) ? 0.05 : 0.01, floor / asked);
}

/// All that the cells of one engine say.
class Account {
 public:
  /// `shares`: how many of them are compared in all.
  explicit Account(std::size_t shares)
      : level_(1 - kFalseAlarm / static_cast<double>(std::max<std::size_t>(shares, 1))) {}

  void take(const CellSummary& cell) {
    ++cells_;
    at_ = asked_of(cell);
    if (cell.forward.asked > 0 && !cell.forward.values.empty()) {
      const auto delay = typical(cell.forward.values, 1).over(static_cast<double>(cell.forward.asked)).ratio;
      show("delay, measured / asked", delay);
      const auto slack = slack_of_delay(cell);
      if (is_steady(cell))
        judge(meets(delay.interval, slack, 1 + 2 * slack),
              fmt::format("the delay is {:.3f} of what was asked", delay.value));
    }
    if (const auto* stretch = cell.metric("stretch")) {
      const auto kept = typical(stretch->values, 1);
      show("length of a burst, behind / before the router", kept.ratio);
      judge(equal_within(kept, kSpacingKept), fmt::format("bursts get {:.2f} times as long", stretch->median));
    }
    const auto jitter = static_cast<double>(integer_of(cell.parameters, "jitter"));
    // If the order is kept, a late packet holds up those behind it: the spread is not the jitter's alone.
    if (const auto* spread = cell.metric("spread");
        spread != nullptr && jitter > 0 && is(cell.parameters, "jitter_order", "free")) {
      const auto ratio = typical(spread->values, 1).over(jitter * quartile_range(cell)).ratio;
      asked("jitter", ratio, meets(ratio.interval, kJitterMet, kJitterWidest));
    }
    for (const auto& share : kShares) {
      const auto* measured = cell.metric(share.metric);
      if (measured == nullptr || (std::string_view{share.metric} == "loss" && loses_otherwise(cell))) continue;
      const auto parts = integer_of(cell.parameters, share.parameter);
      if (parts > 0)
        share_of(cell, share, *measured, static_cast<double>(parts) / 1e6);
      else if (measured->median > 0 && jitter == 0)
        judge(Judgement::no, fmt::format("{:.3g} % {} unasked", 100 * measured->median, share.metric));
    }
    // Reordered packets come without delay: all others are later.
    if (const auto* variation = cell.metric("variation");
        variation != nullptr && variation->p99 && jitter == 0 && integer_of(cell.parameters, "reorder") == 0)
      latest_ = std::max(latest_, *variation->p99);
  }

  Finding finding() {
    auto reason = faults_.empty()
                      ? fmt::format("{} qualities of {} paths are what was asked", judgements_.size(), cells_)
                      : faults_;
    if (latest_ > 0)
      reason += fmt::format("; without jitter one packet in a hundred is {} or more later than the fastest",
                            format_quantity(Kind::duration, static_cast<std::int64_t>(latest_ / 1e3) * 1000));
    return conclude(all_of(judgements_), std::move(reason), std::move(evidence_));
  }

 private:
  void judge(Judgement judgement, const std::string& fault) {
    judgements_.push_back(judgement);
    if (judgement == Judgement::no) faults_ += fmt::format("{}{}: {}", faults_.empty() ? "" : "; ", at_, fault);
  }
  void show(std::string what, const Ratio& ratio) { evidence_.push_back({at_, std::move(what), ratio}); }
  void asked(const char* what, const Ratio& ratio, Judgement judgement) {
    show(std::string{what} + ", measured / asked", ratio);
    judge(judgement, fmt::format("{} is {:.2f} of what was asked", what, ratio.value));
  }
  // Of independent events the count tells how far chance alone takes it.
  void share_of(const CellSummary& cell, const Quality& share, const MetricSummary& measured, double wanted) {
    const auto trials = independent(cell, share, measured.samples);
    const auto mean = std::accumulate(measured.values.begin(), measured.values.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(measured.values.size(), 1));
    Ratio ratio{.value = mean / wanted, .interval = {}};
    std::optional<Interval> joint;
    if (trials > 0) {
      const auto scaled = [&](const Interval& one) { return Interval{one.low / wanted, one.high / wanted, one.level}; };
      ratio.interval = scaled(share_interval(mean * trials, trials));
      joint = scaled(share_interval(mean * trials, trials, level_));
    }
    const auto met = meets(joint, 0, std::numeric_limits<double>::infinity());
    const auto told = meets(ratio.interval, 1, kShareWidest);
    asked(share.parameter, ratio, met == Judgement::yes ? told : met);
  }

  double level_;  // of an interval that holds together with those of all shares
  std::string at_;
  std::string faults_;
  std::vector<Judgement> judgements_;
  std::vector<Evidence> evidence_;
  double latest_ = 0;
  int cells_ = 0;
};

Finding as_asked(const Claim&, const std::vector<Match>& matches) {
  std::size_t shares = 0;
  for (const auto& match : matches)
    shares += static_cast<std::size_t>(std::count_if(std::begin(kShares), std::end(kShares), [&](const Quality& share) {
      return integer_of(match.cell->parameters, share.parameter) > 0;
    }));
  Account account{shares};
  for (const auto& match : matches) account.take(*match.cell);
  return account.finding();
}

}  // namespace

Claim emulation_claim() {
  return {
      .id = "W11",
      .source = "RDMA over IP in a WAN (2005), section 3: the delay emulator",
      .statement =
          "The emulated WAN delays each packet from its own arrival: bursts keep their spacing, delays do not add "
          "up; and what is asked for in jitter, loss, duplication and reordering is what packets meet.",
      .criterion =
          "each delay without jitter or rate is within 1 % (at least 10 us by a virtual clock, 50 us by the host's; "
          "emulated processors by the host's clock: 5 %, 200 us), the length of a burst within a factor of 1.25, each "
          "share "
          "asked for within the interval of what was counted, which is no wider than a factor of 3, each jitter "
          "within "
          "5 % of its interval, and nothing is lost, duplicated or reordered unasked",
      .workload = "packets",
      .metric = "variation",
      .x = "delay",
      .rival = Rival::none,
      .group = [](const CellSummary& cell,
                  const Vocabulary& vocabulary) { return vocabulary.spelt(cell.workload, cell.parameters, "engine"); },
      .concerns = [](const Parameters& p) { return integer_of(p, "delay") > 0; },
      .check = as_asked};
}

}  // namespace longhaul::results
