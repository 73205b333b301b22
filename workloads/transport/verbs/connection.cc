#include "workloads/transport/verbs/connection.hh"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "common/error.hh"
#include "observe/counters.hh"
#include "registration/cache/pages.hh"
#include "workloads/transport/sizing.hh"
#include "workloads/transport/verbs/per_device.hh"
#include "workloads/transport/verbs/siw_keys.hh"

namespace longhaul::workloads {
namespace {

constexpr std::uint32_t kInlineAtMost = 256;                // more saves nothing: the copy costs as much as the fetch
constexpr std::uint64_t kReceive = std::uint64_t{1} << 63;  // marks a receive's wr_id
constexpr std::uint64_t kAsked = std::uint64_t{1} << 62;    // the caller wants to hear of this request
constexpr std::uint64_t kNumber = kAsked - 1;

// Whether the message has closed a window of ours. Linux's rxe (6.1, do_complete() in rxe_resp.c) hands a program the
// flag by its number in the kernel, IB_WC_WITH_INVALIDATE, which is another flag's here.
bool with_invalidation(const ibv_wc& completion, const RdmaDevice& device) {
  const unsigned flag = device.provider == "rxe" ? IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK : IBV_WC_WITH_INV;
  return (completion.wc_flags & flag) != 0;
}

std::string local_host(rdma_cm_id* id) {
  SocketAddress address;
  address.storage = *reinterpret_cast<const sockaddr_storage*>(::rdma_get_local_addr(id));
  return address.host();
}

std::string peer_host(rdma_cm_id* id) {
  SocketAddress address;
  address.storage = *reinterpret_cast<const sockaddr_storage*>(::rdma_get_peer_addr(id));
  return address.host();
}

ProtectionDomain new_domain(ibv_context* device, const std::string& name) {
  ProtectionDomain domain{::ibv_alloc_pd(device)};
  if (!domain) throw_errno("allocate a protection domain on " + name);
  return domain;
}

// siw hands a page or more that is not signaled to TCP page by page, which takes twice as long as all at once
// (SENDPAGE_THRESH in drivers/infiniband/sw/siw/siw_qp_tx.c).
bool goes_page_by_page(const RdmaDevice& device, const Request& request) {
  return request.length >= registration::kPageSize && request.operation != Operation::read && device.provider == "siw";
}

}  // namespace

Attempt<std::unique_ptr<VerbsConnection>> VerbsConnection::open(EventChannel channel, CmId id, const RdmaDevice& device,
                                                                const ConnectionPlan& plan, Nanoseconds rtt) {
  if (const auto names = lacking(plan, device, id->verbs); !names.empty())
    return unsupported("{} ({}) has no {}", device.name, device.provider, fmt::join(names, ", "));
  return std::unique_ptr<VerbsConnection>(new VerbsConnection(std::move(channel), std::move(id), device, plan, rtt));
}

VerbsConnection::VerbsConnection(EventChannel channel, CmId id, const RdmaDevice& device, const ConnectionPlan& plan,
                                 Nanoseconds rtt)
    : device_(device),
      offers_(workloads::offers(device)),
      channel_(std::move(channel)),
      id_(std::move(id)),
      memory_(total_memory(plan)),
      message_(plan.message) {
  if (plan.prepare) plan.prepare(memory_.bytes());
  ibv_device_attr limits{};
  if (const int error = ::ibv_query_device(id_->verbs, &limits); error != 0)
    throw_errno("query RDMA device " + device.name, error);
  const auto at_most = [](int limit, int wish) { return static_cast<std::uint8_t>(std::clamp(limit, 1, wish)); };
  read_depth_ = at_most(std::min(limits.max_qp_rd_atom, limits.max_qp_init_rd_atom), plan.reads);

  const auto make_domain = [&] { return new_domain(id_->verbs, device.name); };
  domain_ = plan.shared_domain ? per_device<ProtectionDomain>(id_->verbs, make_domain)
                               : std::make_shared<ProtectionDomain>(make_domain());
  invalid_key_ = cover_invalid_key(id_->verbs, device);
  const int access = plan.windows ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND : access_of(plan.rights, device);
  region_ = MemoryRegion{::ibv_reg_mr(domain_->get(), memory_.bytes().data(), plan.memory, access)};
  if (!region_)
    throw_errno(fmt::format("register {} bytes on {} (is the limit of locked memory, ulimit -l, large enough?)",
                            plan.memory, device.name));
  registrar_.emplace(domain_->get(), access);
  completion_channel_ = CompletionChannel{::ibv_create_comp_channel(id_->verbs)};
  if (!completion_channel_) throw_errno("create a completion channel on " + device.name);
  const int flags = check(::fcntl(completion_channel_->fd, F_GETFL), "read the flags of a completion channel");
  check(::fcntl(completion_channel_->fd, F_SETFL, flags | O_NONBLOCK), "make a completion channel non-blocking");

  create_queue_pair(plan, rtt, limits);
  if (plan.windows) windows_.emplace(domain_->get(), region_.get(), plan.rights, static_cast<LocalRequests&>(*this));
  for (std::uint32_t i = 0; i < plan.receives; ++i)
    post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
}

void VerbsConnection::create_queue_pair(const ConnectionPlan& plan, Nanoseconds rtt, const ibv_device_attr& limits) {
  const auto bytes = [](std::size_t count) { return Bytes{static_cast<std::int64_t>(count)}; };
  const auto under_way =
      bytes_under_way(BitRate{link_facts(device_.netdev).bits_per_second}, rtt, bytes(plan.in_flight));
  depth_ = queue_depth(under_way, bytes(plan.message), plan.sends, static_cast<std::uint32_t>(limits.max_qp_wr));

  const auto entries = static_cast<int>(depth_ + plan.receives + 1);
  queue_ = CompletionQueue{
      ::ibv_create_cq(id_->verbs, std::min(entries, limits.max_cqe), nullptr, completion_channel_.get(), 0)};
  if (!queue_) throw_errno(fmt::format("create a completion queue of {} entries on {}", entries, device_.name));

  ibv_qp_init_attr attributes{};
  // Also where messages are larger: siw's sending thread may otherwise take the bytes of a message of up to 32 bytes
  // that follows a larger one from the memory of whichever process last ran there (docs/measuring.md).
  std::uint32_t inline_wanted = kInlineAtMost;
  for (;;) {
    attributes = {};
    attributes.send_cq = queue_.get();
    attributes.recv_cq = queue_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap.max_send_wr = depth_;
    attributes.cap.max_recv_wr = std::max(1U, plan.receives);
    attributes.cap.max_send_sge = 1;
    attributes.cap.max_recv_sge = 1;
    attributes.cap.max_inline_data = inline_wanted;
    if (::rdma_create_qp(id_.get(), domain_->get(), &attributes) == 0) break;
    // No device tells its inline limit beforehand: less is tried until it agrees.
    if (inline_wanted == 0) throw_errno(fmt::format("create a queue pair of {} entries on {}", depth_, device_.name));
    inline_wanted = inline_wanted > 32 ? inline_wanted / 2 : 0;
  }
  queue_pair_ = QueuePair{id_.get()};
  inline_size_ = attributes.cap.max_inline_data;
}

VerbsConnection::~VerbsConnection() {
  if (id_) ::rdma_disconnect(id_.get());  // fails where it was never connected, or is not any more
  if (queue_ && unacknowledged_ > 0) ::ibv_ack_cq_events(queue_.get(), unacknowledged_);
}

Introduction VerbsConnection::introduction(std::uint64_t session, std::uint16_t lane) const {
  return {session, lane, region_->rkey, reinterpret_cast<std::uint64_t>(region_->addr), region_->length};
}

rdma_conn_param VerbsConnection::parameters(std::uint8_t responder_limit, std::uint8_t initiator_limit) const {
  rdma_conn_param result{};
  result.responder_resources = responder_limit == 0 ? read_depth_ : std::min(read_depth_, responder_limit);
  result.initiator_depth = initiator_limit == 0 ? read_depth_ : std::min(read_depth_, initiator_limit);
  result.retry_count = kRetries;
  result.rnr_retry_count = kReceiverNotReadyRetries;
  return result;
}

TransportFacts VerbsConnection::facts() const {
  TransportFacts facts;
  facts.transport = "rdma";
  facts.provider = device_.provider;
  facts.device = device_.name;
  facts.netdev = device_.netdev;
  facts.local_address = local_host(id_.get());
  facts.peer_address = peer_host(id_.get());
  facts.queue_depth = depth_;
  facts.mtu = link_facts(device_.netdev).mtu;
  if (!device_.iwarp) {
    facts.gid = gid_text(id_->route.addr.addr.ibaddr.sgid);
    ibv_qp_attr attributes{};
    ibv_qp_init_attr initial{};
    if (::ibv_query_qp(id_->qp, &attributes, IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT, &initial) == 0) {
      facts.mtu = std::int64_t{128} << attributes.path_mtu;  // IBV_MTU_256 is 1
      facts.retry_count = attributes.retry_cnt;
      facts.timeout_ns = attributes.timeout == 0 ? 0 : ack_timeout(attributes.timeout).count();
    }
  }
  return facts;
}

std::vector<std::string> VerbsConnection::limits() const {
  auto limit = window_limit(device_.provider, Bytes{facts().mtu}, Bytes{static_cast<std::int64_t>(message_)});
  return limit.empty() ? std::vector<std::string>{} : std::vector{std::move(limit)};
}

std::map<std::string, double> VerbsConnection::counters() const {
  return observe::rdma_counters(device_.name);
}

// Throws where the queue is full.
void VerbsConnection::make_room() {
  if (posted_ - retired_ >= depth_ / 2) harvest();
  if (posted_ - retired_ >= depth_) throw std::length_error(fmt::format("more than {} requests under way", depth_));
}

// One in a while must be signaled, else the queue never empties. `asked`: the caller wants to hear of it.
void VerbsConnection::number(ibv_send_wr& work, bool signaled, bool asked) {
  const bool told = signaled || posted_ + 1 - last_signaled_ >= std::max(1U, depth_ / 4);
  ++posted_;
  if (told) last_signaled_ = posted_;
  work.wr_id = posted_ | (asked ? kAsked : 0);
  work.send_flags = told ? IBV_SEND_SIGNALED : 0;
}

void VerbsConnection::append(bool more) {
  if (chained_ > 0) chain_[chained_ - 1].next = &chain_[chained_];
  ++chained_;
  if (!more || chained_ == kChain) submit();
}

void VerbsConnection::post(const Request& request) {
  make_room();
  auto& piece = pieces_[chained_];
  auto& work = chain_[chained_];
  piece = {reinterpret_cast<std::uint64_t>(memory_.bytes().data() + request.local),
           static_cast<std::uint32_t>(request.length), request.local_key.value_or(region_->lkey)};
  work = {};
  number(work, request.signaled || goes_page_by_page(device_, request), request.signaled);
  work.sg_list = &piece;
  work.num_sge = request.length == 0 ? 0 : 1;
  if (request.length <= inline_size_ && request.operation != Operation::read) work.send_flags |= IBV_SEND_INLINE;
  switch (request.operation) {
    case Operation::send:
      work.opcode = request.closes ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
      work.invalidate_rkey = request.closes.value_or(0);
      break;
    case Operation::write:
      work.opcode = IBV_WR_RDMA_WRITE;
      break;
    case Operation::read:
      work.opcode = IBV_WR_RDMA_READ;
      break;
    case Operation::write_with_immediate:
      work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
      work.imm_data = request.immediate;
      break;
  }
  if (request.operation != Operation::send) {
    work.wr.rdma.remote_addr = (request.absolute ? 0 : peer_.address) + request.remote;
    work.wr.rdma.rkey = request.remote_key.value_or(peer_.rkey);
  }
  append(request.more);
}

std::uint64_t VerbsConnection::post_local(const ibv_send_wr& work, bool signaled, bool more) {
  make_room();
  chain_[chained_] = work;
  number(chain_[chained_], signaled, false);
  append(more);
  return posted_;
}

void VerbsConnection::submit() {
  chained_ = 0;
  ibv_send_wr* bad = nullptr;  // some providers return a negative errno
  if (const int error = ::ibv_post_send(id_->qp, chain_.data(), &bad); error != 0)
    throw_errno("post to " + device_.name, std::abs(error));
}

void VerbsConnection::post_receive(std::size_t offset, std::size_t length) {
  ibv_sge piece{reinterpret_cast<std::uint64_t>(memory_.bytes().data() + offset), static_cast<std::uint32_t>(length),
                region_->lkey};
  ibv_recv_wr work{};
  work.wr_id = kReceive;
  work.sg_list = &piece;
  work.num_sge = length == 0 ? 0 : 1;
  ibv_recv_wr* bad = nullptr;
  if (const int error = ::ibv_post_recv(id_->qp, &work, &bad); error != 0)
    throw_errno("post a receive to " + device_.name, std::abs(error));
}

void VerbsConnection::harvest() {
  std::array<ibv_wc, 16> found;
  const int count = ::ibv_poll_cq(queue_.get(), static_cast<int>(found.size()), found.data());
  if (count < 0) throw_errno("poll the completion queue of " + device_.name, EIO);
  for (int i = 0; i < count; ++i) {
    const auto& one = found[static_cast<std::size_t>(i)];
    if (one.status != IBV_WC_SUCCESS) throw_completion(one);
    if ((one.wr_id & kReceive) != 0) {
      if (windows_ && with_invalidation(one, device_)) windows_->invalidated(one.invalidated_rkey);
      ready_.push_back({Completion::Kind::received, one.byte_len});
      continue;
    }
    retired_ = std::max(retired_, one.wr_id & kNumber);  // siw: a message may be through before an earlier read
    if ((one.wr_id & kAsked) != 0)
      ready_.push_back(
          {one.opcode == IBV_WC_RDMA_READ ? Completion::Kind::fetched : Completion::Kind::sent, one.byte_len});
  }
  news_ = news_ || count > 0;
}

void VerbsConnection::throw_completion(const ibv_wc& completion) const {
  const auto what = fmt::format("{} on {}: {}", (completion.wr_id & kReceive) != 0 ? "RDMA receive" : "RDMA request",
                                device_.name, ::ibv_wc_status_str(completion.status));
  if (completion.status == IBV_WC_RETRY_EXC_ERR) {
    const auto now = facts();
    throw_errno(fmt::format("{}: the peer did not acknowledge {} tries of {}", what, now.retry_count + 1,
                            format_quantity(Kind::duration, now.timeout_ns)),
                ETIMEDOUT);
  }
  if (completion.status == IBV_WC_WR_FLUSH_ERR) throw_errno(what + ": the connection was closed", ECONNRESET);
  throw_errno(what, EIO);
}

std::size_t VerbsConnection::poll(std::span<Completion> out) {
  if (armed_) {
    ibv_cq* queue = nullptr;
    void* context = nullptr;
    if (::ibv_get_cq_event(completion_channel_.get(), &queue, &context) == 0) {
      armed_ = false;
      // Each acknowledgement takes a lock: they are given in batches.
      if (++unacknowledged_ == 1024) {
        ::ibv_ack_cq_events(queue_.get(), unacknowledged_);
        unacknowledged_ = 0;
      }
    }
  }
  if (ready_.empty()) harvest();
  news_ = false;  // the caller looks at what it waits for now
  std::size_t count = 0;
  while (count < out.size() && !ready_.empty()) {
    out[count++] = ready_.front();
    ready_.pop_front();
  }
  return count;
}

bool VerbsConnection::arm() {
  if (!armed_) {
    if (const int error = ::ibv_req_notify_cq(queue_.get(), 0); error != 0)
      throw_errno("ask for a completion event of " + device_.name, error);
    armed_ = true;
  }
  // A completion from before the request makes no event. Also one that nobody asked for is news: a window may be
  // closed. It may have been taken while something was posted, after the caller looked.
  harvest();
  return ready_.empty() && !std::exchange(news_, false);
}

std::uint32_t VerbsConnection::wait_events() const {
  return EPOLLIN;
}

void VerbsConnection::check_alive() {
  while (const auto event = next_event(channel_.get())) {
    switch (event->type) {
      case RDMA_CM_EVENT_ESTABLISHED:
      case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        break;
      case RDMA_CM_EVENT_DISCONNECTED:
        throw_errno("RDMA connection on " + device_.name + ": the peer closed it", ECONNRESET);
      case RDMA_CM_EVENT_DEVICE_REMOVAL:
        throw_errno("RDMA device " + device_.name + " was removed", ENODEV);
      default:
        throw_errno(fmt::format("RDMA connection on {}: {}", device_.name, ::rdma_event_str(event->type)), ECONNRESET);
    }
  }
  harvest();
}

}  // namespace longhaul::workloads
