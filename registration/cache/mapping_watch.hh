// Hears from the kernel, through userfaultfd(2), of mappings that go (munmap, mmap over one, mremap, brk, madvise with
// DONTNEED, FREE or REMOVE), and has a cache forget what was registered there. The call that took the mapping away
// returns only when no request can find such a region any more; docs/registration-cache.md states the guarantee.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "common/fd.hh"
#include "registration/cache/shared_cache.hh"

namespace longhaul::registration {

class MappingWatch {
 public:
  /// `gone` gets what has to be deregistered, on the watch's own thread; it must not unmap what is watched, nor wait
  /// for who does. Refuses where the kernel has no userfaultfd or does not let us have one.
  static Result<std::unique_ptr<MappingWatch>> open(SharedCache& cache,
                                                    std::function<void(const std::vector<Eviction>&)> gone);
  ~MappingWatch();
  MappingWatch(const MappingWatch&) = delete;
  MappingWatch& operator=(const MappingWatch&) = delete;

  /// From now on what happens to these pages is heard of: before they are registered. Refuses memory that cannot be
  /// watched (files, what is not mapped): what is registered there must not be cached.
  Result<void> cover(Pages pages);

 private:
  MappingWatch(SharedCache& cache, std::function<void(const std::vector<Eviction>&)> gone, OwnFd fault, OwnFd stop);
  void listen();
  void hear(std::vector<Pages>& gone) const;

  SharedCache& cache_;
  std::function<void(const std::vector<Eviction>&)> gone_;
  OwnFd fault_;
  OwnFd stop_;
  std::thread thread_;
};

}  // namespace longhaul::registration
