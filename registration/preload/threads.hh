// What a thread has of its own in the cache, so that hits of several threads do not meet.
#pragma once

#include "registration/preload/keeper.hh"

namespace longhaul::registration {

struct Keeper::Thread {
  explicit Thread(Keeper& of) : keeper(of), user(of.cache_) {}
  Keeper& keeper;
  SharedCache::User user;
  Spaces::Last last;
  Handles::Purse purse;
  std::array<std::atomic<std::uint64_t>, kCounts> counts{};
  Thread* next = nullptr;
};

// Regions by their id. Written while no other thread uses the cache, read by whoever holds a region.
class Keeper::Table {
 public:
  Kept* at(RegionId id) const { return slot(id).load(std::memory_order_acquire); }
  void put(RegionId id, Kept* kept) {
    auto& chunk = chunks_.at(id / kChunk);
    if (chunk.load(std::memory_order_relaxed) == nullptr)
      chunk.store(
          new std::atomic<Kept*>[kChunk] {}, std::memory_order_release);
    slot(id).store(kept, std::memory_order_release);
  }
  Kept* take(RegionId id) { return slot(id).exchange(nullptr, std::memory_order_acq_rel); }
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    for (auto& chunk : chunks_) delete[] chunk.load();
  }

 private:
  static constexpr std::size_t kChunk = 4096;
  std::atomic<Kept*>& slot(RegionId id) const {
    return chunks_[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
  }
  std::array<std::atomic<std::atomic<Kept*>*>, 512> chunks_{};
};

inline void Keeper::count(Thread& thread, std::size_t what, std::uint64_t more) {
  auto& one = thread.counts[what];
  one.store(one.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace longhaul::registration
