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

using namespace std::chrono_literals;

constexpr std::uint64_t kFirstGuess = 100'000;
constexpr int kRounds = 4;
constexpr double kGoodEnough = 0.01;

constexpr const char* kChanged = "the processor changed its speed during the run";

std::string text_of(double time) {
  return format_quantity(Kind::duration, static_cast<std::int64_t>(time));
}

// Nothing that a compiler could shorten, nothing that leaves the registers.
void spin(std::uint64_t iterations) {
  std::uint64_t x = iterations;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
}

Nanoseconds time_of(std::uint64_t iterations) {
  const auto start = observe::raw_time();
  spin(iterations);
  return observe::raw_time() - start;
}

// The median of a few, so that one interruption does not count.
Nanoseconds typical_time(std::uint64_t iterations, int times) {
  std::array<Nanoseconds, 9> all{};
  const auto last = all.begin() + std::min<int>(times, static_cast<int>(all.size()));
  for (auto it = all.begin(); it != last; ++it) *it = time_of(iterations);
  return std::max(upper_median(std::span{all.begin(), last}), 1ns);
}

std::uint64_t scaled(std::uint64_t iterations, Nanoseconds wanted, Nanoseconds taken) {
  const auto exact = static_cast<double>(iterations) * ratio(wanted, taken);
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::llround(exact)), 1);
}

}  // namespace

Computation::Computation(Nanoseconds length) : length_(length) {
  if (length <= 0ns) return;
  // Warm (frequency, an emulator's translation of this very loop) and roughly right first, then at its own length.
  auto iterations = scaled(kFirstGuess, 1ms, typical_time(kFirstGuess, 9));
  iterations = scaled(iterations, length, typical_time(iterations, 9));
  const int times = length > 20ms ? 1 : length > 2ms ? 3 : 9;
  for (int round = 0; round < kRounds; ++round) {
    const auto taken = typical_time(iterations, times);
    const auto next = scaled(iterations, length, taken);
    if (std::abs(ratio(taken, length) - 1) < kGoodEnough) break;
    iterations = next;
    if (times == 1 && round == 1) break;
  }
  iterations_ = iterations;
}

void Computation::run() const {
  spin(iterations_);
}

Nanoseconds Computation::time() const {
  return time_of(iterations_);
}

void Computation::learn(Nanoseconds taken) {
  if (length_ <= 0ns) return;
  learnt_.push_back(taken);
  // Of long ones there are few.
  const std::size_t enough = length_ > 20ms ? 1 : 9;
  if (learnt_.size() < enough) return;
  const auto typical = upper_median(std::span{learnt_});
  iterations_ = scaled(iterations_, length_, std::max(typical, 1ns));
  learnt_.clear();
}

void Computation::check(double measured) const {
  if (length_ <= 0ns || std::abs(measured / static_cast<double>(length_.count()) - 1) <= kTolerance) return;
  throw std::runtime_error(fmt::format("the computation of {} took {} by itself: {}",
                                       text_of(static_cast<double>(length_.count())), text_of(measured), kChanged));
}

void Computation::check_contained(double alone, double together) {
  if (alone <= together * (1 + kTolerance)) return;
  throw std::runtime_error(fmt::format("the computation took {} by itself and {} with an exchange around it: {}",
                                       text_of(alone), text_of(together), kChanged));
}

}  // namespace longhaul::workloads
