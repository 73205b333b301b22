#include "registration/preload/threads.hh"

#include "common/error.hh"

namespace longhaul::registration {
namespace {

struct Current {
  void* thread = nullptr;
  std::uint64_t keeper = 0;
};
thread_local Current current;

}  // namespace

Keeper::Thread* Keeper::this_thread() {
  if (current.keeper == identity_) return static_cast<Thread*>(current.thread);
  return enter_thread();
}

Keeper::Thread* Keeper::enter_thread() {
  auto* thread = static_cast<Thread*>(::pthread_getspecific(thread_key_));
  if (thread == nullptr) {
    thread = new Thread{*this};
    if (::pthread_setspecific(thread_key_, thread) != 0) throw_errno("keeping a thread's part of the cache", ENOMEM);
    const std::scoped_lock lock{threads_mutex_};
    thread->next = threads_;
    threads_ = thread;
  }
  current = {thread, identity_};
  return thread;
}

// At its end, or the keeper's.
void Keeper::leave_thread(Thread* thread) {
  current = {};
  if (forked()) return;
  handles_.give_back(thread->purse, 0);
  {
    const std::scoped_lock lock{threads_mutex_};
    auto** at = &threads_;
    while (*at != thread) at = &(*at)->next;
    *at = thread->next;
    for (std::size_t i = 0; i < kCounts; ++i) past_[i] += thread->counts[i].load(std::memory_order_relaxed);
  }
  delete thread;
}

void Keeper::make_key() {
  const auto leave = [](void* thread) {
    auto* const one = static_cast<Thread*>(thread);
    one->keeper.leave_thread(one);
  };
  if (const int error = ::pthread_key_create(&thread_key_, leave); error != 0)
    throw_errno("a key for what threads have of their own", error);
}

void Keeper::end_threads() {
  ::pthread_key_delete(thread_key_);
  while (threads_ != nullptr) leave_thread(threads_);
}

Statistics Keeper::statistics() {
  Statistics sum;
  std::array<std::uint64_t, kCounts> counts{};
  if (forked()) return sum;
  auto* const self = this_thread();
  {
    const std::scoped_lock lock{threads_mutex_};
    counts = past_;
    for (const auto* thread = threads_; thread != nullptr; thread = thread->next)
      for (std::size_t i = 0; i < kCounts; ++i) counts[i] += thread->counts[i].load(std::memory_order_relaxed);
  }
  self->user.exclusively([&](RegionCache& cache) {
    sum.regions = cache.regions();
    sum.bytes = cache.used() * kPageSize;
  });
  sum.hits = counts[kHits];
  sum.misses = counts[kMisses];
  sum.deregistered = counts[kDeregistered];
  sum.evicted = counts[kEvicted];
  sum.invalidated = invalidated_.load(std::memory_order_relaxed);
  sum.flushed = counts[kFlushed];
  sum.out_of_memory = counts[kOutOfMemory];
  sum.failed = counts[kFailed];
  for (std::size_t i = 0; i < kAdmissions; ++i) sum.passed_by[i] = counts[kPassed + i];
  return sum;
}

}  // namespace longhaul::registration
