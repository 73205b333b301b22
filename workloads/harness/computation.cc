#include "workloads/harness/computation.hh"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "common/median.hh"
#include "model/units.hh"
#include "observe/clock.hh"

namespace longhaul::workloads {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kFirstGuess = 100'000;
constexpr int kRounds = 4;
constexpr double kGoodEnough = 0.01;

// Nothing that a compiler could shorten, nothing that leaves the registers.
void spin(std::uint64_t iterations) {
  std::uint64_t x = iterations;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
}

std::int64_t time_of(std::uint64_t iterations) {
  const auto start = observe::raw_time();
  spin(iterations);
  return observe::raw_time() - start;
}

// The median of a few, so that one interruption does not count.
double typical_time(std::uint64_t iterations, int times) {
  std::array<std::int64_t, 9> all{};
  const auto last = all.begin() + std::min<int>(times, static_cast<int>(all.size()));
  for (auto it = all.begin(); it != last; ++it) *it = time_of(iterations);
  return static_cast<double>(std::max<std::int64_t>(upper_median(std::span{all.begin(), last}), 1));
}

std::uint64_t scaled(std::uint64_t iterations, std::int64_t wanted, double taken) {
  return std::max<std::uint64_t>(
      static_cast<std::uint64_t>(std::llround(static_cast<double>(iterations) * static_cast<double>(wanted) / taken)),
      1);
}

}  // namespace

Computation::Computation(std::int64_t length) : length_(length) {
  if (length <= 0) return;
  // Warm (frequency, an emulator's translation of this very loop) and roughly right first, then at its own length.
  auto iterations = scaled(kFirstGuess, kMillisecond, typical_time(kFirstGuess, 9));
  iterations = scaled(iterations, length, typical_time(iterations, 9));
  const int times = length > 20 * kMillisecond ? 1 : length > 2 * kMillisecond ? 3 : 9;
  for (int round = 0; round < kRounds; ++round) {
    const auto taken = typical_time(iterations, times);
    const auto next = scaled(iterations, length, taken);
    if (std::abs(taken / static_cast<double>(length) - 1) < kGoodEnough) break;
    iterations = next;
    if (times == 1 && round == 1) break;
  }
  iterations_ = iterations;
}

void Computation::run() const {
  spin(iterations_);
}

std::int64_t Computation::time() const {
  return time_of(iterations_);
}

void Computation::learn(std::int64_t taken) {
  if (length_ <= 0) return;
  learnt_.push_back(taken);
  // Of long ones there are few.
  const std::size_t enough = length_ > 20 * kMillisecond ? 1 : 9;
  if (learnt_.size() < enough) return;
  const auto typical = upper_median(std::span{learnt_});
  iterations_ = scaled(iterations_, length_, static_cast<double>(std::max<std::int64_t>(typical, 1)));
  learnt_.clear();
}

void Computation::check(double measured) const {
  if (length_ <= 0 || std::abs(measured / static_cast<double>(length_) - 1) <= kTolerance) return;
  throw std::runtime_error(fmt::format(
      "the computation of {} took {} by itself: the processor changed its speed during the run",
      format_quantity(Kind::duration, length_), format_quantity(Kind::duration, static_cast<std::int64_t>(measured))));
}

}  // namespace longhaul::workloads
