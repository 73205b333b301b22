#include "results/claims/judge.hh"

#include <algorithm>

namespace longhaul::results {
namespace {

constexpr double kAlike = 1.05;

// What a virtual clock measures may have no scatter at all: then equal is decided, neither above nor below.
bool is_exactly(const Interval& interval, double value) {
  return interval.low == value && interval.high == value;
}

}  // namespace

Judgement equal_within(const Ratio& ratio, double factor) {
  if (!ratio.interval) return Judgement::unsure;
  const auto& [low, high, level] = *ratio.interval;
  if (low >= 1 / factor && high <= factor) return Judgement::yes;
  return high < 1 / factor || low > factor ? Judgement::no : Judgement::unsure;
}

Judgement above(const Ratio& ratio, double bound) {
  if (!ratio.interval) return Judgement::unsure;
  if (ratio.interval->low > bound) return Judgement::yes;
  return ratio.interval->high < bound || is_exactly(*ratio.interval, bound) ? Judgement::no : Judgement::unsure;
}

Judgement below(const Ratio& ratio, double bound) {
  if (!ratio.interval) return Judgement::unsure;
  if (ratio.interval->high < bound) return Judgement::yes;
  return ratio.interval->low > bound || is_exactly(*ratio.interval, bound) ? Judgement::no : Judgement::unsure;
}

Judgement smaller(const Ratio& first, const Ratio& second) {
  if (!first.interval || !second.interval) return Judgement::unsure;
  const auto& [one, other] = std::pair{*first.interval, *second.interval};
  if (one.high < other.low) return Judgement::yes;
  const bool equal = is_exactly(one, other.low) && is_exactly(other, one.low);
  return one.low > other.high || equal ? Judgement::no : Judgement::unsure;
}

Judgement all_of(const std::vector<Judgement>& judgements) {
  const auto has = [&](Judgement one) {
    return std::find(judgements.begin(), judgements.end(), one) != judgements.end();
  };
  if (has(Judgement::no)) return Judgement::no;
  return judgements.empty() || has(Judgement::unsure) ? Judgement::unsure : Judgement::yes;
}

Judgement leads(const std::vector<Ratio>& ratios) {
  const auto any = [&](auto predicate) { return std::any_of(ratios.begin(), ratios.end(), predicate); };
  if (any([](const auto& ratio) { return below(ratio, 1) == Judgement::yes; })) return Judgement::no;
  if (any([](const auto& ratio) { return above(ratio, 1) == Judgement::yes; })) return Judgement::yes;
  if (ratios.empty() || any([](const auto& ratio) { return equal_within(ratio, kAlike) != Judgement::yes; }))
    return Judgement::unsure;
  return Judgement::no;
}

Finding conclude(Judgement judgement, std::string reason, std::vector<Evidence> evidence) {
  Finding finding;
  finding.reason = std::move(reason);
  finding.evidence = std::move(evidence);
  if (judgement == Judgement::yes) finding.verdict = Verdict::holds;
  if (judgement == Judgement::no) finding.verdict = Verdict::does_not_hold;
  if (judgement == Judgement::unsure) finding.reason = "the intervals are too wide, or too few runs: " + finding.reason;
  return finding;
}

}  // namespace longhaul::results
