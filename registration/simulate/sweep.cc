#include "registration/simulate/sweep.hh"

#include <barrier>
#include <thread>

namespace longhaul::registration {
namespace {

struct One {
  SweepOutcome outcome;
  Simulation simulation;
};

std::vector<One> make_all(const SweepOptions& options) {
  std::vector<One> all;
  for (std::size_t i = 0; i < options.strategies.size(); ++i) {
    const auto& strategy = options.strategies[i];
    const auto add = [&](Capacity capacity) {
      all.push_back({{i, capacity, {}}, Simulation{capacity, strategy.policy, strategy.options}});
    };
    if (!strategy.policy)
      add({});
    else
      for (const auto capacity : options.capacities) add(capacity);
  }
  return all;
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
  auto all = make_all(options);
  const auto wanted = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const auto workers = std::min<std::size_t>(wanted, all.size());

  // While the workers are fed one batch, the next is read.
  Sweep result;
  std::vector<Pages> now;
  std::vector<Pages> following;
  if (auto ok = trace.next(now); !ok) return tl::unexpected(ok.error());
  bool over = now.empty();
  std::barrier begin{static_cast<std::ptrdiff_t>(workers) + 1};
  std::barrier end{static_cast<std::ptrdiff_t>(workers) + 1};
  std::vector<std::jthread> threads;
  for (std::size_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      for (;;) {
        begin.arrive_and_wait();
        if (over) return;
        for (auto i = worker; i < all.size(); i += workers) all[i].simulation.feed(now);
        end.arrive_and_wait();
      }
    });
  Result<void> outcome;
  while (!over) {
    begin.arrive_and_wait();
    note(result, now, options.offline);
    auto read = trace.next(following);
    end.arrive_and_wait();
    if (!read) outcome = read;
    if (read && options.progress && !options.progress(trace.fraction()))
      outcome = tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    std::swap(now, following);
    over = now.empty() || !outcome;
  }
  begin.arrive_and_wait();
  threads.clear();
  if (!outcome) return tl::unexpected(outcome.error());
  result.skipped = trace.skipped();
  for (auto& one : all) {
    one.outcome.tally = one.simulation.tally();
    result.outcomes.push_back(one.outcome);
  }
  return result;
}

}  // namespace longhaul::registration
