// A region may stand in for another registration only if both are in the same protection domain with the same rights:
// each pair is a space of the cache (SharedCache::kSpacePages).
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

namespace longhaul::registration {

class Spaces {
 public:
  static constexpr std::uint32_t kMost = 4096;
  static constexpr std::uint32_t kNone = ~0U;

  /// What a thread asked for last.
  struct Last {
    const ibv_pd* pd = nullptr;
    unsigned access = 0;
    std::uint32_t space = kNone;
    std::uint64_t era = ~std::uint64_t{0};
  };

  /// Its number, below kMost; kNone: there are too many. `opened` hears how many there are when there is one more.
  template <typename Opened>
  std::uint32_t of(ibv_pd* pd, unsigned access, Last& last, const Opened& opened) {
    if (last.pd == pd && last.access == access && last.era == era_.load(std::memory_order_acquire)) return last.space;
    return look(pd, access, last, opened);
  }
  std::vector<std::uint32_t> of_domain(const ibv_pd* pd);
  std::vector<std::uint32_t> of_device(const ibv_context* context);
  /// Empty they may be given to others.
  void close(const std::vector<std::uint32_t>& spaces);

 private:
  struct Space {
    const ibv_pd* pd = nullptr;  // null: free
    const ibv_context* context = nullptr;
    unsigned access = 0;
  };
  std::uint32_t look(ibv_pd* pd, unsigned access, Last& last, const std::function<void(std::uint32_t)>& opened);

  std::mutex mutex_;
  std::vector<Space> all_;
  std::atomic<std::uint64_t> era_{0};  // ends when a space is closed
};

}  // namespace longhaul::registration
