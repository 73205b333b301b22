// The cache between a program and libibverbs: keeps registered what the program deregisters. Any thread may call it.
// Its own threads (the mapping watch's, and one that deregisters what the watch gives up) never wait for the program.
#pragma once

#include <pthread.h>

#include <array>
#include <memory>
#include <optional>

#include "registration/preload/handles.hh"
#include "registration/preload/settings.hh"
#include "registration/preload/spaces.hh"
#include "registration/preload/statistics.hh"
#include "registration/preload/verbs.hh"

namespace longhaul::registration {

class Keeper {
 public:
  struct Request {
    enum class Call { reg_mr, iova, iova2 };
    ibv_pd* pd = nullptr;
    void* address = nullptr;
    std::size_t length = 0;
    std::uint64_t iova = 0;
    unsigned access = 0;
    Call call = Call::reg_mr;
  };

  /// Refuses where nothing can be kept safely: no userfaultfd, or a kernel that does not copy registered pages when a
  /// process forks. `given_up` is called on the watch's thread when there is something for tidy(): it must not
  /// allocate.
  static Result<std::unique_ptr<Keeper>> open(const Verbs& verbs, const Settings& settings, std::string_view kernel,
                                              std::function<void()> given_up);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  /// As ibv_reg_mr: nullptr and errno where it fails. `remote`: remote rights are kept even if the settings say no.
  ibv_mr* add(const Request& request, bool remote = false);
  int remove(ibv_mr* mr);
  int change(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access);
  /// Ends what is kept in a protection domain, or of a device. What the program still holds stays its own.
  void flush(const ibv_pd* pd) { flush(spaces_.of_domain(pd)); }
  void flush(const ibv_context* context) { flush(spaces_.of_device(context)); }

  /// Deregisters what was given up.
  void tidy();
  Statistics statistics();

 private:
  class Table;
  struct Thread;
  enum Count { kHits, kMisses, kDeregistered, kEvicted, kInvalidated, kFlushed, kOutOfMemory, kFailed, kPassed };
  static constexpr std::size_t kCounts = kPassed + kAdmissions;

  Keeper(const Verbs& verbs, const Settings& settings, CacheSetup setup, std::function<void()> given_up);
  Thread* this_thread();
  Thread* enter_thread();
  void make_key();
  void end_threads();
  void leave_thread(Thread* thread);
  static void count(Thread& thread, std::size_t what, std::uint64_t more = 1);

  ibv_mr* pass_by(Thread& thread, const Request& request, Admission why);
  ibv_mr* miss(Thread& thread, const Request& request, Pages pages);
  ibv_mr* handle_of(Thread& thread, const Request& request, Kept& kept);
  ibv_mr* register_with_room(Thread& thread, const Request& request);
  Admission watch(Pages pages);
  bool fits(const Kept& kept, const Request& request) const;
  /// What a request finds when no other thread uses the cache.
  struct Found {
    Kept* kept = nullptr;  ///< in use
    Pages gap;             ///< else to be registered; none: it cannot be kept
    Kept* gone = nullptr;  ///< to be deregistered
  };
  Found look(Thread& thread, RegionCache& cache, const Request& request, Pages pages);
  bool enlist(Thread& thread, RegionCache& cache, Kept& fresh, std::uint64_t times_gone, Kept*& gone);
  Kept* take_out(const std::vector<Eviction>& evicted, Kept* gone);
  bool begin_to_end(Kept& kept);
  bool await_end(std::uint64_t space) const;
  void end_all(Thread& thread, Kept* gone);
  int end(Thread& thread, Kept* kept);
  bool evict_all(Thread& thread);
  void flush(const std::vector<std::uint32_t>& spaces);
  bool make_own(Thread& thread, Handle& handle);
  ibv_mr* call(const Request& request) const;
  bool forked() const { return *alive_ == 0; }

  Verbs verbs_;
  Settings settings_;
  std::function<void()> given_up_;
  Handles handles_;
  Spaces spaces_;
  std::unique_ptr<Table> table_;
  SharedCache cache_;
  std::atomic<Kept*> aside_{nullptr};
  // By space: regions that are out of the cache and not deregistered yet, by whatever thread.
  std::array<std::atomic<std::uint32_t>, Spaces::kMost> ending_{};
  std::atomic<std::uint64_t> invalidated_{0};
  const volatile char* alive_;               // a page that a forked child finds wiped
  std::atomic<bool> copies_on_fork_{false};  // libibverbs says so
  std::uint64_t identity_;                   // among the keepers that there ever were
  pthread_key_t thread_key_{};
  std::mutex threads_mutex_;
  Thread* threads_ = nullptr;                  // guarded by threads_mutex_
  std::array<std::uint64_t, kCounts> past_{};  // of threads that have ended; guarded by threads_mutex_
  std::unique_ptr<MappingWatch> watch_;        // last: its thread uses the others
};

/// The function of libibverbs that was asked for.
ibv_mr* call_of(const Verbs& verbs, const Keeper::Request& request);

}  // namespace longhaul::registration
