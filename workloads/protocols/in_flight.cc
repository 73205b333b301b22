#include "workloads/protocols/in_flight.hh"

#include <algorithm>

namespace longhaul::workloads::stream {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLeast = 16;             // covers completions that come in groups, and short round trips
constexpr Nanoseconds kShortestRound = 500us;  // a rate over less is noise
constexpr double kGain = 2;
constexpr double kRampGain = 4;  // what is posted now is seen two rounds later
constexpr double kGrowth = 1.25;

}  // namespace

InFlightLimit::InFlightLimit(std::size_t most, Nanoseconds round_trip)
    : most_(most), round_trip_(round_trip), size_(std::min(most, kLeast)) {}

void InFlightLimit::delivered(std::size_t count, std::uint64_t posted, observe::RawTime now) {
  delivered_ += count;
  if (!round_began_) {
    round_from_ = delivered_;
    round_to_ = posted;
    round_began_ = now;
    return;
  }
  const auto lasted = now - *round_began_;
  if (delivered_ < round_to_ || lasted < std::max(round_trip_, kShortestRound)) return;
  const auto before = *std::max_element(rates_.begin(), rates_.end());
  rates_[round_++ % kRounds] = static_cast<double>(delivered_ - round_from_) / static_cast<double>(lasted.count());
  const auto best = *std::max_element(rates_.begin(), rates_.end());
  const auto wanted = (best > kGrowth * before ? kRampGain : kGain) * best * static_cast<double>(round_trip_.count());
  size_ = std::min(most_, kLeast + static_cast<std::size_t>(wanted));
  round_from_ = delivered_;
  round_to_ = posted;
  round_began_ = now;
}

}  // namespace longhaul::workloads::stream
