// Re-keying by memory window: a bind is a work request, so it needs a queue pair that is ready to send, but nothing is
// ever sent: it is connected to itself.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>

#include "common/error.hh"
#include "observe/clock.hh"
#include "workloads/harness/session.hh"
#include "workloads/suite/registration_cost/method.hh"
#include "workloads/transport/verbs/registrar.hh"

namespace longhaul::workloads::registration_cost {
namespace {

using Window = Owned<ibv_mw, ::ibv_dealloc_mw>;
using OwnQueuePair = Owned<ibv_qp, ::ibv_destroy_qp>;

constexpr std::uint8_t kPort = 1;
constexpr Nanoseconds kPatience = std::chrono::seconds{1};

// Of an IPv4 address: the others need not be routable.
int gid_index(ibv_context* context, ibv_gid& gid) {
  ibv_port_attr port{};
  if (const int error = ::ibv_query_port(context, kPort, &port); error != 0) throw_errno("query an RDMA port", error);
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  for (int i = 0; i < port.gid_tbl_len; ++i)
    if (::ibv_query_gid(context, kPort, i, &gid) == 0 && std::equal(kMapped.begin(), kMapped.end(), gid.raw)) return i;
  throw Unsupported("the device has no GID of an IPv4 address: give its interface one");
}

class Bind final : public Method {
 public:
  Bind(const Adapter& adapter, Mapping& mapping)
      : region_(::ibv_reg_mr(adapter.domain.get(), mapping.data(), mapping.size(), kRegionAccess | IBV_ACCESS_MW_BIND)),
        queue_(::ibv_create_cq(adapter.context.get(), 16, nullptr, nullptr, 0)) {
    if (!region_) throw_errno(fmt::format("register {} bytes for windows on {}", mapping.size(), adapter.device.name));
    if (!queue_) throw_errno("create a completion queue on " + adapter.device.name);
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = queue_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1, .max_inline_data = 0};
    pair_ = OwnQueuePair{::ibv_create_qp(adapter.domain.get(), &attributes)};
    if (!pair_) throw_errno("create a queue pair on " + adapter.device.name);
    make_ready(adapter);
    window_ = Window{::ibv_alloc_mw(adapter.domain.get(), IBV_MW_TYPE_2)};
    if (!window_) throw Unsupported(adapter.device.name + " allocates no memory window: " + errno_text(errno));
    mapping_ = {reinterpret_cast<std::uint64_t>(mapping.data()), mapping.size()};
  }

  Times once() override {
    const auto began = observe::raw_time();
    ibv_send_wr bind{};
    bind.opcode = IBV_WR_BIND_MW;
    bind.send_flags = IBV_SEND_SIGNALED;
    bind.bind_mw.mw = window_.get();
    bind.bind_mw.rkey = ::ibv_inc_rkey(window_->rkey);
    bind.bind_mw.bind_info = {.mr = region_.get(),
                              .addr = mapping_.address,
                              .length = mapping_.length,
                              .mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    execute(bind, "bind a memory window");
    window_->rkey = bind.bind_mw.rkey;  // which the provider goes by the next time, too
    const auto bound = observe::raw_time();
    ibv_send_wr invalidate{};
    invalidate.opcode = IBV_WR_LOCAL_INV;
    invalidate.send_flags = IBV_SEND_SIGNALED;
    invalidate.invalidate_rkey = window_->rkey;
    execute(invalidate, "invalidate a memory window");
    return {{}, bound - began, observe::raw_time() - bound};
  }

 private:
  void make_ready(const Adapter& adapter) {
    const auto step = [&](ibv_qp_attr& attributes, int mask, const char* what) {
      if (const int error = ::ibv_modify_qp(pair_.get(), &attributes, mask); error != 0)
        throw_errno(fmt::format("make a queue pair of {} {}", adapter.device.name, what), error);
    };
    ibv_qp_attr initial{};
    initial.qp_state = IBV_QPS_INIT;
    initial.port_num = kPort;
    initial.qp_access_flags = kRegionAccess | IBV_ACCESS_MW_BIND;
    step(initial, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "initialised");
    ibv_qp_attr receive{};
    receive.qp_state = IBV_QPS_RTR;
    receive.path_mtu = IBV_MTU_1024;
    receive.dest_qp_num = pair_->qp_num;
    receive.max_dest_rd_atomic = 1;
    receive.min_rnr_timer = 12;
    receive.ah_attr.is_global = 1;
    receive.ah_attr.port_num = kPort;
    receive.ah_attr.grh.hop_limit = 1;
    receive.ah_attr.grh.sgid_index =
        static_cast<std::uint8_t>(gid_index(adapter.context.get(), receive.ah_attr.grh.dgid));
    step(receive,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
             IBV_QP_MIN_RNR_TIMER,
         "ready to receive");
    ibv_qp_attr send{};
    send.qp_state = IBV_QPS_RTS;
    send.timeout = 14;
    send.retry_cnt = 7;
    send.rnr_retry = 7;
    send.max_rd_atomic = 1;
    step(send,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
         "ready to send");
  }

  void execute(ibv_send_wr& work, const char* what) {
    ibv_send_wr* bad = nullptr;
    if (const int error = ::ibv_post_send(pair_.get(), &work, &bad); error != 0)
      throw_errno(what, error < 0 ? -error : error);
    ibv_wc done{};
    const auto began = observe::raw_time();
    for (;;) {
      const int count = ::ibv_poll_cq(queue_.get(), 1, &done);
      if (count < 0) throw_errno("poll a completion queue", EIO);
      if (count == 1) break;
      if (observe::raw_time() - began > kPatience) throw_errno(what, ETIMEDOUT);
    }
    if (done.status != IBV_WC_SUCCESS) throw_errno(fmt::format("{}: {}", what, ::ibv_wc_status_str(done.status)), EIO);
  }

  struct Range {
    std::uint64_t address;
    std::uint64_t length;
  };
  MemoryRegion region_;
  CompletionQueue queue_;
  OwnQueuePair pair_;
  Window window_;
  Range mapping_{};
};

}  // namespace

std::unique_ptr<Method> make_window(const Adapter& adapter, Mapping& mapping) {
  ibv_device_attr limits{};
  if (const int error = ::ibv_query_device(adapter.context.get(), &limits); error != 0)
    throw_errno("query RDMA device " + adapter.device.name, error);
  constexpr unsigned kTypes = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  if ((limits.device_cap_flags & kTypes) == 0)
    throw Unsupported(
        fmt::format("{} ({}) has no memory windows of type 2", adapter.device.name, adapter.device.provider));
  return std::make_unique<Bind>(adapter, mapping);
}

}  // namespace longhaul::workloads::registration_cost
