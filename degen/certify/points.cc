#include "degen/certify/points.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/median.hh"
#include "degen/engines/planner.hh"
#include "degen/impairment/plan.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHeaders = 28;        // of IP and UDP
constexpr std::int64_t kBurst = 20;          // packets, where the rate is measured
constexpr double kKeptPace = 0.9;            // a sender that is slower says nothing about the engine
constexpr Nanoseconds kAround{500'000'000};  // applying, waiting for stragglers, clearing

std::int64_t bytes_on_link(const Pace& pace) {
  return pace.size + kHeaders + kLinkHeader;
}

Pace paced(std::int64_t packets_a_second, const CertifyGrid& grid) {
  const auto interval = kSecond / packets_a_second;
  return {.size = grid.size,
          .interval = Nanoseconds{interval},
          .count = std::max<std::int64_t>(1, grid.duration.count() / interval)};
}

// Bursts that the link has sent when the next one comes.
Pace paced(BitRate rate, Nanoseconds duration) {
  Pace pace{.size = kMostPayload, .burst = kBurst};
  pace.interval = time_on_link(bytes_on_link(pace), rate) * kBurst * 3 / 2;
  pace.count = kBurst * std::max<std::int64_t>(1, duration / pace.interval);
  return pace;
}

// With `rank` in thousandths of what is sorted.
double quantile(const std::vector<std::int64_t>& sorted, std::size_t rank) {
  return static_cast<double>(sorted[std::min(sorted.size() - 1, sorted.size() * rank / 1000)]);
}

}  // namespace

std::int64_t packets_a_second(const Pace& pace) {
  return std::llround(static_cast<double>(pace.burst * kSecond) / static_cast<double>(pace.interval.count()));
}

std::vector<std::string> certifiable() {
  auto engines = engine_names();
  engines.emplace_back(kRawNetem);
  return engines;
}

Result<std::vector<CertifyPoint>> points_of(const CertifyGrid& grid) {
  if (grid.size < kLeastPayload || grid.size > kMostPayload)
    return refuse("--size {}: a datagram has {} to {} bytes", grid.size, kLeastPayload, kMostPayload);
  if (grid.duration.count() <= 0) return refuse("--duration: how long datagrams are sent; more than 0");
  const auto known = certifiable();
  for (const auto& engine : grid.engines)
    if (std::find(known.begin(), known.end(), engine) == known.end())
      return refuse("--engine {}: there are {}", engine, fmt::join(known, ", "));
  std::vector<CertifyPoint> points;
  std::set<Pace> known_paces;
  const auto add = [&](const Pace& pace, Nanoseconds delay, BitRate rate) {
    if (known_paces.insert(pace).second) points.push_back({.engine = kNoEngine, .pace = pace});
    for (const auto& engine : grid.engines)
      points.push_back({.engine = engine, .delay = delay, .rate = rate, .pace = pace});
  };
  for (const auto rate : grid.packets_a_second) {
    if (rate < 1 || rate > kSecond) return refuse("--packets-per-second {}: 1 to {}", rate, kSecond);
    for (const auto delay : grid.delays) {
      if (delay.count() <= 0) return refuse("--delay 0: the router by itself is measured anyway");
      add(paced(rate, grid), delay, {});
    }
  }
  for (const auto rate : grid.rates) {
    if (rate.bits_per_second <= 0) return refuse("--rate 0: that is no limit");
    add(paced(rate, grid.duration), kRatesDelay, rate);
  }
  for (const auto& point : points)
    if (auto made = make_impairment(parameters_of(point)); !made) return tl::unexpected(made.error());
  return points;
}

Parameters parameters_of(const CertifyPoint& point) {
  Parameters parameters;
  if (point.delay.count() > 0) parameters["delay"] = Value{point.delay.count()};
  if (point.rate.bits_per_second > 0) parameters["rate"] = Value{point.rate.bits_per_second};
  return parameters;
}

std::vector<std::string> raw_netem(const CertifyPoint& point, const std::string& interface) {
  std::vector<std::string> words{"tc", "qdisc", "replace", "dev", interface, "root", "netem"};
  if (point.delay.count() > 0)
    words.insert(words.end(), {"delay", fmt::format("{}us", static_cast<double>(point.delay.count()) / 1e3)});
  if (point.rate.bits_per_second > 0)
    words.insert(words.end(), {"rate", fmt::format("{}bit", point.rate.bits_per_second)});
  return words;
}

Nanoseconds duration_of(const CertifyPoint& point) {
  return 2 * (point.pace.interval * (point.pace.count / point.pace.burst) + point.delay) + kAround;
}

std::vector<std::int64_t> due(std::span<const std::int64_t> arrivals, std::int64_t bytes, BitRate rate,
                              Nanoseconds delay) {
  std::vector<std::int64_t> leave;
  leave.reserve(arrivals.size());
  const auto on_link = rate.bits_per_second > 0 ? time_on_link(bytes, rate) : Nanoseconds{0};
  std::int64_t link_free = 0;
  for (const auto arrival : arrivals) {
    link_free = std::max(link_free, arrival) + on_link.count();
    leave.push_back(link_free + delay.count());
  }
  return leave;
}

WayFound assess(const CertifyPoint& point, const WayObserved& observed, double path) {
  WayFound found;
  const auto sent = static_cast<double>(observed.sent);
  if (observed.took.count() > 0) found.packets_a_second = sent / static_cast<double>(observed.took.count()) * kSecond;
  const auto seen = longhaul::assess(observed.arrivals, static_cast<std::size_t>(point.pace.burst));
  found.loss = (sent - static_cast<double>(seen.came)) / sent;
  found.duplicates = static_cast<double>(seen.duplicates) / sent;
  found.reordered = static_cast<double>(seen.overtaking) / sent;
  found.stretch = seen.stretch;
  if (seen.came == 0) return found;
  found.variation = quantile(seen.delays, 990) - static_cast<double>(seen.delays.front());
  found.path = quantile(seen.delays, 500);

  auto in_order = first_copies(observed.arrivals);
  std::sort(in_order.begin(), in_order.end(),
            [](const auto& one, const auto& other) { return one.sequence < other.sequence; });
  std::vector<std::int64_t> came;
  for (const auto& one : in_order) came.push_back(one.sent);
  const auto should = due(came, bytes_on_link(point.pace), point.rate, point.delay);
  std::vector<std::int64_t> off;
  for (std::size_t i = 0; i < in_order.size(); ++i) off.push_back(in_order[i].received - should[i]);
  std::sort(off.begin(), off.end());
  found.error = quantile(off, 500) - path;
  found.p99 = quantile(off, 990) - path;
  return found;
}

CertifiedPoint certified(const CertifyPoint& point, const std::vector<WayFound>& found, const std::string& refusal) {
  CertifiedPoint result{.delay = point.delay.count(),
                        .rate = point.rate.bits_per_second,
                        .packets_a_second = packets_a_second(point.pace),
                        .size = point.pace.size,
                        .runs = static_cast<int>(found.size())};
  if (!refusal.empty() || found.empty()) {
    result.broken = refusal.empty() ? "it was not measured" : refusal;
    return result;
  }
  std::vector<double> errors, p99, variations, stretches;
  auto slowest = found.front().packets_a_second;
  for (const auto& way : found) {
    errors.push_back(std::abs(way.error));
    p99.push_back(way.p99);
    variations.push_back(way.variation);
    if (way.stretch) stretches.push_back(*way.stretch);
    result.loss = std::max(result.loss, way.loss);
    result.duplicates = std::max(result.duplicates, way.duplicates);
    result.reordered = std::max(result.reordered, way.reordered);
    slowest = std::min(slowest, way.packets_a_second);
  }
  if (point.engine != kNoEngine) {
    result.largest_error = *std::max_element(errors.begin(), errors.end());
    result.error = upper_median(errors);
    result.p99 = upper_median(p99);
  }
  result.variation = upper_median(variations);
  if (!stretches.empty()) result.stretch = upper_median(stretches);
  result.broken = fault_of(result);
  if (result.broken.empty() && slowest < kKeptPace * static_cast<double>(result.packets_a_second))
    result.broken = fmt::format("this machine sent only {:.0f} packets/s", slowest);
  return result;
}

}  // namespace longhaul::degen
