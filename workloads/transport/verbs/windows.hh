// Memory windows of type 2B: one region is registered once, and each use of a part of it is a window that is bound by a
// request to the adapter, on the queue pair of the peer that may reach it, and invalidated by another. No system call
// maps or pins anything on the way.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "registration/cache/executor.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/verbs/owners.hh"

namespace longhaul::workloads {

/// The send queue that windows are bound and invalidated by.
class LocalRequests {
 public:
  virtual ~LocalRequests() = default;
  /// Posts a request that moves no bytes; returns its number. `more`: another request follows at once.
  virtual std::uint64_t post_local(const ibv_send_wr& work, bool signaled, bool more) = 0;
  /// The requests up to this number are complete.
  virtual std::uint64_t completed() const = 0;
};

/// Goes before the queue pair and the region do.
class VerbsWindows final : public registration::Registrar {
 public:
  /// `region` allows windows (IBV_ACCESS_MW_BIND). `rights`: of a peer that has a window's key; none: no window is
  /// bound at all.
  VerbsWindows(ibv_pd* domain, ibv_mr* region, Rights rights, LocalRequests& requests);

  /// Posted with the request that follows. Where that is a message with the key, the window is there when the peer has
  /// it: an adapter takes requests one after another.
  tl::expected<Registered, int> add(registration::Pages pages) override;
  /// Posted, too: see removals().
  int remove(Handle handle) override;
  /// The peer's message has invalidated the window with this key (IBV_WC_WITH_INV).
  void invalidated(std::uint32_t key);
  std::uint64_t removals() const override { return removals_; }
  std::uint64_t completed_removals() override;
  std::uint64_t closed_by_peer() const override { return closed_by_peer_; }

 private:
  struct Window {
    MemoryWindow window;
    std::uint32_t key = 0;  // by the last request that was made
    bool open = false;
  };
  struct Invalidation {
    std::uint64_t request = 0;  // 0: none was needed
    Handle window = 0;
  };

  ibv_pd* domain_;
  ibv_mr* region_;
  unsigned access_;
  LocalRequests& requests_;
  std::vector<Window> windows_;  // by handle
  std::vector<Handle> free_;
  std::deque<Invalidation> invalidated_;  // not known to be complete
  std::uint64_t removals_ = 0;
  std::uint64_t closed_by_peer_ = 0;
};

}  // namespace longhaul::workloads
