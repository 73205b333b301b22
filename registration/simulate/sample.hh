// Sampling in space: a few places of memory, all requests for them, and a cache that is as much smaller as they are
// fewer, behave as the whole does (SHARDS: Waldspurger and others, FAST 2015; for any policy: miniature simulation,
// Waldspurger and others, USENIX ATC 2017). Several samples that share no place tell how far off each may be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/result.hh"
#include "registration/simulate/simulation.hh"

namespace longhaul::registration {

/// More samples than this say little more about the error.
inline constexpr std::size_t kMostSamples = 8;
/// Pages of a sample's cache, at least: four requests of the largest size that traces are split into.
inline constexpr std::uint64_t kLeastSampled = 128;

class Sampler {
 public:
  /// `rate`: the share of memory that each sample has, above 0 to 1/2. `by_address`: requests overlap one another
  /// anyhow; then what is taken or not is 1 MiB of memory, else what is asked for itself.
  Sampler(double rate, bool by_address);
  std::size_t samples() const { return samples_; }
  /// 0 .. samples() - 1; none: no sample has it.
  std::optional<std::size_t> sample_of(Pages asked) const;
  /// A sample's part of it.
  Capacity scaled(Capacity whole) const;

 private:
  double rate_;
  std::size_t samples_;
  unsigned shift_;
  std::uint64_t width_;  // of a sample, in hashes
};

/// `error`: the half-width of a 95 % interval by Student's t over the samples.
struct Estimate {
  double value = 0;
  double error = 0;
};
/// Mean and error of what the samples say each. At least two values.
Estimate estimate(std::span<const double> values);

/// What a sample would have counted, had it drawn its share of the requests and pages exactly: what it lacks of them
/// (or has too many, negative) are hits, since only what is asked for often can make that difference (SHARDS-adj,
/// section 3.3 of the paper).
Tally adjusted(Tally sample, std::uint64_t requests, std::uint64_t pages, double rate);

/// The whole from adjusted samples.
Tally whole_of(std::span<const Tally> samples, std::uint64_t requests, std::uint64_t pages, double rate);

/// Refuses a rate without error (fewer than two samples) and capacities whose sample is too small to behave like it.
Result<void> check_sampling(double rate, std::span<const Capacity> capacities);

}  // namespace longhaul::registration
