#include "agents/probe_times.hh"

#include "common/random.hh"

namespace longhaul::agents {

std::vector<Nanoseconds> probe_times(const ProbeRequest& request) {
  Random random{request.seed};
  std::vector<Nanoseconds> times;
  times.reserve(static_cast<std::size_t>(request.count));
  for (std::int64_t i = 0; i < request.count; ++i) {
    const auto within = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(request.interval)));
    times.emplace_back(i * request.interval + within);
  }
  return times;
}

}  // namespace longhaul::agents
