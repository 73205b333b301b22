// Carries the region cache's plans out: registers the gaps, deregisters what is evicted, over whatever registers memory
// (verbs in the transport, a double in tests). What a request finds covered may be used before its gaps are registered.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "registration/cache/cache.hh"

namespace longhaul::registration {

/// What a registered region is known by: to the adapter here (lkey), and to a peer (rkey).
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
  /// 0, or the errno value.
  virtual int remove(Handle handle) = 0;
};

/// What the executor has done since reset(). Times in ns.
struct ExecutorCounters {
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;
  std::uint64_t overlaps = 0;
  std::uint64_t registrations = 0;
  std::uint64_t registered_pages = 0;
  std::uint64_t deregistrations = 0;
  std::uint64_t evictions = 0;      ///< regions that were deregistered to make room
  std::uint64_t out_of_memory = 0;  ///< registrations that were tried again after more had been evicted
  std::int64_t registering = 0;
  std::int64_t deregistering = 0;
  std::int64_t exposed = 0;  ///< of all deregistered regions: from the end of their last use

  ExecutorCounters& operator+=(const ExecutorCounters& other);
};

/// Part of a request that one registered region covers.
struct Piece {
  Pages pages;
  Keys keys;
};

/// Used by one thread. Destroyed, it deregisters all that it has registered.
class Executor {
 public:
  /// A request's regions, in use until they are released.
  class Lease {
   public:
    /// Usable now, in the order of addresses: before complete() what was covered, then all that was asked for.
    const std::vector<Piece>& pieces() const { return pieces_; }
    bool complete() const { return gaps_.empty(); }

   private:
    friend class Executor;
    Pages asked_;
    std::vector<Piece> pieces_;
    std::vector<Pages> gaps_;
    std::vector<Registrar::Handle> doomed_;  // evicted: to be deregistered before the gaps are registered
    std::vector<RegionId> ids_;
    std::vector<Registrar::Handle> uncached_;
    bool kept_ = true;
  };

  /// Without a cache each request is registered and deregistered by itself. The cache works on whole regions
  /// (Granularity::region): an adapter registers a range, not page after page. Throws std::logic_error otherwise.
  Executor(Registrar& registrar, std::unique_ptr<RegionCache> cache, Granularity granularity = Granularity::region);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Decides, and registers nothing yet. To be completed before the next one is begun.
  Lease begin(Pages asked);
  /// Deregisters what has to go and registers the gaps. Where there is no memory for them more is evicted, as long as
  /// there is something to evict. Refused, the lease is released and nothing of it is left.
  Result<void> complete(Lease& lease);
  /// begin() and complete().
  Result<Lease> lease(Pages asked);
  /// The transfer is over.
  void release(Lease& lease);

  const ExecutorCounters& counters() const { return counters_; }
  void reset() { counters_ = {}; }

 private:
  struct Cached {
    Registrar::Registered region;
    std::int64_t last_used = 0;
  };
  tl::expected<Registrar::Registered, int> enlist(Pages pages);
  tl::expected<Registrar::Registered, int> enlist_with_room(Pages pages);
  void discharge(Registrar::Handle handle);
  Registrar::Handle take_out(const Eviction& eviction);
  void add_piece(Lease& lease, Pages region, Keys keys) const;

  Registrar& registrar_;
  std::unique_ptr<RegionCache> cache_;
  std::vector<Cached> cached_;  // by region id
  ExecutorCounters counters_;
};

}  // namespace longhaul::registration
