// A registration that the preloaded cache finds, and its deregistration, over verbs that do nothing: what is beyond the
// two calls is the cache's. docs/performance.md has the figures.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "registration/preload/keeper.hh"

namespace longhaul::registration {
namespace {

constexpr std::size_t kBuffers = 256;  // a power of two
constexpr std::size_t kLength = 2 * kPageSize;

ibv_context device{};
ibv_pd domain{.context = &device, .handle = 0};

Verbs no_verbs() {
  Verbs verbs;
  verbs.reg_mr = [](ibv_pd* pd, void* address, std::size_t length, int) {
    return new ibv_mr{pd->context, pd, address, length, 0, 1, 1};
  };
  verbs.dereg_mr = [](ibv_mr* mr) {
    delete mr;
    return 0;
  };
  return verbs;
}

// range(0): whether other threads may unmap memory; range(1): the policy, LRU or rate.
std::unique_ptr<Keeper> keeper;
char* memory = nullptr;

void use(std::size_t number) {
  auto* const buffer = memory + number * kLength;
  auto* const mr =
      keeper->add({&domain, buffer, kLength, reinterpret_cast<std::uint64_t>(buffer), IBV_ACCESS_LOCAL_WRITE});
  benchmark::DoNotOptimize(mr->lkey);
  keeper->remove(mr);
}

void set_up(const benchmark::State& state) {
  memory = static_cast<char*>(
      ::mmap(nullptr, kBuffers * kLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Settings settings;
  settings.bytes = 2 * kBuffers * kLength;
  settings.policy = state.range(1) == 0 ? "lru" : "rate";
  settings.unmapping = state.range(0) == 1 ? Executor::Unmapping::by_any_thread : Executor::Unmapping::by_this_thread;
  auto opened = Keeper::open(no_verbs(), settings, "6.1.0", [] {});
  if (!opened) return;
  keeper = std::move(*opened);
  for (std::size_t i = 0; i < kBuffers; ++i) use(i);
}
void tear_down(const benchmark::State&) {
  keeper.reset();
  ::munmap(memory, kBuffers * kLength);
}

void hit(benchmark::State& state) {
  if (keeper == nullptr) return state.SkipWithError("no userfaultfd");
  auto i = static_cast<std::size_t>(state.thread_index()) * 101;
  for (auto _ : state) use(i++ * 31 % kBuffers);
  if (state.thread_index() == 0) {
    const auto seen = keeper->statistics();
    state.SetLabel(fmt::format("{} misses", seen.misses));
  }
}

// What any such library has to do besides: one system call of this kind.
void call(benchmark::State& state) {
  const auto fault = static_cast<int>(::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{.api = UFFD_API, .features = UFFD_FEATURE_EVENT_UNMAP, .ioctls = 0};
  if (::ioctl(fault, UFFDIO_API, &api) < 0) return state.SkipWithError("no userfaultfd");
  for (auto _ : state) {
    uffdio_writeprotect nothing{};
    benchmark::DoNotOptimize(::ioctl(fault, UFFDIO_WRITEPROTECT, &nothing));
  }
  ::close(fault);
}

BENCHMARK(call);
void each(benchmark::internal::Benchmark* one) {
  one->Setup(set_up)->Teardown(tear_down)->UseRealTime()->Threads(1)->Threads(2);
}
BENCHMARK(hit)->Name("hit/own/lru")->Args({0, 0})->Apply(each);
BENCHMARK(hit)->Name("hit/own/rate")->Args({0, 1})->Apply(each);
BENCHMARK(hit)->Name("hit/any/lru")->Args({1, 0})->Apply(each);

}  // namespace
}  // namespace longhaul::registration

BENCHMARK_MAIN();
