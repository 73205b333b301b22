#include "results/claims/emulation.hh"

#include <cmath>

#include "model/units.hh"
#include "results/claims/judge.hh"
#include "results/summary/clock.hh"

namespace longhaul::results {
namespace {

constexpr double kSpacingKept = 1.25;  // a burst's length behind the router against before it

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

Ratio against(const MetricSummary& measured, double asked) {
  Ratio ratio{.value = measured.median / asked, .interval = {}};
  if (measured.interval)
    ratio.interval =
        Interval{measured.interval->low / asked, measured.interval->high / asked, measured.interval->level};
  return ratio;
}

// `slack`: as far off as a delay may be.
Judgement contains_one(const Ratio& ratio, double slack) {
  if (!ratio.interval) return Judgement::unsure;
  return ratio.interval->low <= 1 + slack && ratio.interval->high >= 1 - slack ? Judgement::yes : Judgement::no;
}

/// All that the cells of one engine say.
class Account {
 public:
  void take(const CellSummary& cell) {
    ++cells_;
    at_ = asked_of(cell);
    if (cell.forward.asked > 0 && cell.forward.achieved)
      show("delay, measured / asked",
           {.value = *cell.forward.achieved / static_cast<double>(cell.forward.asked), .interval = {}});
    if (const auto* stretch = cell.metric("stretch")) {
      show("length of a burst, behind / before the router", against(*stretch, 1));
      judge(equal_within(against(*stretch, 1), kSpacingKept),
            fmt::format("bursts get {:.2f} times as long", stretch->median));
    }
    const auto jitter = static_cast<double>(integer_of(cell.parameters, "jitter"));
    // Where the order is kept, a packet that is late holds up those behind it: the spread is not the jitter's alone.
    if (const auto* spread = cell.metric("spread");
        spread != nullptr && jitter > 0 && is(cell.parameters, "jitter_order", "free"))
      // The path's own scatter adds to it: the tolerance of a delay.
      asked("jitter", *spread, jitter * quartile_range(cell), noisy(cell) ? 0.05 : 0.01);
    for (const auto& share : kShares) {
      const auto* measured = cell.metric(share.metric);
      if (measured == nullptr) continue;
      const auto parts = integer_of(cell.parameters, share.parameter);
      if (parts > 0)
        asked(share.parameter, *measured, static_cast<double>(parts) / 1e6);
      else if (measured->median > 0 && jitter == 0)
        judge(Judgement::no, fmt::format("{:.3g} % {} unasked", 100 * measured->median, share.metric));
    }
    if (const auto* variation = cell.metric("variation"); variation != nullptr && variation->p99 && jitter == 0)
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
  void asked(const char* what, const MetricSummary& measured, double value, double slack = 0) {
    const auto ratio = against(measured, value);
    show(std::string{what} + ", measured / asked", ratio);
    judge(contains_one(ratio, slack), fmt::format("{} is {:.2f} of what was asked", what, ratio.value));
  }

  std::string at_;
  std::string faults_;
  std::vector<Judgement> judgements_;
  std::vector<Evidence> evidence_;
  double latest_ = 0;
  int cells_ = 0;
};

Finding as_asked(const Claim&, const std::vector<Match>& matches) {
  Account account;
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
          "the length of a burst stays within a factor of 1.25, each share asked for lies within the interval of "
          "what was measured, each jitter within 1 % (emulated: 5 %) of it, and nothing is lost, duplicated or "
          "reordered unasked (delays: a run "
          "off its tolerance is refused and does not count)",
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
