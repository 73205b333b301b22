#include "degen/service/calibration.hh"

#include <algorithm>
#include <cmath>

#include "model/codec.hh"

namespace longhaul::degen {
namespace {

std::string_view name_of(Way way) {
  return way == Way::forward ? "forward" : "back";
}

double distance(std::int64_t a, std::int64_t b) {
  return std::abs(std::log1p(static_cast<double>(a)) - std::log1p(static_cast<double>(b)));
}

std::int64_t midhinge(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto quarter = values.size() / 4;
  return (values[quarter] + values[values.size() - 1 - quarter]) / 2;
}

// More entries than a campaign has delays would be somebody's sweep; the oldest go.
constexpr std::size_t kMaxEntries = 1000;

}  // namespace

Nanoseconds Calibration::estimate(std::string_view engine, Way way, Nanoseconds delay) const {
  const LatenessEntry* best = nullptr;
  for (const auto& entry : lateness) {
    if (entry.engine != engine || entry.way != name_of(way)) continue;
    if (best == nullptr || distance(entry.delay, delay.count()) < distance(best->delay, delay.count())) best = &entry;
  }
  return Nanoseconds{best == nullptr ? 0 : midhinge(best->recent)};
}

void Calibration::learn(std::string_view engine, Way way, Nanoseconds delay, Nanoseconds late) {
  auto it = std::find_if(lateness.begin(), lateness.end(), [&](const auto& entry) {
    return entry.engine == engine && entry.way == name_of(way) && entry.delay == delay.count();
  });
  if (it == lateness.end()) {
    if (lateness.size() >= kMaxEntries) lateness.erase(lateness.begin());
    it = lateness.insert(
        lateness.end(),
        {.engine = std::string{engine}, .way = std::string{name_of(way)}, .delay = delay.count(), .recent = {}});
  }
  it->recent.push_back(late.count());
  if (it->recent.size() > kRemembered) it->recent.erase(it->recent.begin());
}

std::string to_json(const Calibration& calibration) {
  return codec::serialize(calibration);
}
Result<Calibration> calibration_from_json(std::string_view text) {
  return codec::parse<Calibration>(text);
}

}  // namespace longhaul::degen
