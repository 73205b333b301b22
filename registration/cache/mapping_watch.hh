// Hears from the kernel, through userfaultfd(2), of mappings that go (munmap, mmap over one, mremap, brk, madvise with
// DONTNEED, FREE or REMOVE), and has a cache forget what was registered there. The call that took the mapping away
// returns only when no request can find such a region any more; docs/registration-cache.md states the guarantee.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "common/fd.hh"
#include "registration/cache/shared_cache.hh"

namespace longhaul::registration {

class MappingWatch {
 public:
  /// `invalidated` is called on the watch's own thread after each invalidation: the place to deregister what the cache
  /// has handed over. It must not unmap what is watched, nor wait for who does. Refuses where the kernel has no
  /// userfaultfd or does not let us have one.
  static Result<std::unique_ptr<MappingWatch>> open(SharedCache& cache, std::function<void()> invalidated);
  ~MappingWatch();
  MappingWatch(const MappingWatch&) = delete;
  MappingWatch& operator=(const MappingWatch&) = delete;

  /// From now on the watch hears what happens to these pages: call it before they are registered. A system call for
  /// pages that are not covered yet; cover a large area at once rather than many small ones, each of which is a mapping
  /// of its own in the kernel. Refuses memory that cannot be watched (files, what is not mapped): what is registered
  /// there must not be cached.
  Result<void> cover(Pages pages);

  /// Whether it hears of them already: memory that has gone is not covered any more.
  bool covers(Pages pages) const;
  /// How many ranges apart from one another are covered: at the worst each is a mapping of its own in the kernel.
  std::size_t ranges() const;

  /// True if all that has gone so far is invalidated, or about to be so that no request finds it. False while a call is
  /// under way that takes a mapping away: the kernel may give its addresses to another thread's mmap() before we hear
  /// of it. One system call.
  bool settled() const;
  /// Waits until settled(). Whoever calls it before a request finds nothing stale in memory that it has just mapped.
  void settle() const;

 private:
  MappingWatch(SharedCache& cache, std::function<void()> invalidated, OwnFd fault, OwnFd stop);
  bool covers_locked(Pages pages) const;
  void listen();
  void hear(std::vector<Pages>& gone);

  SharedCache& cache_;
  std::function<void()> invalidated_;
  OwnFd fault_;
  OwnFd stop_;
  mutable std::mutex mutex_;
  std::vector<Pages> covered_;  // guarded by mutex_: apart from one another, in the order of addresses
  std::thread thread_;
};

}  // namespace longhaul::registration
