// Carries the region cache's plans out: registers the gaps, deregisters what is evicted, over whatever registers memory
// (verbs in the transport, a double in tests). What a request finds covered may be used before its gaps are registered.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registration/cache/mapping_watch.hh"
#include "registration/cache/shared_cache.hh"

namespace longhaul::registration {

/// The keys of a registered region: for the adapter here (lkey), and for a peer (rkey).
struct Keys {
  std::uint32_t local = 0;
  std::uint32_t remote = 0;
  bool operator==(const Keys&) const = default;
};

class Registrar {
 public:
  /// A registered region: whoever registered it knows what that is.
  using Handle = std::uintptr_t;
  struct Registered {
    Handle handle = 0;
    Keys keys;
  };

  virtual ~Registrar() = default;
  /// The errno value where it cannot be: ENOMEM where the adapter, the kernel or the limit of locked memory has no
  /// room.
  virtual tl::expected<Registered, int> add(Pages pages) = 0;
  /// 0, or the errno value. Two threads may call it at once.
  virtual int remove(Handle handle) = 0;
  /// Where remove() only asks the adapter for it: how often it has, and how many of those, the first ones, are through.
  /// Until then a peer may still get at the region. Equal where remove() does all of it.
  virtual std::uint64_t removals() const { return 0; }
  virtual std::uint64_t completed_removals() { return removals(); }
  /// Of removals() those for which nothing was asked: the peer had closed the region.
  virtual std::uint64_t closed_by_peer() const { return 0; }
};

/// Counters of the executor since reset(). Times in ns.
struct ExecutorCounters {
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;
  std::uint64_t overlaps = 0;
  std::uint64_t registrations = 0;
  std::uint64_t registered_pages = 0;
  std::uint64_t deregistrations = 0;
  std::uint64_t evictions = 0;       ///< regions that went to make room
  std::uint64_t closed_by_peer = 0;  ///< of deregistrations: nothing was asked, see Registrar
  std::uint64_t out_of_memory = 0;   ///< registrations that were tried again after more had been evicted
  std::int64_t registering = 0;
  std::int64_t deregistering = 0;
  std::int64_t exposed = 0;           ///< of all deregistered regions: from the end of their last use
  std::uint64_t most_idle_pages = 0;  ///< of regions that waited for tidy() at a time, at the most

  ExecutorCounters& operator+=(const ExecutorCounters& other);
};

/// Part of a request that one registered region covers.
struct Piece {
  Pages pages;
  Keys keys;
};

/// The settings of a cache.
struct CacheSetup {
  Capacity capacity;
  RegionCache::MakePolicy policy;
  CacheOptions options = {};
};

/// Used by one thread. Destroyed, it deregisters all that it has registered; its leases go before it.
class Executor {
  /// With the end of its last use.
  struct Unlisted {
    Registrar::Handle handle = 0;
    std::uint64_t pages = 0;
    std::int64_t last_used = 0;
  };

 public:
  /// A request's regions, in use for as long as it lives. Move-only.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept { swap(other); }
    Lease& operator=(Lease&& other) noexcept {
      Lease{std::move(other)}.swap(*this);
      return *this;
    }
    ~Lease() {
      if (executor_ != nullptr) executor_->end(*this);
    }

    /// Usable now, in the order of addresses: before complete() what was covered, then all that was asked for.
    const std::vector<Piece>& pieces() const { return pieces_; }
    bool complete() const { return gaps_.empty(); }

   private:
    friend class Executor;
    Lease(Executor& executor, Pages asked) : executor_(&executor), asked_(asked) {}
    void swap(Lease& other) noexcept;

    Executor* executor_ = nullptr;
    Pages asked_;
    std::vector<Piece> pieces_;
    std::vector<Pages> gaps_;
    RegionId found_ = kNoRegion;  // without a plan
    std::vector<RegionId> ids_;
    std::vector<Unlisted> uncached_;
    bool kept_ = true;
  };

  /// Without a cache each request is registered and deregistered by itself. The cache works on whole regions
  /// (Granularity::region): an adapter registers a range, not page after page. Throws std::logic_error otherwise.
  /// `watermark`: regions that may stay registered although nobody uses or keeps them. With more of them tidy()
  /// deregisters all in one go: a peer that knows a key can reach its region until then. 0: a region that is not cached
  /// goes when its lease ends.
  Executor(Registrar& registrar, const std::optional<CacheSetup>& cache, std::size_t watermark = 0);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// The threads that may unmap memory that is asked for. With others each request costs one system call more: the
  /// kernel may give addresses away whose unmapping we have not heard of yet (MappingWatch::settled).
  enum class Unmapping { by_this_thread, by_any_thread };
  /// From now on mappings that go are heard of (mapping_watch.hh), in `area` and wherever else something is registered:
  /// nothing stale is found, what cannot be watched is not cached. Before the first request. Refuses where the kernel
  /// does not tell. Without a cache there is nothing to do.
  Result<void> watch(Pages area, Unmapping unmapping = Unmapping::by_any_thread);

  /// Decides, and registers nothing yet. To be completed before the next one is begun.
  Lease begin(Pages asked);
  /// Registers the gaps. Where there is no memory for them more is evicted, as long as there is something to evict.
  /// Refused, nothing of the lease is left.
  Result<void> complete(Lease& lease);
  /// begin() and complete().
  Result<Lease> lease(Pages asked);

  /// Deregisters what waits for that, in one go, where it is more than the watermark. To be called when the caller
  /// waits for something else; else the next request of a cache does so, or a registration that finds no memory.
  void tidy();

  ExecutorCounters counters() const;
  void reset();

 private:
  struct Cached {
    Registrar::Registered region;
    std::uint64_t pages = 0;
    std::int64_t last_used = 0;
  };
  void plan(Lease& lease, RegionCache& cache);
  tl::expected<Registrar::Registered, int> enlist(Pages pages);
  tl::expected<Registrar::Registered, int> enlist_with_room(Pages pages);
  bool cacheable(Pages pages);
  void end(Lease& lease);
  void discharge(const std::vector<Unlisted>& all, ExecutorCounters& counters);
  void discharge_idle();
  void discharge_gone();
  void let_lie(Unlisted one);
  Unlisted take_out(RegionId id);
  void take_out(const std::vector<Eviction>& evicted);
  void add_piece(Lease& lease, Pages region, Keys keys) const;

  Registrar& registrar_;
  std::unique_ptr<SharedCache> cache_;
  std::optional<SharedCache::User> user_;
  std::vector<Cached> cached_;  // by region id; it changes while nobody else uses the cache
  std::vector<Unlisted> idle_;  // out of the cache, or never in it, and not deregistered yet
  std::uint64_t idle_pages_ = 0;
  std::size_t watermark_;
  ExecutorCounters counters_;
  mutable std::mutex gone_mutex_;
  std::vector<Unlisted> gone_;           // their mappings have; guarded by gone_mutex_
  ExecutorCounters gone_counters_;       // of the watch's thread; guarded by gone_mutex_
  bool settles_ = false;                 // before each request
  std::unique_ptr<MappingWatch> watch_;  // last: its thread uses the others
};

}  // namespace longhaul::registration
