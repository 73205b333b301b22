// Move-only owners of verbs and rdma_cm objects. Declare parents before children: members go in reverse order.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <utility>

#include "common/log.hh"

namespace longhaul::workloads {

/// `Destroy` returns 0, an errno value (ibv_*) or -1 with errno (rdma_*).
template <typename T, auto Destroy>
class Owned {
 public:
  Owned() noexcept = default;
  explicit Owned(T* object) noexcept : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      release();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ~Owned() { release(); }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  void release() noexcept {
    if (object_ == nullptr) return;
    const int error = Destroy(std::exchange(object_, nullptr));
    if (error != 0) log::warn("an RDMA object could not be destroyed: {}", errno_text(error > 0 ? error : errno));
  }
  T* object_ = nullptr;
};

namespace detail {
inline int destroy_event_channel(rdma_event_channel* channel) {
  ::rdma_destroy_event_channel(channel);
  return 0;
}
inline int deallocate_window(ibv_mw* window) {
  return ::ibv_dealloc_mw(window);
}
inline int destroy_qp_of(rdma_cm_id* id) {
  ::rdma_destroy_qp(id);
  return 0;
}
}  // namespace detail

using EventChannel = Owned<rdma_event_channel, detail::destroy_event_channel>;
using CmId = Owned<rdma_cm_id, ::rdma_destroy_id>;
using ProtectionDomain = Owned<ibv_pd, ::ibv_dealloc_pd>;
using CompletionChannel = Owned<ibv_comp_channel, ::ibv_destroy_comp_channel>;
using CompletionQueue = Owned<ibv_cq, ::ibv_destroy_cq>;
using MemoryRegion = Owned<ibv_mr, ::ibv_dereg_mr>;
using MemoryWindow = Owned<ibv_mw, detail::deallocate_window>;
/// The queue pair of an id: rdma_cm moves it through its states, so it goes by its id.
using QueuePair = Owned<rdma_cm_id, detail::destroy_qp_of>;

}  // namespace longhaul::workloads
