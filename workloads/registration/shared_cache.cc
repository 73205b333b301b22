#include "workloads/registration/shared_cache.hh"

#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "common/error.hh"

namespace longhaul::registration {
namespace {

constexpr std::uint32_t kPatience = 1024;  // touches lost in a row before another thread takes over the telling

char* page_that_a_child_finds_wiped() {
  void* page = ::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw_errno("mapping a page");
  check(::madvise(page, kPageSize, MADV_WIPEONFORK), "asking for a page that is wiped in children");
  *static_cast<char*>(page) = 1;
  return static_cast<char*>(page);
}

}  // namespace

SharedCache::SharedCache(Capacity capacity, const RegionCache::MakePolicy& policy, CacheOptions options)
    : cache_(capacity, policy, options), alive_(page_that_a_child_finds_wiped()) {}

SharedCache::~SharedCache() {
  ::munmap(const_cast<char*>(alive_), kPageSize);
}

SharedCache::User::User(SharedCache& cache) : shared_(cache) {
  const std::scoped_lock lock{shared_.mutex_};
  shared_.users_.push_back(this);
}

SharedCache::User::~User() {
  if (shared_.forked()) return;
  const Exclusive alone{shared_};
  std::erase(shared_.users_, this);
  auto* self = this;
  shared_.teller_.compare_exchange_strong(self, nullptr);
}

// Dekker's handshake with quiesce(): each side says what it is about to do, then looks at the other. False, and not
// entered, in a state of `unless`.
bool SharedCache::User::enter(unsigned unless) {
  for (;;) {
    reading_.exchange(true, std::memory_order_seq_cst);
    const auto state = shared_.state_.load(std::memory_order_seq_cst);
    if (state == 0) return true;
    if ((state & (unless | kAlone)) == 0) return true;
    leave();
    if ((state & unless) != 0) return false;
    while ((shared_.state_.load(std::memory_order_relaxed) & kAlone) != 0) std::this_thread::yield();
  }
}

RegionId SharedCache::User::find(Pages asked) {
  if (shared_.forked() || !enter(kStale)) return kNoRegion;
  const auto id = shared_.cache_.find(asked);
  if (id != kNoRegion) {
    held_.push_back(id);
    note(id);
  }
  leave();
  return id;
}

void SharedCache::User::note(RegionId id) {
  const auto noted = noted_.load(std::memory_order_relaxed);
  if (noted - told_.load(std::memory_order_acquire) < kTouches) {
    touches_[noted % kTouches] = id;
    noted_.store(noted + 1, std::memory_order_release);
    unheard_ = 0;
    return;
  }
  auto* teller = shared_.teller_.load(std::memory_order_relaxed);
  if (teller != this && teller != nullptr && ++unheard_ < kPatience) return;
  if (!shared_.mutex_.try_lock()) return;
  if (teller != this) shared_.teller_.store(this, std::memory_order_relaxed);
  for (auto* user : shared_.users_) shared_.tell(*user);
  shared_.mutex_.unlock();
  note(id);
}

void SharedCache::tell(User& user) {
  auto told = user.told_.load(std::memory_order_relaxed);
  const auto noted = user.noted_.load(std::memory_order_acquire);
  for (; told != noted; ++told) cache_.touch(user.touches_[told % User::kTouches]);
  user.told_.store(told, std::memory_order_release);
}

void SharedCache::User::release(RegionId id) {
  if (shared_.forked()) return;
  enter(0);
  const auto it = std::find(held_.rbegin(), held_.rend(), id);
  *it = held_.back();
  held_.pop_back();
  const bool broken = shared_.cache_.has_broken();
  leave();
  if (!broken) return;
  exclusively([&](RegionCache& cache) {
    const RegionId one[] = {id};
    cache.count_users(id, 1);
    const auto& gone = cache.release(one);
    shared_.invalidated_.insert(shared_.invalidated_.end(), gone.begin(), gone.end());
  });
}

// Returns when no thread reads that has not seen the state that was set before.
void SharedCache::quiesce() const {
  for (const auto* user : users_)
    while (user->reading_.load(std::memory_order_seq_cst)) std::this_thread::yield();
}

SharedCache::Exclusive::Exclusive(SharedCache& shared) : shared_(shared) {
  if (shared_.forked()) throw std::logic_error("a registration cache is used by the child of the process that made it");
  lock_ = std::unique_lock{shared_.mutex_};
  shared_.state_.fetch_or(kAlone, std::memory_order_seq_cst);
  shared_.quiesce();
  for (auto* user : shared_.users_) {
    shared_.tell(*user);
    for (const auto id : user->held_) shared_.cache_.count_users(id, 1);
  }
  const std::scoped_lock gone{shared_.gone_mutex_};
  for (const auto& pages : shared_.gone_) {
    const auto& evicted = shared_.cache_.invalidate(pages);
    shared_.invalidated_.insert(shared_.invalidated_.end(), evicted.begin(), evicted.end());
  }
  shared_.gone_.clear();
  shared_.alone_.store(true, std::memory_order_seq_cst);
}

SharedCache::Exclusive::~Exclusive() {
  shared_.alone_.store(false, std::memory_order_seq_cst);
  for (auto* user : shared_.users_)
    for (const auto id : user->held_) shared_.cache_.count_users(id, -1);
  shared_.state_.fetch_and(~unsigned{kAlone}, std::memory_order_release);
}

void SharedCache::invalidate(const std::function<void(std::vector<Pages>& gone)>& hear) {
  state_.fetch_or(kStale, std::memory_order_seq_cst);
  // Whoever is in exclusively() may be the one that waits for us to hear of what it unmaps: its lock is not ours to
  // wait for. But while it is there nobody reads.
  for (;;) {
    if (const std::unique_lock lock{mutex_, std::try_to_lock}; lock) {
      quiesce();
      break;
    }
    if (alone_.load(std::memory_order_seq_cst)) break;
    std::this_thread::yield();
  }
  {
    const std::scoped_lock lock{gone_mutex_};
    hear(gone_);
  }
  const Exclusive alone{*this};
  state_.fetch_and(~unsigned{kStale}, std::memory_order_release);
}

std::vector<Eviction> SharedCache::take_invalidated() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(invalidated_, {});
}

}  // namespace longhaul::registration
