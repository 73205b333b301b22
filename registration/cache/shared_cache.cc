#include "registration/cache/shared_cache.hh"

#include <sys/mman.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "registration/cache/wiped_page.hh"

namespace longhaul::registration {
namespace {

constexpr std::uint32_t kPatience = 1024;  // touches lost in a row before another thread takes over the telling

}  // namespace

SharedCache::SharedCache(Capacity capacity, const RegionCache::MakePolicy& policy, CacheOptions options,
                         std::function<void(const Eviction&)> invalidated)
    : cache_(capacity, policy, options),
      invalidated_(std::move(invalidated)),
      alive_(page_that_a_child_finds_wiped()) {}

SharedCache::~SharedCache() {
  ::munmap(const_cast<char*>(alive_), kPageSize);
}

SharedCache::User::User(SharedCache& cache) : shared_(cache) {
  for (auto& held : held_) held.store(kNoRegion, std::memory_order_relaxed);
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

RegionId SharedCache::User::find(Pages asked) {
  if (shared_.forked() || holds_ == kHeld || !enter()) return kNoRegion;
  const auto id = shared_.cache_.find(asked);
  if (id != kNoRegion) {
    hold(id);
    note(id);
  }
  leave();
  return id;
}

// Without entering: who is alone meanwhile may still take it for held, which does no harm.
void SharedCache::User::release(RegionId id) {
  std::uint32_t at = 0;
  while (held_[at].load(std::memory_order_relaxed) != id) ++at;
  held_[at].store(kNoRegion, std::memory_order_release);
  --holds_;
}

// Has the policy told, by this thread if it is the teller: the list of what it touched is full.
bool SharedCache::User::tell_policy() {
  auto* teller = shared_.teller_.load(std::memory_order_relaxed);
  if (teller != this && teller != nullptr && ++unheard_ < kPatience) return false;
  if (!shared_.mutex_.try_lock()) return false;
  if (teller != this) shared_.teller_.store(this, std::memory_order_relaxed);
  for (auto* user : shared_.users_) shared_.tell(*user);
  shared_.mutex_.unlock();
  unheard_ = 0;
  return true;
}

bool SharedCache::User::wait_to_enter() {
  for (;;) {
    leave();
    if ((shared_.state_.load(std::memory_order_relaxed) & kStale) != 0) return false;
    while (shared_.state_.load(std::memory_order_relaxed) == kAlone) std::this_thread::yield();
    reading_.exchange(true, std::memory_order_seq_cst);
    if (shared_.state_.load(std::memory_order_seq_cst) == 0) return true;
  }
}

void SharedCache::tell(User& user) {
  auto told = user.told_.load(std::memory_order_relaxed);
  const auto noted = user.noted_.load(std::memory_order_acquire);
  for (; told != noted; ++told) cache_.touch(user.touches_[told % User::kTouches]);
  user.told_.store(told, std::memory_order_release);
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
  shared_.count_users();
  for (auto* user : shared_.users_) shared_.tell(*user);
  if ((shared_.state_.load(std::memory_order_relaxed) & kStale) != 0) shared_.take_in_what_has_gone();
  if (shared_.cache_.has_broken()) shared_.hand_over(shared_.cache_.reap());
  shared_.alone_.store(true, std::memory_order_seq_cst);
}

SharedCache::Exclusive::~Exclusive() {
  shared_.alone_.store(false, std::memory_order_seq_cst);
  for (const auto id : shared_.counted_) shared_.cache_.uncount_user(id);
  shared_.broken_.store(shared_.cache_.has_broken(), std::memory_order_relaxed);
  shared_.state_.fetch_and(~unsigned{kAlone}, std::memory_order_release);
}

void SharedCache::count_users() {
  counted_.clear();
  for (const auto* user : users_)
    for (std::uint32_t at = 0; at < user->places_.load(std::memory_order_relaxed); ++at) {
      const auto id = user->held_[at].load(std::memory_order_acquire);
      if (id == kNoRegion) continue;
      counted_.push_back(id);
      cache_.count_user(id);
    }
}

void SharedCache::take_in_what_has_gone() {
  const std::scoped_lock lock{gone_mutex_};
  const auto spaces = spaces_.load(std::memory_order_relaxed);
  for (const auto& pages : gone_)
    for (std::uint64_t space = 0; space < spaces; ++space)
      hand_over(cache_.invalidate({space * kSpacePages + pages.first, pages.count}));
  gone_.clear();
}

void SharedCache::use_spaces(std::uint64_t count) {
  const Exclusive alone{*this};
  if (count > spaces_.load(std::memory_order_relaxed)) spaces_.store(count, std::memory_order_relaxed);
}

void SharedCache::hand_over(const std::vector<Eviction>& evicted) {
  if (!invalidated_) return;
  for (const auto& one : evicted) invalidated_(one);
}

void SharedCache::invalidate(const std::function<void(std::vector<Pages>& gone)>& hear) {
  state_.fetch_or(kStale, std::memory_order_seq_cst);
  times_gone_.fetch_add(1, std::memory_order_seq_cst);
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

void SharedCache::reap() {
  const Exclusive alone{*this};
}

}  // namespace longhaul::registration
