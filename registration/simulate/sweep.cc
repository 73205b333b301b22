#include "registration/simulate/sweep.hh"

#include <barrier>
#include <optional>
#include <thread>

#include "registration/simulate/sample.hh"

namespace longhaul::registration {
namespace {

// A batch of requests, whole and by samples.
struct Batch {
  std::vector<Pages> all;
  std::vector<std::vector<Pages>> samples;
};

constexpr std::size_t kAll = ~std::size_t{0};

struct One {
  std::size_t outcome = 0;
  std::size_t sample = kAll;
  Simulation simulation;
  void feed(const Batch& batch) { simulation.feed(sample == kAll ? batch.all : batch.samples[sample]); }
};

std::vector<One> make_all(const SweepOptions& options, const std::optional<Sampler>& sampler, Sweep& result) {
  std::vector<One> all;
  for (std::size_t i = 0; i < options.strategies.size(); ++i) {
    const auto& strategy = options.strategies[i];
    const auto add = [&](Capacity capacity, std::size_t sample) {
      all.push_back({result.outcomes.size() - 1, sample, Simulation{capacity, strategy.policy, strategy.options}});
    };
    // What keeps nothing is exact for nothing.
    if (!strategy.policy) {
      result.outcomes.push_back({.strategy = i, .capacity = {}, .tally = {}});
      add({}, kAll);
      continue;
    }
    for (const auto capacity : options.capacities) {
      result.outcomes.push_back({.strategy = i, .capacity = capacity, .tally = {}});
      if (!sampler) add(capacity, kAll);
      for (std::size_t sample = 0; sampler && sample < sampler->samples(); ++sample)
        add(sampler->scaled(capacity), sample);
    }
  }
  return all;
}

void split(Batch& batch, const std::optional<Sampler>& sampler) {
  if (!sampler) return;
  batch.samples.resize(sampler->samples());
  for (auto& sample : batch.samples) sample.clear();
  for (const auto& asked : batch.all)
    if (const auto sample = sampler->sample_of(asked)) batch.samples[*sample].push_back(asked);
}

void settle(Sweep& result, const std::vector<One>& all, double rate) {
  for (const auto& one : all) {
    auto& outcome = result.outcomes[one.outcome];
    if (one.sample == kAll)
      outcome.tally = one.simulation.tally();
    else
      outcome.samples.push_back(adjusted(one.simulation.tally(), result.requests, result.pages, rate));
  }
  for (auto& outcome : result.outcomes)
    if (!outcome.samples.empty()) outcome.tally = whole_of(outcome.samples, result.requests, result.pages, rate);
}

void note(Sweep& result, const std::vector<Pages>& requests, bool keep) {
  result.requests += requests.size();
  for (const auto& one : requests) {
    result.pages += one.count;
    result.lengths.add(one.count);
  }
  if (keep) result.future.add(requests);
}

}  // namespace

Result<Sweep> sweep(Trace& trace, const SweepOptions& options) {
  Sweep result;
  std::optional<Sampler> sampler;
  if (options.sample > 0) sampler.emplace(options.sample, trace.by_address());
  auto all = make_all(options, sampler, result);
  const auto wanted = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const auto workers = std::min<std::size_t>(wanted, all.size());

  // While the workers are fed one batch, the next is read.
  Batch now;
  Batch following;
  if (auto ok = trace.next(now.all); !ok) return tl::unexpected(ok.error());
  split(now, sampler);
  bool over = now.all.empty();
  std::barrier begin{static_cast<std::ptrdiff_t>(workers) + 1};
  std::barrier end{static_cast<std::ptrdiff_t>(workers) + 1};
  std::vector<std::jthread> threads;
  for (std::size_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      for (;;) {
        begin.arrive_and_wait();
        if (over) return;
        for (auto i = worker; i < all.size(); i += workers) all[i].feed(now);
        end.arrive_and_wait();
      }
    });
  Result<void> outcome;
  while (!over) {
    begin.arrive_and_wait();
    note(result, now.all, options.offline);
    auto read = trace.next(following.all);
    if (read) split(following, sampler);
    end.arrive_and_wait();
    if (!read) outcome = read;
    if (read && options.progress && !options.progress(trace.fraction()))
      outcome = tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    std::swap(now, following);
    over = now.all.empty() || !outcome;
  }
  begin.arrive_and_wait();
  threads.clear();
  if (!outcome) return tl::unexpected(outcome.error());
  result.skipped = trace.skipped();
  settle(result, all, options.sample);
  return result;
}

}  // namespace longhaul::registration
