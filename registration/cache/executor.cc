#include "registration/cache/executor.hh"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <stdexcept>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::registration {
namespace {

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

}  // namespace

ExecutorCounters& ExecutorCounters::operator+=(const ExecutorCounters& other) {
  requests += other.requests;
  hits += other.hits;
  overlaps += other.overlaps;
  registrations += other.registrations;
  registered_pages += other.registered_pages;
  deregistrations += other.deregistrations;
  evictions += other.evictions;
  closed_by_peer += other.closed_by_peer;
  out_of_memory += other.out_of_memory;
  registering += other.registering;
  deregistering += other.deregistering;
  exposed += other.exposed;
  most_idle_pages += other.most_idle_pages;
  return *this;
}

Executor::Executor(Registrar& registrar, const std::optional<CacheSetup>& cache, std::size_t watermark)
    : registrar_(registrar), watermark_(watermark) {
  if (!cache) return;
  if (cache->options.granularity == Granularity::page)
    throw std::logic_error("a cache of single pages is for simulation: an adapter registers ranges");
  cache_ = std::make_unique<SharedCache>(cache->capacity, cache->policy, cache->options, [this](const Eviction& one) {
    const std::scoped_lock lock{gone_mutex_};
    gone_.push_back(take_out(one.id));
  });
  user_.emplace(*cache_);
}

Executor::~Executor() {
  watch_.reset();
  discharge_idle();
  discharge_gone();
  for (const auto& cached : cached_)
    if (cached.region.handle != 0) discharge({{cached.region.handle, cached.pages, cached.last_used}}, counters_);
}

Result<void> Executor::watch(Pages area, Unmapping unmapping) {
  if (!cache_) return {};
  auto watch = MappingWatch::open(*cache_, [this] { discharge_gone(); });
  if (!watch) return tl::unexpected(watch.error());
  if (auto covered = (*watch)->cover(area); !covered) return covered;
  watch_ = std::move(*watch);
  settles_ = unmapping == Unmapping::by_any_thread;
  return {};
}

Executor::Lease Executor::begin(Pages asked) {
  ++counters_.requests;
  Lease lease{*this, asked};
  if (!cache_) {
    lease.kept_ = false;
    lease.gaps_.push_back(asked);
    return lease;
  }
  if (settles_) watch_->settle();
  lease.found_ = user_->find(asked);
  if (lease.found_ != kNoRegion) {
    ++counters_.hits;
    add_piece(lease, asked, cached_[lease.found_].region.keys);
    return lease;
  }
  tidy();  // what the requests before left: no more than one batch is registered beyond the capacity
  user_->exclusively([&](RegionCache& cache) { plan(lease, cache); });
  return lease;
}

void Executor::plan(Lease& lease, RegionCache& cache) {
  const auto& plan = cache.request(lease.asked_);
  if (plan.hit()) ++counters_.hits;
  if (plan.coverage == Coverage::overlap) ++counters_.overlaps;
  counters_.evictions += plan.evicted.size();
  lease.kept_ = plan.kept;
  lease.ids_ = plan.covered;
  lease.gaps_ = plan.gaps;
  take_out(plan.evicted);
  for (const auto id : plan.covered) add_piece(lease, cache.pages_of_region(id), cached_[id].region.keys);
}

Result<void> Executor::complete(Lease& lease) {
  while (!lease.gaps_.empty()) {
    const auto gap = lease.gaps_.back();
    const bool cached = lease.kept_ && cacheable(gap);
    const auto region = enlist_with_room(gap);
    if (!region) {
      const auto error = region.error();
      lease = {};
      return fail("register {} KiB at {:#x}: {}{}", gap.count * kPageSize / 1024, gap.first * kPageSize,
                  errno_text(error),
                  error == ENOMEM ? "; nothing is left that could be evicted: raise the limit of locked memory "
                                    "(ulimit -l), or lower the capacity"
                                  : "");
    }
    lease.gaps_.pop_back();
    add_piece(lease, gap, region->keys);
    if (!cached) {
      lease.uncached_.push_back({region->handle, gap.count, 0});
      continue;
    }
    user_->exclusively([&](RegionCache& cache) {
      cache.add(gap, lease.ids_);
      const auto id = lease.ids_.back();
      if (cached_.size() <= id) cached_.resize(id + 1);
      cached_[id] = {*region, gap.count, now()};
    });
  }
  std::sort(lease.pieces_.begin(), lease.pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.pages.first < b.pages.first; });
  return {};
}

Result<Executor::Lease> Executor::lease(Pages asked) {
  auto lease = begin(asked);
  if (auto done = complete(lease); !done) return tl::unexpected(done.error());
  return lease;
}

// The transfer is over.
void Executor::end(Lease& lease) {
  for (auto one : lease.uncached_) {
    one.last_used = now();
    if (watermark_ > 0)
      let_lie(one);
    else
      discharge({one}, counters_);
  }
  if (lease.found_ != kNoRegion) {
    cached_[lease.found_].last_used = now();
    user_->release(lease.found_);
  }
  if (!lease.ids_.empty()) {
    user_->exclusively([&](RegionCache& cache) {
      const auto ended = now();
      for (const auto id : lease.ids_) cached_[id].last_used = ended;
      take_out(cache.release(lease.ids_));
    });
  }
  if (cache_ && cache_->broken()) {
    cache_->reap();
    discharge_gone();
  }
}

void Executor::tidy() {
  if (idle_.size() > watermark_) discharge_idle();
}

void Executor::discharge_idle() {
  idle_pages_ = 0;
  discharge(std::exchange(idle_, {}), counters_);
}

// Until tidy().
void Executor::let_lie(Unlisted one) {
  idle_pages_ += one.pages;
  counters_.most_idle_pages = std::max(counters_.most_idle_pages, idle_pages_);
  idle_.push_back(one);
}

ExecutorCounters Executor::counters() const {
  const std::scoped_lock lock{gone_mutex_};
  auto sum = counters_;
  return sum += gone_counters_;
}

void Executor::reset() {
  const std::scoped_lock lock{gone_mutex_};
  counters_ = {};
  gone_counters_ = {};
}

// Memory that cannot be watched may be used and must not be cached.
bool Executor::cacheable(Pages pages) {
  if (!watch_) return true;
  const auto began = now();
  const auto covered = watch_->cover(pages);
  counters_.registering += now() - began;
  return covered.has_value();
}

tl::expected<Registrar::Registered, int> Executor::enlist(Pages pages) {
  const auto began = now();
  auto region = registrar_.add(pages);
  counters_.registering += now() - began;
  if (!region) return region;
  ++counters_.registrations;
  counters_.registered_pages += pages.count;
  return region;
}

tl::expected<Registrar::Registered, int> Executor::enlist_with_room(Pages pages) {
  for (;;) {
    auto region = enlist(pages);
    if (region || region.error() != ENOMEM) return region;
    if (idle_.empty() && !cache_) return region;
    if (idle_.empty()) {
      user_->exclusively([&](RegionCache& cache) {
        const auto& evicted = cache.evict(pages.count);
        counters_.evictions += evicted.size();
        take_out(evicted);
      });
      if (idle_.empty()) return region;
      ++counters_.out_of_memory;
    }
    discharge_idle();
  }
}

void Executor::discharge(const std::vector<Unlisted>& all, ExecutorCounters& counters) {
  for (const auto& one : all) {
    const auto began = now();
    const auto closed_before = registrar_.closed_by_peer();
    const int error = registrar_.remove(one.handle);
    counters.deregistering += now() - began;
    counters.exposed += began - one.last_used;
    ++counters.deregistrations;
    counters.closed_by_peer += registrar_.closed_by_peer() - closed_before;
    if (error != 0) log::warn("a memory region could not be deregistered: {}", errno_text(error));
  }
}

void Executor::discharge_gone() {
  std::vector<Unlisted> gone;
  {
    const std::scoped_lock lock{gone_mutex_};
    gone.swap(gone_);
  }
  ExecutorCounters counters;
  discharge(gone, counters);
  const std::scoped_lock lock{gone_mutex_};
  gone_counters_ += counters;
}

// An id may be used again as soon as another region is added: its handle comes out of the books before.
Executor::Unlisted Executor::take_out(RegionId id) {
  const auto cached = std::exchange(cached_[id], {});
  return {cached.region.handle, cached.pages, cached.last_used};
}

void Executor::take_out(const std::vector<Eviction>& evicted) {
  for (const auto& one : evicted) let_lie(take_out(one.id));
}

// Of a region what was asked for.
void Executor::add_piece(Lease& lease, Pages region, Keys keys) const {
  const auto first = std::max(region.first, lease.asked_.first);
  const auto end = std::min(region.end(), lease.asked_.end());
  if (first < end) lease.pieces_.push_back({{first, end - first}, keys});
}

void Executor::Lease::swap(Lease& other) noexcept {
  std::swap(executor_, other.executor_);
  std::swap(asked_, other.asked_);
  pieces_.swap(other.pieces_);
  gaps_.swap(other.gaps_);
  std::swap(found_, other.found_);
  ids_.swap(other.ids_);
  uncached_.swap(other.uncached_);
  std::swap(kept_, other.kept_);
}

}  // namespace longhaul::registration
