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
  out_of_memory += other.out_of_memory;
  registering += other.registering;
  deregistering += other.deregistering;
  exposed += other.exposed;
  return *this;
}

Executor::Executor(Registrar& registrar, std::unique_ptr<RegionCache> cache, Granularity granularity)
    : registrar_(registrar), cache_(std::move(cache)) {
  if (cache_ && granularity == Granularity::page)
    throw std::logic_error("a cache of single pages is for simulation: an adapter registers ranges");
}

Executor::~Executor() {
  for (const auto& cached : cached_)
    if (cached.region.handle != 0) discharge(cached.region.handle);
}

Executor::Lease Executor::begin(Pages asked) {
  ++counters_.requests;
  Lease lease;
  lease.asked_ = asked;
  if (!cache_) {
    lease.kept_ = false;
    lease.gaps_.push_back(asked);
    return lease;
  }
  const auto& plan = cache_->request(asked);
  if (plan.hit()) ++counters_.hits;
  if (plan.coverage == Coverage::overlap) ++counters_.overlaps;
  counters_.evictions += plan.evicted.size();
  lease.kept_ = plan.kept;
  lease.ids_ = plan.covered;
  lease.gaps_ = plan.gaps;
  // An id may be used again as soon as another region is added, so its handle comes out of the books now.
  for (const auto& eviction : plan.evicted) lease.doomed_.push_back(take_out(eviction));
  for (const auto id : plan.covered) add_piece(lease, cache_->pages_of_region(id), cached_[id].region.keys);
  return lease;
}

Result<void> Executor::complete(Lease& lease) {
  for (const auto handle : lease.doomed_) discharge(handle);
  lease.doomed_.clear();
  while (!lease.gaps_.empty()) {
    const auto gap = lease.gaps_.back();
    const auto region = enlist_with_room(gap);
    if (!region) {
      const auto error = region.error();
      lease.gaps_.clear();
      release(lease);
      return fail("register {} KiB at {:#x}: {}{}", gap.count * kPageSize / 1024, gap.first * kPageSize,
                  errno_text(error),
                  error == ENOMEM ? "; nothing is left that could be evicted: raise the limit of locked memory "
                                    "(ulimit -l), or lower the capacity"
                                  : "");
    }
    lease.gaps_.pop_back();
    add_piece(lease, gap, region->keys);
    if (!lease.kept_) {
      lease.uncached_.push_back(region->handle);
      continue;
    }
    cache_->add(gap, lease.ids_);
    const auto id = lease.ids_.back();
    if (cached_.size() <= id) cached_.resize(id + 1);
    cached_[id] = {*region, now()};
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

void Executor::release(Lease& lease) {
  for (const auto handle : lease.uncached_) discharge(handle);
  lease.uncached_.clear();
  if (cache_) {
    const auto ended = now();
    for (const auto id : lease.ids_) cached_[id].last_used = ended;
    for (const auto& eviction : cache_->release(lease.ids_)) discharge(take_out(eviction));
  }
  lease.ids_.clear();
  lease.pieces_.clear();
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
    if (region || region.error() != ENOMEM || !cache_) return region;
    const auto& evicted = cache_->evict(pages.count);
    if (evicted.empty()) return region;
    ++counters_.out_of_memory;
    counters_.evictions += evicted.size();
    for (const auto& eviction : evicted) discharge(take_out(eviction));
  }
}

void Executor::discharge(Registrar::Handle handle) {
  const auto began = now();
  const int error = registrar_.remove(handle);
  counters_.deregistering += now() - began;
  ++counters_.deregistrations;
  if (error != 0) log::warn("a memory region could not be deregistered: {}", errno_text(error));
}

Registrar::Handle Executor::take_out(const Eviction& eviction) {
  auto& cached = cached_[eviction.id];
  counters_.exposed += now() - cached.last_used;
  const auto handle = cached.region.handle;
  cached = {};
  return handle;
}

// Of a region what was asked for.
void Executor::add_piece(Lease& lease, Pages region, Keys keys) const {
  const auto first = std::max(region.first, lease.asked_.first);
  const auto end = std::min(region.end(), lease.asked_.end());
  if (first < end) lease.pieces_.push_back({{first, end - first}, keys});
}

}  // namespace longhaul::registration
