// A region cache that several threads use, and that hears of mappings that go. A hit takes no lock that another
// thread's hit would wait for: each thread says in a place of its own that it reads, lists there what it uses, and
// notes there what it touched. The policy learns of touches later: before anything is evicted, in each thread's order;
// where several threads hit faster than it learns, some touches are lost. One thread alone loses none: it gets what a
// RegionCache gives. All else (misses, invalidation) waits until no thread reads.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "registration/cache/cache.hh"

namespace longhaul::registration {

class SharedCache {
 public:
  /// A thread's way in. It may use one of its own only, and must release itself what it found; outlived by the cache.
  class User {
   public:
    explicit User(SharedCache& cache);
    ~User();
    User(const User&) = delete;
    User& operator=(const User&) = delete;

    static constexpr std::uint32_t kHeld = 64;  ///< what one may have found and not released

    /// The region that begins where the request does and covers it, in use until it is released; kNoRegion: ask through
    /// exclusively().
    RegionId find(Pages asked);
    void release(RegionId id);

    /// Calls `act` with the cache, while no other thread uses it. What it leases there it releases there, too, by the
    /// cache's release(). Throws std::logic_error in a forked child: the cache is the parent's.
    template <typename Act>
    auto exclusively(Act act) {
      const Exclusive alone{shared_};
      return act(shared_.cache_);
    }

   private:
    friend class SharedCache;
    static constexpr std::uint32_t kTouches = 64;

    // Dekker's handshake with quiesce(): each side says what it is about to do, then looks at the other. False where
    // mappings have gone that are not invalidated yet.
    bool enter() {
      reading_.exchange(true, std::memory_order_seq_cst);
      return shared_.state_.load(std::memory_order_seq_cst) == 0 || wait_to_enter();
    }
    bool wait_to_enter();
    void leave() { reading_.store(false, std::memory_order_release); }
    void hold(RegionId id) {
      std::uint32_t at = 0;
      while (held_[at].load(std::memory_order_relaxed) != kNoRegion) ++at;
      held_[at].store(id, std::memory_order_relaxed);
      ++holds_;
      if (at >= places_.load(std::memory_order_relaxed)) places_.store(at + 1, std::memory_order_relaxed);
    }
    void note(RegionId id) {
      const auto noted = noted_.load(std::memory_order_relaxed);
      if (noted - told_.load(std::memory_order_acquire) == kTouches && !tell_policy()) return;
      touches_[noted % kTouches] = id;
      noted_.store(noted + 1, std::memory_order_release);
    }
    bool tell_policy();

    SharedCache& shared_;
    // Each line has one thread that writes it: this thread ...
    alignas(64) std::atomic<bool> reading_{false};
    std::uint32_t holds_ = 0;
    std::atomic<std::uint32_t> places_{0};  // of held_ that were ever used
    std::array<std::atomic<RegionId>, kHeld> held_{};
    std::uint32_t unheard_ = 0;  // touches that were lost in a row
    std::atomic<std::uint32_t> noted_{0};
    std::array<RegionId, kTouches> touches_{};
    // ... or whoever tells the policy.
    alignas(64) std::atomic<std::uint32_t> told_{0};
  };

  /// `invalidated` hears of each region whose mapping has gone and that nobody uses any more, for deregistration. It is
  /// called while no thread uses the cache, which it must not use either; when it returns the id may be used again.
  SharedCache(Capacity capacity, const RegionCache::MakePolicy& policy, CacheOptions options = {},
              std::function<void(const Eviction&)> invalidated = {});
  ~SharedCache();
  SharedCache(const SharedCache&) = delete;
  SharedCache& operator=(const SharedCache&) = delete;

  /// One cache may hold regions of the same memory several times, as a program has them that registers it in several
  /// protection domains: a page of space n has the number n * kSpacePages + its own. What goes, goes in all of them.
  static constexpr std::uint64_t kSpacePages = std::uint64_t{1} << 45;  // 57 bits of addresses
  /// The first `count` spaces are in use. A cache has one to begin with; there are never fewer again.
  void use_spaces(std::uint64_t count);

  /// How often mappings have gone. Who registers memory, and finds another number when he adds it, does not know
  /// whether it is still the memory that he registered.
  std::uint64_t times_gone() const { return times_gone_.load(std::memory_order_seq_cst); }

  /// For who hears of mappings that go (mapping_watch.hh). `hear` appends their pages, and only when it returns may the
  /// mapping's owner go on: from before it is called no request finds anything, until what it said has been
  /// invalidated. Never waits for exclusively().
  void invalidate(const std::function<void(std::vector<Pages>& gone)>& hear);
  /// True if regions in use were invalidated that have not been handed to `invalidated` yet: reap() after a release.
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  /// Hands them over that are released. Not from within exclusively().
  void reap();

 private:
  // Alone with the cache: no thread reads, what has gone is invalidated, the policy knows of every touch, and what
  // threads use is counted.
  class Exclusive {
   public:
    explicit Exclusive(SharedCache& shared);
    ~Exclusive();
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;

   private:
    SharedCache& shared_;
    std::unique_lock<std::mutex> lock_;
  };
  friend class Exclusive;
  enum State : unsigned {
    kAlone = 1,  // a thread is, or wants to be
    kStale = 2   // mappings have gone that are not invalidated yet
  };
  void tell(User& user);
  void quiesce() const;
  void count_users();
  void take_in_what_has_gone();
  void hand_over(const std::vector<Eviction>& evicted);
  bool forked() const { return *alive_ == 0; }

  RegionCache cache_;
  std::mutex mutex_;  // of the policy, and of users_
  std::vector<User*> users_;
  std::vector<RegionId> counted_;  // what threads held when one was alone
  std::function<void(const Eviction&)> invalidated_;
  std::atomic<bool> broken_{false};
  std::mutex gone_mutex_;
  std::vector<Pages> gone_;
  std::atomic<std::uint64_t> spaces_{1};
  std::atomic<std::uint64_t> times_gone_{0};
  const volatile char* alive_;      // a page that a forked child finds wiped
  std::atomic<bool> alone_{false};  // a thread is in exclusively(): nobody reads
  alignas(64) std::atomic<unsigned> state_{0};
  alignas(64) std::atomic<User*> teller_{
      nullptr};  // who tells the policy: the same while it can, its data stays near it
};

}  // namespace longhaul::registration
