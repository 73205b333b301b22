#include "workloads/protocols/strategy.hh"

#include <algorithm>
#include <stdexcept>

#include "registration/policies/strategy.hh"

namespace longhaul::workloads {
namespace {

using namespace registration;

// Ordinary registration is what ibv_reg_mr does, so that is what the policy that weighs costs goes by.
constexpr const char* kProfile = "mietke";

// The simulator's policy behind a word of the axis.
std::string policy_of(const std::string& strategy) {
  return strategy == "best" ? "rate" : strategy;
}

std::optional<CacheSetup> cache_of(const StrategyOptions& options) {
  if (options.strategy == "each-time" || options.windows()) return std::nullopt;
  const auto strategies = parse_strategies(policy_of(options.strategy), cost_profiles());
  if (!strategies) throw std::runtime_error(strategies.error().message);
  const auto chosen = std::find_if(strategies->begin(), strategies->end(),
                                   [](const Strategy& one) { return one.weighs.empty() || one.weighs == kProfile; });
  return CacheSetup{.capacity = {.pages = std::max<std::uint64_t>(1, options.capacity / kPageSize)},
                    .policy = chosen->policy,
                    .options = chosen->options};
}

}  // namespace

StrategyOptions strategy_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  if (!offers(transport, Capability::registration)) return {};
  return {.strategy = text(parameters, spec.parameters, "strategy"),
          .capacity = static_cast<std::size_t>(integer(parameters, spec.parameters, "capacity"))};
}

Buffers::Buffers(Connection& connection, const StrategyOptions& options)
    : base_(reinterpret_cast<std::size_t>(connection.memory().data())) {
  if (!options.registers()) return;
  registrar_ = options.windows() ? connection.windows() : connection.registrar();
  if (registrar_ == nullptr) throw Unsupported("strategy fast: this connection has no memory windows");
  executor_ = std::make_unique<Executor>(*registrar_, cache_of(options), options.deferred);
  // The connection owns this memory, and its thread is the one that would unmap it.
  const auto area = *pages_of(base_, connection.memory().size());
  if (auto watched = executor_->watch(area, Executor::Unmapping::by_this_thread); !watched)
    throw Unsupported(fmt::format("strategy {}: {}; allow userfaultfd(2) (a container's seccomp profile may forbid it)",
                                  options.strategy, watched.error().message));
}

Buffers::Use Buffers::begin(std::size_t offset, std::size_t length) {
  Use use;
  use.offset_ = offset;
  use.length_ = length;
  if (executor_) {
    use.lease_ = executor_->begin(*pages_of(base_ + offset, length));
    list_pieces(use);
  } else {
    use.pieces_.push_back({offset, length, {}});
  }
  return use;
}

void Buffers::complete(Use& use) {
  if (!use.lease_) return;
  if (auto done = executor_->complete(*use.lease_); !done) throw std::runtime_error(done.error().message);
  list_pieces(use);
}

// Regions are pages; the buffer may begin and end within one.
void Buffers::list_pieces(Use& use) const {
  use.pieces_.clear();
  for (const auto& piece : use.lease_->pieces()) {
    const auto first = std::max(piece.pages.first * kPageSize, base_ + use.offset_);
    const auto end = std::min(piece.pages.end() * kPageSize, base_ + use.offset_ + use.length_);
    use.pieces_.push_back({first - base_, end - first, piece.keys});
  }
}

std::map<std::string, Metric> registration_metrics(const ExecutorCounters& counters, std::uint64_t messages) {
  if (messages == 0) return {};
  const auto per_message = [&](std::int64_t nanoseconds) {
    return to_metric(static_cast<double>(nanoseconds) / static_cast<double>(messages), messages);
  };
  std::map<std::string, Metric> metrics{
      {"registering", per_message(counters.registering)},
      {"deregistering", per_message(counters.deregistering)},
      {"hit_ratio",
       to_metric(static_cast<double>(counters.hits) / static_cast<double>(counters.requests), counters.requests)},
      {"misses", to_metric(static_cast<double>(counters.requests - counters.hits), counters.requests)},
      {"evictions", to_metric(static_cast<double>(counters.evictions), counters.requests)}};
  if (counters.deregistrations > 0)
    metrics["exposure"] =
        to_metric(static_cast<double>(counters.exposed) / static_cast<double>(counters.deregistrations),
                  counters.deregistrations);
  return metrics;
}

}  // namespace longhaul::workloads
