#include "registration/preload/keeper.hh"

#include <sys/mman.h>

#include <cerrno>
#include <thread>

#include "registration/cache/wiped_page.hh"
#include "registration/preload/threads.hh"

namespace longhaul::registration {
namespace {

constexpr std::size_t kMostRanges = 8192;  // watched; the kernel lets a process have 65530 mappings

// Within libibverbs: one of its functions calls another one, by a name that leads to us (ibv_reg_mr to
// ibv_reg_mr_iova2).
thread_local bool inside = false;

std::uint64_t fresh_identity() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

ibv_mr* call_of(const Verbs& verbs, const Keeper::Request& request) {
  using Call = Keeper::Request::Call;
  switch (request.call) {
    case Call::iova:
      return verbs.reg_mr_iova(request.pd, request.address, request.length, request.iova,
                               static_cast<int>(request.access));
    case Call::iova2:
      return verbs.reg_mr_iova2(request.pd, request.address, request.length, request.iova, request.access);
    case Call::reg_mr:
      break;
  }
  return verbs.reg_mr(request.pd, request.address, request.length, static_cast<int>(request.access));
}

Result<std::unique_ptr<Keeper>> Keeper::open(const Verbs& verbs, const Settings& settings, std::string_view kernel,
                                             std::function<void()> given_up) {
  if (verbs.reg_mr == nullptr || verbs.dereg_mr == nullptr) return fail("libibverbs.so.1 has no ibv_reg_mr");
  if (!copies_registered_pages(kernel))
    return fail("Linux {} does not copy registered pages when a process forks, 5.12 and newer do", kernel);
  auto setup = cache_setup(settings);
  if (!setup) return tl::unexpected(setup.error());
  std::unique_ptr<Keeper> keeper{new Keeper{verbs, settings, *setup, given_up}};
  auto watch = MappingWatch::open(keeper->cache_, [given_up, raw = keeper.get()] {
    if (raw->aside_.load(std::memory_order_relaxed) != nullptr) given_up();
  });
  if (!watch) return tl::unexpected(watch.error());
  keeper->watch_ = std::move(*watch);
  return keeper;
}

Keeper::Keeper(const Verbs& verbs, const Settings& settings, CacheSetup setup, std::function<void()> given_up)
    : verbs_(verbs),
      settings_(settings),
      given_up_(std::move(given_up)),
      table_(std::make_unique<Table>()),
      cache_(setup.capacity, setup.policy, setup.options,
             [this](const Eviction& one) {
               // Perhaps on the watch's thread, which must not wait for what deregistering may do.
               auto* const kept = table_->take(one.id);
               invalidated_.fetch_add(1, std::memory_order_relaxed);
               if (!begin_to_end(*kept)) return;
               kept->next = aside_.load(std::memory_order_relaxed);
               while (!aside_.compare_exchange_weak(kept->next, kept, std::memory_order_release)) continue;
             }),
      alive_(page_that_a_child_finds_wiped()),
      identity_(fresh_identity()) {
  make_key();
}

Keeper::~Keeper() {
  watch_.reset();
  if (!forked()) {
    auto* const thread = this_thread();
    evict_all(*thread);
    tidy();
  }
  end_threads();
  ::munmap(const_cast<char*>(alive_), kPageSize);
}

ibv_mr* Keeper::call(const Request& request) const {
  const bool before = std::exchange(inside, true);
  auto* const region = call_of(verbs_, request);
  inside = before;
  return region;
}

ibv_mr* Keeper::add(const Request& request, bool remote) {
  if (inside || forked()) return call(request);
  auto& thread = *this_thread();
  const auto address = reinterpret_cast<std::uint64_t>(request.address);
  const auto admission = admit(address, request.length, request.iova, request.access, settings_.remote || remote);
  if (admission != Admission::keep) return pass_by(thread, request, admission);
  const auto space =
      spaces_.of(request.pd, request.access, thread.last, [this](std::uint32_t count) { cache_.use_spaces(count); });
  if (space == Spaces::kNone) return pass_by(thread, request, Admission::busy);
  const auto first = address / kPageSize;
  const auto last = (address + (request.length - 1)) / kPageSize;
  const Pages pages{space * SharedCache::kSpacePages + first, last - first + 1};

  if (settings_.unmapping == Executor::Unmapping::by_any_thread) watch_->settle();
  if (const auto id = thread.user.find(pages); id != kNoRegion) {
    auto* const kept = table_->at(id);
    const bool found = fits(*kept, request);
    if (found) kept->uses.fetch_add(1, std::memory_order_relaxed);
    thread.user.release(id);
    if (cache_.broken()) {
      cache_.reap();
      tidy();
    }
    if (found) return handle_of(thread, request, *kept);
  }
  return miss(thread, request, pages);
}

bool Keeper::fits(const Kept& kept, const Request& request) const {
  const auto address = reinterpret_cast<std::uint64_t>(request.address);
  if (settings_.reach == Settings::Reach::asked) return kept.address == address && kept.length == request.length;
  return kept.address <= address && kept.address + kept.length >= address + request.length;
}

// In use by the caller already.
ibv_mr* Keeper::handle_of(Thread& thread, const Request& request, Kept& kept) {
  auto* const handle = handles_.take(thread.purse);
  if (handle == nullptr) {
    if (kept.uses.fetch_sub(1, std::memory_order_acq_rel) - 1 == Kept::kOut) end(thread, &kept);
    return pass_by(thread, request, Admission::busy);
  }
  handle->mr = *kept.region;
  handle->mr.addr = request.address;
  handle->mr.length = request.length;
  handle->access = request.access;
  handle->kept = &kept;
  count(thread, kHits);
  return &handle->mr;
}

ibv_mr* Keeper::pass_by(Thread& thread, const Request& request, Admission why) {
  count(thread, kPassed + static_cast<std::size_t>(why));
  return register_with_room(thread, request);
}

// What is kept must not take the memory away that the program may lock: then all of it goes.
ibv_mr* Keeper::register_with_room(Thread& thread, const Request& request) {
  auto* const region = call(request);
  if (region != nullptr || errno != ENOMEM || !evict_all(thread)) return region;
  count(thread, kOutOfMemory);
  return call(request);
}

ibv_mr* Keeper::miss(Thread& thread, const Request& request, Pages pages) {
  if (!copies_on_fork_.load(std::memory_order_relaxed) && verbs_.is_fork_initialized != nullptr) {
    const auto status = verbs_.is_fork_initialized();
    // What is kept would be hidden from children although the program has deregistered it.
    if (status == IBV_FORK_ENABLED) return pass_by(thread, request, Admission::fork);
    if (status == IBV_FORK_UNNEEDED) copies_on_fork_.store(true, std::memory_order_relaxed);
  }
  const auto found = thread.user.exclusively([&](RegionCache& cache) { return look(thread, cache, request, pages); });
  end_all(thread, found.gone);
  if (found.kept != nullptr) return handle_of(thread, request, *found.kept);
  if (found.gap.count == 0) return pass_by(thread, request, Admission::busy);
  const auto times_gone = cache_.times_gone();
  const Pages real{found.gap.first % SharedCache::kSpacePages, found.gap.count};
  if (const auto watched = watch(real); watched != Admission::keep) return pass_by(thread, request, watched);

  auto wanted = request;
  if (settings_.reach == Settings::Reach::pages) {
    wanted.iova = real.first * kPageSize;
    wanted.address = reinterpret_cast<void*>(wanted.iova);
    wanted.length = real.count * kPageSize;
  }
  auto* const region = register_with_room(thread, wanted);
  if (region == nullptr) return nullptr;
  auto* const fresh = new Kept;
  fresh->region = region;
  fresh->address = wanted.iova;
  fresh->length = wanted.length;
  fresh->pages = found.gap;
  fresh->uses.store(1, std::memory_order_relaxed);
  Kept* gone = nullptr;
  const bool kept =
      thread.user.exclusively([&](RegionCache& cache) { return enlist(thread, cache, *fresh, times_gone, gone); });
  if (!kept) fresh->uses.fetch_or(Kept::kOut, std::memory_order_relaxed);
  end_all(thread, gone);
  auto* const mr = handle_of(thread, request, *fresh);
  // handle_of() takes it for a hit.
  count(thread, kHits, ~std::uint64_t{0});
  count(thread, kept ? std::size_t{kMisses} : kPassed + static_cast<std::size_t>(Admission::busy));
  return mr;
}

// Regions in the way of one over all that is asked for go, but not while a thread has just found them.
Keeper::Found Keeper::look(Thread& thread, RegionCache& cache, const Request& request, Pages pages) {
  Found found;
  for (int round = 0; round < 2; ++round) {
    const auto& plan = cache.request(pages);
    count(thread, kEvicted, plan.evicted.size());
    found.gone = take_out(plan.evicted, found.gone);
    if (plan.hit() && plan.covered.size() == 1) {
      auto* const kept = table_->at(plan.covered.front());
      if (fits(*kept, request)) {
        kept->uses.fetch_add(1, std::memory_order_relaxed);
        found.kept = kept;
      }
    } else if (plan.kept && plan.covered.empty() && plan.gaps.size() == 1) {
      found.gap = plan.gaps.front();
    }
    const bool hopeless = plan.covered.empty();
    const auto covered = plan.covered;
    cache.release(covered);
    if (found.kept != nullptr || found.gap.count > 0 || hopeless) break;
    const auto& in_the_way = cache.invalidate(pages);
    count(thread, kEvicted, in_the_way.size());
    found.gone = take_out(in_the_way, found.gone);
  }
  return found;
}

// Not when a mapping went since it was registered: it might have been this one. Nor when another thread was first.
bool Keeper::enlist(Thread& thread, RegionCache& cache, Kept& fresh, std::uint64_t times_gone, Kept*& gone) {
  if (cache_.times_gone() != times_gone) return false;
  const auto& plan = cache.request(fresh.pages);
  count(thread, kEvicted, plan.evicted.size());
  gone = take_out(plan.evicted, gone);
  const bool free = plan.kept && plan.covered.empty() && plan.gaps.size() == 1 && plan.gaps.front() == fresh.pages;
  std::vector<RegionId> leased = plan.covered;
  if (free) {
    cache.add(fresh.pages, leased);
    table_->put(leased.front(), &fresh);
  }
  cache.release(leased);
  return free;
}

Admission Keeper::watch(Pages pages) {
  if (watch_->covers(pages)) return Admission::keep;
  if (watch_->ranges() >= kMostRanges) return Admission::unwatched;
  if (!settings_.shared && !is_private_memory(pages.first * kPageSize, pages.end() * kPageSize))
    return Admission::shared;
  return watch_->cover(pages) ? Admission::keep : Admission::unwatched;
}

// False: the program uses it, and ends it.
bool Keeper::begin_to_end(Kept& kept) {
  auto& ending = ending_[kept.space()];
  ending.fetch_add(1, std::memory_order_relaxed);
  if (kept.uses.fetch_or(Kept::kOut, std::memory_order_acq_rel) == 0) return true;
  ending.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// Of what other threads have taken out: a domain that still has regions cannot be deallocated. True if there was any.
bool Keeper::await_end(std::uint64_t space) const {
  bool waited = false;
  for (; ending_[space].load(std::memory_order_acquire) != 0; waited = true) std::this_thread::yield();
  return waited;
}

// While no other thread uses the cache. Those that the program uses go when it deregisters them.
Kept* Keeper::take_out(const std::vector<Eviction>& evicted, Kept* gone) {
  for (const auto& one : evicted) {
    auto* const kept = table_->take(one.id);
    if (!begin_to_end(*kept)) continue;
    kept->next = gone;
    gone = kept;
  }
  return gone;
}

int Keeper::end(Thread& thread, Kept* kept) {
  const int error = verbs_.dereg_mr(kept->region);
  if (error != 0) count(thread, kFailed);
  delete kept;
  return error;
}

void Keeper::end_all(Thread& thread, Kept* gone) {
  while (gone != nullptr) {
    auto& ending = ending_[gone->space()];
    end(thread, std::exchange(gone, gone->next));
    ending.fetch_sub(1, std::memory_order_release);
  }
}

void Keeper::tidy() {
  if (!forked()) end_all(*this_thread(), aside_.exchange(nullptr, std::memory_order_acquire));
}

bool Keeper::evict_all(Thread& thread) {
  auto* const gone = thread.user.exclusively([&](RegionCache& cache) {
    const auto& all = cache.invalidate({0, ~std::uint64_t{0}});
    count(thread, kEvicted, all.size());
    return take_out(all, nullptr);
  });
  auto* const aside = aside_.exchange(nullptr, std::memory_order_acquire);
  end_all(thread, gone);
  end_all(thread, aside);
  bool freed = gone != nullptr || aside != nullptr;
  for (std::uint64_t space = 0; space < Spaces::kMost; ++space) freed = await_end(space) || freed;
  return freed;
}

void Keeper::flush(const std::vector<std::uint32_t>& spaces) {
  if (forked()) return;
  auto& thread = *this_thread();
  for (const auto space : spaces) {
    auto* const gone = thread.user.exclusively([&](RegionCache& cache) {
      const auto& all = cache.invalidate({space * SharedCache::kSpacePages, SharedCache::kSpacePages});
      count(thread, kFlushed, all.size());
      return take_out(all, nullptr);
    });
    end_all(thread, gone);
  }
  tidy();
  for (const auto space : spaces) await_end(space);
  spaces_.close(spaces);
}

int Keeper::remove(ibv_mr* mr) {
  if (!handles_.contains(mr)) return verbs_.dereg_mr(mr);
  auto* const handle = reinterpret_cast<Handle*>(mr);
  auto* const kept = handle->kept;
  if (forked()) return verbs_.dereg_mr(kept != nullptr ? kept->region : handle->own);
  auto& thread = *this_thread();
  if (kept == nullptr) {
    if (handle->own == nullptr) return EINVAL;  // twice
    if (const int error = verbs_.dereg_mr(handle->own); error != 0) return error;
    handles_.give(thread.purse, handle);
    return 0;
  }
  handles_.give(thread.purse, handle);
  count(thread, kDeregistered);
  return kept->uses.fetch_sub(1, std::memory_order_acq_rel) - 1 == Kept::kOut ? end(thread, kept) : 0;
}

// The region goes out of the cache, and if nobody else uses it it becomes the handle's.
bool Keeper::make_own(Thread& thread, Handle& handle) {
  auto* const kept = handle.kept;
  thread.user.exclusively([&](RegionCache& cache) {
    const auto& out = cache.invalidate(kept->pages);
    count(thread, kEvicted, out.size());
    take_out(out, nullptr);  // this one is in use, and regions do not overlap
  });
  if (settings_.reach == Settings::Reach::pages || kept->uses.load(std::memory_order_acquire) != (Kept::kOut | 1))
    return false;
  handle.own = kept->region;
  handle.kept = nullptr;
  delete kept;
  return true;
}

int Keeper::change(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) {
  if (forked() || !handles_.contains(mr)) return verbs_.rereg_mr(mr, flags, pd, address, length, access);
  auto& handle = *reinterpret_cast<Handle*>(mr);
  auto& thread = *this_thread();
  if (handle.own != nullptr || (handle.kept != nullptr && make_own(thread, handle))) {
    const int error = verbs_.rereg_mr(handle.own, flags, pd, address, length, access);
    handle.mr = *handle.own;
    return error;
  }
  constexpr int all = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
  if (handle.kept == nullptr || flags == 0 || (flags & ~all) != 0) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  // Others use it as it is: this one gets a region as it is to be.
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  Request request{(flags & IBV_REREG_MR_CHANGE_PD) != 0 ? pd : mr->pd, moves ? address : mr->addr,
                  moves ? length : mr->length};
  request.access = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? static_cast<unsigned>(access) : handle.access;
  auto* const region = register_with_room(thread, request);
  if (region == nullptr) return IBV_REREG_MR_ERR_INPUT;
  auto* const kept = std::exchange(handle.kept, nullptr);
  if (kept->uses.fetch_sub(1, std::memory_order_acq_rel) - 1 == Kept::kOut) end(thread, kept);
  handle.own = region;
  handle.mr = *region;
  handle.access = request.access;
  return 0;
}

}  // namespace longhaul::registration
