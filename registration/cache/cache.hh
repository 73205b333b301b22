// The region cache: requests by address range become plans. It keeps the books only; an executor registers and
// deregisters what a plan says, over verbs or over a cost model.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "registration/cache/address_index.hh"
#include "registration/cache/policy.hh"

namespace longhaul::registration {

enum class Coverage {
  exact,    ///< a cached region is what is asked for
  subset,   ///< it lies within one
  several,  ///< several regions cover it: one work request each
  overlap,  ///< the gaps between cached regions have to be registered
  miss      ///< nothing of it is cached
};

struct Eviction {
  RegionId id = kNoRegion;
  Pages pages;
};

/// The plan for a request. The lists are in the order of addresses, but `evicted`, which is in the policy's.
struct RegistrationPlan {
  Coverage coverage = Coverage::miss;
  std::vector<RegionId> covered;  ///< usable at once; in use until they are released
  std::vector<Pages> gaps;        ///< to be registered: each a region of its own
  std::vector<Eviction> evicted;  ///< to be deregistered first, in one batch
  bool kept = true;               ///< false: there is no room; registered, used and deregistered, never cached
  bool hit() const { return coverage <= Coverage::several; }
};

/// The unit in which the cache registers a gap.
enum class Granularity { region, page };

/// The treatment of regions that overlap a request without covering it.
enum class Overlap {
  fill,    ///< they stay, only the gaps are registered
  merge,   ///< one region over them and the request takes their place (UCX)
  replace  ///< the request alone does: a cache that finds only what was registered as it is asked for
};

struct CacheOptions {
  Granularity granularity = Granularity::region;
  Overlap overlap = Overlap::fill;
};

struct Capacity {
  std::uint64_t pages = 0;
  std::uint64_t regions = ~std::uint64_t{0};
};

/// Not for use by two threads at once (shared_cache.hh is).
class RegionCache : private Regions {
 public:
  using MakePolicy = std::function<std::unique_ptr<Policy>(const Regions& regions, Capacity capacity)>;
  RegionCache(Capacity capacity, const MakePolicy& policy, CacheOptions options = {});
  RegionCache(const RegionCache&) = delete;
  RegionCache& operator=(const RegionCache&) = delete;

  /// Decides about a request. What is evicted leaves the books, the gaps have room then. The plan is valid until the
  /// next call.
  const RegistrationPlan& request(Pages asked);

  /// A gap of a plan that is kept has been registered: its regions are cached, in use, and appended to `leased`.
  void add(Pages gap, std::vector<RegionId>& leased);

  /// The transfer is over. Returns what was invalidated meanwhile and nobody uses any more: now it may be deregistered.
  const std::vector<Eviction>& release(std::span<const RegionId> leased);

  /// Without a lease: the region that begins where the request does and covers it; kNoRegion where there is none.
  /// Changes nothing: several threads may ask while none of them calls anything else.
  RegionId find(Pages asked) const {
    const auto id = by_address_.find(asked.first);
    return id != kNoRegion && all_[id].count >= asked.count ? id : kNoRegion;
  }
  /// Tells the policy of such a use. A region that has gone meanwhile is no error.
  void touch(RegionId id);
  /// Uses from elsewhere: they count for what may go until they are uncounted, which is no release.
  void count_user(RegionId id) { ++all_[id].users; }
  void uncount_user(RegionId id) { --all_[id].users; }
  /// Invalidated regions that nobody uses any more, as release() returns them.
  const std::vector<Eviction>& reap();
  bool has_broken() const { return !broken_.empty(); }

  /// Makes room for `pages` more, where registering failed for want of memory; empty when nothing can go.
  const std::vector<Eviction>& evict(std::uint64_t pages);

  /// The mapping of these pages has gone: no request finds a region again that touches it. Returns those for
  /// deregistration that nobody uses; the others come with their last release.
  const std::vector<Eviction>& invalidate(Pages gone);

  std::uint64_t used() const { return used_; }
  std::size_t regions() const { return by_address_.size(); }
  Pages pages_of_region(RegionId id) const { return pages(id); }

 private:
  void clear_way(Pages asked);
  void make_room(std::uint64_t pages, std::uint64_t regions);
  void unlist(RegionId id);
  void forget(RegionId id);
  void bury(RegionId id);
  RegionId fresh(Pages pages);

  Capacity capacity_;
  CacheOptions options_;
  std::uint64_t used_ = 0;
  AddressIndex by_address_{all_};
  std::vector<RegionId> free_;
  std::vector<RegionId> broken_;  // invalidated while in use
  std::unique_ptr<Policy> policy_;
  std::vector<RegionId> victims_;
  std::vector<Eviction> evicted_;
  RegistrationPlan plan_;
};

}  // namespace longhaul::registration
