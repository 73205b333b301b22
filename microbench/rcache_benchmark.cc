// The region cache against UCX's registration cache (ucs_rcache, Debian's libucx-dev), both with a registrar that does
// nothing: what is measured is the books. scripts/cache-figures runs it and prints the ratios.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <memory>
#include <random>
#include <stdexcept>

extern "C" {
#include <ucs/memory/rcache.h>
}

#include "registration/cache/executor.hh"
#include "registration/cache/shared_cache.hh"
#include "registration/policies/strategy.hh"

namespace longhaul::registration {
namespace {

constexpr std::size_t kAsked = 1 << 18;  // a power of two
constexpr std::uint64_t kLargest = 4;    // pages

// Regions of 1 to 4 pages, a page between them, and the order in which they are asked for.
struct Work {
  std::vector<Pages> regions;
  std::vector<std::uint32_t> order;
  std::uint64_t span = 0;  // pages

  explicit Work(std::size_t count) {
    std::mt19937 random{1};
    for (std::size_t i = 0; i < count; ++i) {
      regions.push_back({span, 1 + random() % kLargest});
      span = regions.back().end() + 1;
    }
    for (std::size_t i = 0; i < kAsked; ++i) order.push_back(static_cast<std::uint32_t>(random() % count));
  }
};

class Ucx {
 public:
  Ucx(const Work& work, unsigned long most) : span_(work.span * kPageSize) {
    base_ = static_cast<char*>(
        ::mmap(nullptr, span_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    static const ucs_rcache_ops_t ops{
        [](void*, ucs_rcache_t*, void*, ucs_rcache_region_t*, std::uint16_t) {
          ++registered();
          return UCS_OK;
        },
        [](void*, ucs_rcache_t*, ucs_rcache_region_t*) {},
        [](void*, ucs_rcache_t*, ucs_rcache_region_t*, char* text, std::size_t) { *text = '\0'; }};
    ucs_rcache_params_t params{};
    params.region_struct_size = sizeof(ucs_rcache_region_t);
    params.alignment = UCS_RCACHE_MIN_ALIGNMENT;
    params.max_alignment = kPageSize;
    params.ops = &ops;
    // Not UCS_RCACHE_FLAG_NO_PFN_CHECK: UCX 1.13 evicts nothing then. The check itself is off by default.
    params.max_regions = most;
    params.max_size = ~std::size_t{0};
    params.max_unreleased = ~std::size_t{0};
    if (ucs_rcache_create(&params, "benchmark", nullptr, &cache_) != UCS_OK) throw std::runtime_error("no ucs_rcache");
  }
  ~Ucx() {
    ucs_rcache_destroy(cache_);
    ::munmap(base_, span_);
  }
  Ucx(const Ucx&) = delete;
  Ucx& operator=(const Ucx&) = delete;
  void use(Pages asked) {
    ucs_rcache_region_t* region = nullptr;
    ucs_rcache_get(cache_, base_ + asked.first * kPageSize, asked.count * kPageSize, PROT_READ | PROT_WRITE, nullptr,
                   &region);
    benchmark::DoNotOptimize(region);
    ucs_rcache_region_put(cache_, region);
  }

  static std::uint64_t& registered() {
    static std::uint64_t count = 0;
    return count;
  }

 private:
  std::size_t span_;
  char* base_ = nullptr;
  ucs_rcache_t* cache_ = nullptr;
};

class Ours {
 public:
  explicit Ours(unsigned long most)
      : strategy_(parse_strategies("lru", cost_profiles()).value().front()),
        cache_({.pages = ~std::uint64_t{0} / 2, .regions = most}, strategy_.policy, strategy_.options) {}
  static void use(SharedCache::User& user, Pages asked) {
    if (const auto id = user.find(asked); id != kNoRegion) {
      user.release(id);
      return;
    }
    user.exclusively([&](RegionCache& cache) {
      const auto& plan = cache.request(asked);
      leased() = plan.covered;
      for (const auto& gap : plan.gaps) cache.add(gap, leased());
      cache.release(leased());
    });
  }
  SharedCache& cache() { return cache_; }

 private:
  static std::vector<RegionId>& leased() {
    thread_local std::vector<RegionId> all;
    return all;
  }
  Strategy strategy_;
  SharedCache cache_;
};

constexpr unsigned long kAll = ~0UL / 2;

// range(0): regions; range(1): most that are cached, 0: all.
void ucx(benchmark::State& state) {
  const Work work{static_cast<std::size_t>(state.range(0))};
  Ucx cache{work, state.range(1) == 0 ? kAll : static_cast<unsigned long>(state.range(1))};
  for (const auto& region : work.regions) cache.use(region);
  std::size_t i = 0;
  Ucx::registered() = 0;
  for (auto _ : state) cache.use(work.regions[work.order[i++ % kAsked]]);
  // That it misses where it should.
  state.SetLabel(fmt::format("{:.0f} % misses", 100 * static_cast<double>(Ucx::registered()) / static_cast<double>(i)));
}

void ours(benchmark::State& state) {
  const Work work{static_cast<std::size_t>(state.range(0))};
  Ours cache{state.range(1) == 0 ? kAll : static_cast<unsigned long>(state.range(1))};
  SharedCache::User user{cache.cache()};
  for (const auto& region : work.regions) Ours::use(user, region);
  std::size_t i = 0;
  for (auto _ : state) Ours::use(user, work.regions[work.order[i++ % kAsked]]);
}

// The same cache for all threads.
struct Common {
  Work work{1024};
  Ours cache{kAll};
};
std::unique_ptr<Common> common;

void ours_threads(benchmark::State& state) {
  SharedCache::User user{common->cache.cache()};
  auto i = static_cast<std::size_t>(state.thread_index()) * 7919;
  for (auto _ : state) Ours::use(user, common->work.regions[common->work.order[i++ % kAsked]]);
}

void set_up(const benchmark::State&) {
  common = std::make_unique<Common>();
  SharedCache::User user{common->cache.cache()};
  for (const auto& region : common->work.regions) Ours::use(user, region);
}

void tear_down(const benchmark::State&) {
  common.reset();
}

class NoAdapter final : public Registrar {
 public:
  tl::expected<Registered, int> add(Pages) override { return Registered{1, {}}; }
  int remove(Handle) override { return 0; }
};

// A request of a live workload that hits: a lease and its end. range(0): whether mappings are watched, 2:
// and other threads may unmap.
void lease(benchmark::State& state) {
  constexpr std::size_t kRegions = 1024;
  const Work work{kRegions};
  auto* const base = static_cast<char*>(
      ::mmap(nullptr, work.span * kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const auto first = reinterpret_cast<std::uint64_t>(base) / kPageSize;
  {
    NoAdapter adapter;
    const auto strategy = parse_strategies("lru", cost_profiles()).value().front();
    Executor executor{adapter,
                      CacheSetup{.capacity = {work.span}, .policy = strategy.policy, .options = strategy.options}};
    const auto unmapping =
        state.range(0) == 2 ? Executor::Unmapping::by_any_thread : Executor::Unmapping::by_this_thread;
    if (state.range(0) != 0 && !executor.watch({first, work.span}, unmapping)) state.SkipWithError("no userfaultfd");
    std::size_t i = 0;
    const auto use = [&](const Pages& pages) {
      benchmark::DoNotOptimize(executor.lease({first + pages.first, pages.count}));
    };
    for (const auto& region : work.regions) use(region);
    for (auto _ : state) use(work.regions[work.order[i++ % kAsked]]);
  }
  ::munmap(base, work.span * kPageSize);
}

BENCHMARK(lease)->Name("lease/alone")->Arg(0);
BENCHMARK(lease)->Name("lease/watched")->Arg(1);
BENCHMARK(lease)->Name("lease/threads")->Arg(2);
BENCHMARK(ucx)->Name("hit/1024/ucx")->Args({1024, 0});
BENCHMARK(ours)->Name("hit/1024/ours")->Args({1024, 0});
BENCHMARK(ucx)->Name("hit/65536/ucx")->Args({65536, 0});
BENCHMARK(ours)->Name("hit/65536/ours")->Args({65536, 0});
BENCHMARK(ucx)->Name("churn/1024/ucx")->Args({1024, 512});
BENCHMARK(ours)->Name("churn/1024/ours")->Args({1024, 512});
BENCHMARK(ours_threads)->Name("threads")->Setup(set_up)->Teardown(tear_down)->UseRealTime()->Threads(1)->Threads(2);

}  // namespace
}  // namespace longhaul::registration

BENCHMARK_MAIN();
