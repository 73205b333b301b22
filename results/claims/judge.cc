#include "results/claims/judge.hh"

#include <algorithm>

namespace longhaul::results {
namespace {

constexpr double kAlike = 1.05;
constexpr double kError = 0.05;  // of a verdict

double joint_level(std::size_t family) {
  return 1 - kError / static_cast<double>(std::max<std::size_t>(family, 1));
}

bool without_scatter(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

// Figures by a virtual clock may have no scatter at all: then "equal" is a decision, neither above nor below.
bool is_exactly(const Interval& interval, double value) {
  return interval.low == value && interval.high == value;
}

}  // namespace

Measured Measured::over(double unit) const {
  const auto scaled = [unit](const Interval& one) { return Interval{one.low / unit, one.high / unit, one.level}; };
  Measured result{.ratio = {.value = ratio.value / unit, .interval = {}}, .joint = {}};
  if (ratio.interval) result.ratio.interval = scaled(*ratio.interval);
  if (joint) result.joint = scaled(*joint);
  return result;
}

Measured compared(std::span<const double> a, std::span<const double> b, std::size_t family) {
  const auto ratio = ratio_interval(a, b);
  if (!ratio) return {};
  Measured result{.ratio = *ratio, .joint = {}};
  // More runs would give the same again: nothing is left to chance.
  result.joint =
      without_scatter(a) && without_scatter(b) ? ratio->interval : ratio_interval(a, b, joint_level(family))->interval;
  return result;
}

Measured compared(const CellSummary& a, const CellSummary& b, const std::string& metric, std::size_t family) {
  const auto* first = a.metric(metric);
  const auto* second = b.metric(metric);
  if (first == nullptr || second == nullptr) return {};
  return compared(first->values, second->values, family);
}

Measured typical(std::span<const double> values, std::size_t family) {
  if (values.empty()) return {};
  Measured result{.ratio = {.value = median(values), .interval = median_interval(values)}, .joint = {}};
  result.joint = without_scatter(values) ? result.ratio.interval : median_interval(values, joint_level(family));
  return result;
}

Measured exactly(double value) {
  const Interval interval{value, value, 1};
  return {.ratio = {.value = value, .interval = interval}, .joint = interval};
}

Judgement equal_within(const Measured& ratio, double factor) {
  const auto& near = ratio.ratio.interval;
  const auto& far = ratio.joint;
  if (near && near->low >= 1 / factor && near->high <= factor) return Judgement::yes;
  return far && (far->high < 1 / factor || far->low > factor) ? Judgement::no : Judgement::unsure;
}

Judgement above(const Measured& ratio, double bound) {
  if (ratio.ratio.interval && ratio.ratio.interval->low > bound) return Judgement::yes;
  const auto& far = ratio.joint;
  return far && (far->high < bound || is_exactly(*far, bound)) ? Judgement::no : Judgement::unsure;
}

Judgement below(const Measured& ratio, double bound) {
  if (ratio.ratio.interval && ratio.ratio.interval->high < bound) return Judgement::yes;
  const auto& far = ratio.joint;
  return far && (far->low > bound || is_exactly(*far, bound)) ? Judgement::no : Judgement::unsure;
}

Judgement smaller(const Measured& first, const Measured& second) {
  const auto& one = first.ratio.interval;
  const auto& other = second.ratio.interval;
  if (one && other && one->high < other->low) return Judgement::yes;
  if (!first.joint || !second.joint) return Judgement::unsure;
  const bool equal = is_exactly(*first.joint, second.joint->low) && is_exactly(*second.joint, first.joint->low);
  return first.joint->low > second.joint->high || equal ? Judgement::no : Judgement::unsure;
}

Judgement all_of(const std::vector<Judgement>& judgements) {
  const auto has = [&](Judgement one) {
    return std::find(judgements.begin(), judgements.end(), one) != judgements.end();
  };
  if (has(Judgement::no)) return Judgement::no;
  return judgements.empty() || has(Judgement::unsure) ? Judgement::unsure : Judgement::yes;
}

Judgement leads(const std::vector<Measured>& ratios) {
  const auto any = [&](auto predicate) { return std::any_of(ratios.begin(), ratios.end(), predicate); };
  if (any([](const auto& one) { return one.joint && one.joint->high < 1; })) return Judgement::no;
  if (any([](const auto& one) { return one.joint && one.joint->low > 1; })) return Judgement::yes;
  if (ratios.empty() || any([](const auto& one) { return equal_within(one, kAlike) != Judgement::yes; }))
    return Judgement::unsure;
  return Judgement::no;
}

Finding conclude(Judgement judgement, std::string reason, std::vector<Evidence> evidence) {
  if (judgement == Judgement::unsure)
    return undecided("the intervals are too wide, or too few runs: " + reason, std::move(evidence));
  Finding finding;
  finding.verdict = judgement == Judgement::yes ? Verdict::holds : Verdict::does_not_hold;
  finding.reason = std::move(reason);
  finding.evidence = std::move(evidence);
  return finding;
}

Finding undecided(std::string reason, std::vector<Evidence> evidence) {
  Finding finding;
  finding.reason = std::move(reason);
  finding.evidence = std::move(evidence);
  return finding;
}

}  // namespace longhaul::results
