#include "registration/simulate/sample.hh"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace longhaul::registration {
namespace {

constexpr double kLevel = 0.95;
constexpr unsigned kSampledBlock = 8;  // 2^8 pages: 1 MiB
constexpr unsigned kHashBits = 53;     // all of them exact as a double
constexpr double kHashes = 0x1p53;

// The finaliser of MurmurHash3: every bit of the place changes half of the result's.
std::uint64_t hash(std::uint64_t place) {
  place ^= place >> 33;
  place *= 0xff51afd7ed558ccd;
  place ^= place >> 33;
  place *= 0xc4ceb9fe1a85ec53;
  return (place ^ place >> 33) >> (64 - kHashBits);
}

std::uint64_t rounded(double value) {
  return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0)));
}

}  // namespace

Sampler::Sampler(double rate, bool by_address)
    : rate_(rate),
      samples_(std::min(kMostSamples, static_cast<std::size_t>(1 / rate + 1e-9))),
      shift_(by_address ? kSampledBlock : 0),
      width_(rounded(rate * kHashes)) {}

std::optional<std::size_t> Sampler::sample_of(Pages asked) const {
  const auto sample = hash(asked.first >> shift_) / width_;
  if (sample >= samples_) return std::nullopt;
  return static_cast<std::size_t>(sample);
}

Capacity Sampler::scaled(Capacity whole) const {
  Capacity part{.pages = rounded(rate_ * static_cast<double>(whole.pages)), .regions = whole.regions};
  if (whole.regions != Capacity{}.regions)
    part.regions = std::max<std::uint64_t>(1, rounded(rate_ * static_cast<double>(whole.regions)));
  return part;
}

Estimate estimate(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const boost::math::students_t law{n - 1};
  const double t = boost::math::quantile(law, (1 + kLevel) / 2);
  return {.value = mean, .error = t * std::sqrt(squares / (n - 1) / n)};
}

Tally adjusted(Tally sample, std::uint64_t requests, std::uint64_t pages, double rate) {
  const auto wanted = rounded(rate * static_cast<double>(requests));
  const auto hits =
      static_cast<double>(sample.hits) + static_cast<double>(wanted) - static_cast<double>(sample.requests);
  sample.hits = std::min(rounded(hits), wanted);
  sample.requests = wanted;
  sample.pages = rounded(rate * static_cast<double>(pages));
  return sample;
}

Tally whole_of(std::span<const Tally> samples, std::uint64_t requests, std::uint64_t pages, double rate) {
  const double scale = 1 / (rate * static_cast<double>(samples.size()));
  const auto sum = [&](auto member) {
    double all = 0;
    for (const auto& one : samples) all += static_cast<double>(one.*member);
    return rounded(scale * all);
  };
  return {.requests = requests,
          .pages = pages,
          .hits = sum(&Tally::hits),
          .overlaps = sum(&Tally::overlaps),
          .registrations = sum(&Tally::registrations),
          .registered_pages = sum(&Tally::registered_pages),
          .deregistrations = sum(&Tally::deregistrations),
          .deregistered_pages = sum(&Tally::deregistered_pages),
          .batches = sum(&Tally::batches)};
}

Result<void> check_sampling(double rate, std::span<const Capacity> capacities) {
  if (!(rate > 0 && rate <= 0.5))
    return refuse("--sample: expected a share above 0 and up to 50%, such as 1%: each of up to {} samples has it",
                  kMostSamples);
  for (const auto& capacity : capacities) {
    const auto part = rate * static_cast<double>(capacity.pages);
    if (part >= kLeastSampled) continue;
    return refuse(
        "--capacity of {} KiB is too little for --sample {:g}%: a sample's cache would have {:.0f} pages, of at least "
        "{}; take {:.0f} KiB or more, or a sample of {:.2g}%",
        capacity.pages * kPageSize / 1024, 100 * rate, part, kLeastSampled,
        std::ceil(kLeastSampled / rate) * kPageSize / 1024,
        100 * kLeastSampled / static_cast<double>(capacity.pages) + 0.005);
  }
  return {};
}

}  // namespace longhaul::registration
