#include "model/arrivals.hh"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>

#include "common/median.hh"

namespace longhaul {
namespace {

std::uint64_t overtaking(const std::vector<DatagramArrival>& arrivals) {
  std::uint64_t count = 0;
  auto earliest_to_come = std::numeric_limits<std::uint64_t>::max();
  for (auto one = arrivals.rbegin(); one != arrivals.rend(); ++one) {
    if (one->sequence > earliest_to_come) ++count;
    earliest_to_come = std::min(earliest_to_come, one->sequence);
  }
  return count;
}

// Packets lost after the last one that came are no gap.
std::optional<double> lost_in_row(const std::vector<DatagramArrival>& arrivals) {
  std::vector<std::uint64_t> sequences;
  for (const auto& one : arrivals) sequences.push_back(one.sequence);
  std::sort(sequences.begin(), sequences.end());
  std::uint64_t gaps = 0;
  std::uint64_t lost = 0;
  std::uint64_t next = 0;
  for (const auto sequence : sequences) {
    if (sequence > next) ++gaps;
    lost += sequence - next;
    next = sequence + 1;
  }
  if (gaps == 0) return std::nullopt;
  return static_cast<double>(lost) / static_cast<double>(gaps);
}

struct Burst {
  std::size_t came = 0;
  std::int64_t first_sent = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_sent = std::numeric_limits<std::int64_t>::min();
  std::int64_t first_received = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_received = std::numeric_limits<std::int64_t>::min();

  void take(const DatagramArrival& one) {
    ++came;
    first_sent = std::min(first_sent, one.sent);
    last_sent = std::max(last_sent, one.sent);
    first_received = std::min(first_received, one.received);
    last_received = std::max(last_received, one.received);
  }
};

std::optional<double> median_stretch(const std::vector<DatagramArrival>& arrivals, std::size_t burst) {
  std::map<std::uint64_t, Burst> bursts;
  for (const auto& one : arrivals) bursts[one.sequence / burst].take(one);
  std::vector<double> stretches;
  for (const auto& [number, one] : bursts)
    if (one.came == burst && one.last_sent > one.first_sent)
      stretches.push_back(static_cast<double>(one.last_received - one.first_received) /
                          static_cast<double>(one.last_sent - one.first_sent));
  if (stretches.empty()) return std::nullopt;
  return upper_median(std::move(stretches));
}

}  // namespace

std::vector<DatagramArrival> first_copies(std::span<const DatagramArrival> arrivals) {
  std::unordered_set<std::uint64_t> seen;
  std::vector<DatagramArrival> first;
  for (const auto& one : arrivals)
    if (seen.insert(one.sequence).second) first.push_back(one);
  return first;
}

ArrivalFindings assess(std::span<const DatagramArrival> arrivals, std::size_t burst) {
  ArrivalFindings findings;
  const auto first = first_copies(arrivals);
  findings.came = first.size();
  findings.duplicates = arrivals.size() - first.size();
  if (first.empty()) return findings;
  findings.overtaking = overtaking(first);
  findings.lost_in_row = lost_in_row(first);
  std::vector<std::int64_t> delays;
  delays.reserve(first.size());
  for (const auto& one : first) delays.push_back(one.received - one.sent);
  std::sort(delays.begin(), delays.end());
  for (const auto delay : delays) findings.variation.record(delay - delays.front());
  findings.spread = delays[delays.size() - 1 - delays.size() / 4] - delays[delays.size() / 4];
  findings.delays = std::move(delays);
  if (burst > 1) findings.stretch = median_stretch(first, burst);
  return findings;
}

}  // namespace longhaul
