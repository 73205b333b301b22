#include "workloads/transport/ucx/connection.hh"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "common/error.hh"
#include "observe/clock.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/sizing.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads::ucx {
namespace {

using namespace std::chrono_literals;

constexpr ucp_tag_t kTag = 1;  // each connection has a worker of its own: its messages need not be told apart
constexpr ucp_tag_t kHello = 2;
constexpr std::size_t kReapFrom = 16;  // requests under way, from which on post() looks what is done
constexpr std::uint32_t kMostUnderWay = 1024;
constexpr std::uint32_t kMostOfAddress = 1 << 16;
constexpr Nanoseconds kClosing = 200ms;

// The first message of each end, before there is an endpoint; the worker's address and the key follow.
struct Greeting {
  std::uint64_t memory = 0;
  std::uint32_t address = 0;
  std::uint32_t key = 0;
};

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

Attempt<std::unique_ptr<UcxConnection>> UcxConnection::open(OwnFd fd, const Choice& choice, const ConnectionPlan& plan,
                                                            const Patience& patience) {
  const auto calls = library();
  if (!calls) return tl::unexpected(calls.error());
  std::unique_ptr<UcxConnection> connection{new UcxConnection{std::move(fd), **calls, choice, plan}};
  if (plan.prepare) plan.prepare(connection->memory_.bytes());
  if (auto made = connection->create_worker(); !made) return tl::unexpected(made.error());
  // Before the peer can send anything.
  for (std::uint32_t i = 0; i < plan.receives; ++i)
    connection->post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
  if (auto met = connection->meet_peer(patience); !met) return tl::unexpected(met.error());
  const auto link = link_facts(netdev_of(local_address(connection->fd_.get())));
  const auto count = [](std::size_t bytes) { return Bytes{static_cast<std::int64_t>(bytes)}; };
  connection->depth_ = queue_depth(
      bytes_under_way(BitRate{link.bits_per_second}, round_trip(connection->fd_.get()), count(plan.in_flight)),
      count(plan.message), plan.sends, kMostUnderWay);
  return connection;
}

Attempt<void> UcxConnection::create_worker() {
  ucp_config_t* config = nullptr;
  if (const auto status = calls_.config_read(nullptr, nullptr, &config); status != UCS_OK)
    return failed("read UCX's configuration: {}", calls_.status_string(status));
  calls_.config_modify(config, "TLS", choice_.tls.c_str());
  calls_.config_modify(config, "NET_DEVICES", choice_.devices.c_str());
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  auto status = calls_.init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_);
  calls_.config_release(config);
  if (status != UCS_OK)
    return unsupported("UCX has no transport {} on {}: {}", choice_.tls, choice_.devices, calls_.status_string(status));
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SINGLE;
  status = calls_.worker_create(context_, &worker, &worker_);
  if (status == UCS_OK) status = calls_.worker_get_efd(worker_, &event_fd_);
  if (status != UCS_OK)
    return unsupported("UCX cannot use {} on {}: {}", choice_.tls, choice_.devices, calls_.status_string(status));
  ucp_mem_map_params_t region{};
  region.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  region.address = memory_.bytes().data();
  region.length = memory_.bytes().size();
  status = calls_.mem_map(context_, &region, &region_);
  if (status != UCS_OK)
    return failed("register {} bytes with UCX: {} (is the limit of locked memory, ulimit -l, large enough?)",
                  region.length, calls_.status_string(status));
  return {};
}

Attempt<void> UcxConnection::meet_peer(const Patience& patience) {
  ucp_address_t* address = nullptr;
  std::size_t address_length = 0;
  auto status = calls_.worker_get_address(worker_, &address, &address_length);
  if (status != UCS_OK) return failed("ask UCX for its address: {}", calls_.status_string(status));
  void* key = nullptr;
  std::size_t key_length = 0;
  std::string told;
  status = calls_.rkey_pack(context_, region_, &key, &key_length);
  if (status == UCS_OK) {
    const Greeting own{reinterpret_cast<std::uint64_t>(memory_.bytes().data()),
                       static_cast<std::uint32_t>(address_length), static_cast<std::uint32_t>(key_length)};
    told.append(bytes_of(own));
    told.append(reinterpret_cast<const char*>(address), address_length);
    told.append(static_cast<const char*>(key), key_length);
    calls_.rkey_buffer_release(key);
  }
  calls_.worker_release_address(worker_, address);
  if (status != UCS_OK) return failed("ask UCX for a region's key: {}", calls_.status_string(status));

  const std::string attempted = "exchange UCX addresses";
  write_fully(fd_.get(), told, patience, attempted);
  Greeting theirs;
  read_fully(fd_.get(), reinterpret_cast<char*>(&theirs), sizeof theirs, patience, attempted);
  if (theirs.address == 0 || theirs.address > kMostOfAddress || theirs.key > kMostOfAddress)
    return failed("{}: the peer's are of {} and {} bytes", attempted, theirs.address, theirs.key);
  std::string heard(theirs.address + theirs.key, '\0');
  read_fully(fd_.get(), heard.data(), heard.size(), patience, attempted);

  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(heard.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {.cb = on_broken, .arg = this};
  status = calls_.ep_create(worker_, &params, &endpoint_);
  if (status != UCS_OK)
    return unsupported("UCX finds no way to the peer by {} on {}: {}", choice_.tls, choice_.devices,
                       calls_.status_string(status));
  peer_memory_ = theirs.memory;
  status = calls_.ep_rkey_unpack(endpoint_, heard.data() + theirs.address, &peer_key_);
  if (status != UCS_OK) return failed("take the peer's key: {}", calls_.status_string(status));
  return exchange_hello(patience);
}

// UCX connects with the first message, by messages of its own that the peer must answer. Later the peer may have no
// reason to look: nobody answers a read. So both ends go on until either says that its way is open in full.
Attempt<void> UcxConnection::exchange_hello(const Patience& patience) {
  const auto wait = [&](auto&& over) {
    while (!over() && broken_ == UCS_OK && observe::raw_time() < patience.deadline) {
      calls_.worker_progress(worker_);
      check_stop(patience.stop);
    }
    return over();
  };
  auto& came = hello_.emplace_back();
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = on_received;
  param.user_data = &came;
  begin(came, calls_.tag_recv_nbx(worker_, &hello_bytes_[0], 1, kHello, ~ucp_tag_t{0}, &param));
  auto& sent = hello_.emplace_back();
  param.cb.send = on_sent;
  param.user_data = &sent;
  begin(sent, calls_.tag_send_nbx(endpoint_, &hello_bytes_[1], 1, kHello, &param));
  bool there = wait([&] { return sent.done && came.done; }) && sent.status == UCS_OK && came.status == UCS_OK;
  if (there) {
    auto& flushed = hello_.emplace_back();
    param.user_data = &flushed;
    begin(flushed, calls_.ep_flush_nbx(endpoint_, &param));
    there = wait([&] { return flushed.done; }) && flushed.status == UCS_OK;
  }
  if (there) {
    const std::string attempted = "tell the peer that UCX is connected";
    write_fully(fd_.get(), "!", patience, attempted);
    char byte = 0;
    there = wait([&] { return byte != 0 || ::recv(fd_.get(), &byte, 1, MSG_DONTWAIT) == 1; });
  }
  if (!there)
    return failed("connect by UCX ({} on {}): {}", choice_.tls, choice_.devices,
                  broken_ == UCS_OK ? "the peer does not answer" : calls_.status_string(broken_));
  return {};
}

UcxConnection::~UcxConnection() {
  const auto until = observe::raw_time() + kClosing;
  const auto within = [&](auto&& over) {
    while (!over() && observe::raw_time() < until) calls_.worker_progress(worker_);
    return over();
  };
  if (endpoint_ != nullptr) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = broken_ == UCS_OK ? 0 : UCP_EP_CLOSE_FLAG_FORCE;
    const auto closing = calls_.ep_close_nbx(endpoint_, &param);
    if (UCS_PTR_IS_PTR(closing)) {
      // Of a peer that has never been reached. UCX 1.13 aborts where such an endpoint is closed by force, or its worker
      // destroyed: they are left to the end of the process.
      if (!within([&] { return calls_.request_check_status(closing) != UCS_INPROGRESS; })) return;
      calls_.request_free(closing);
    }
  }
  const auto done = [](const Pending& one) { return one.done; };
  for (auto* all : {&receives_, &hello_}) {
    for (auto& one : *all)
      if (!one.done) calls_.request_cancel(worker_, one.request);
    within([&] { return std::all_of(all->begin(), all->end(), done); });
  }
  for (auto* all : {&sends_, &receives_, &hello_})
    for (auto& one : *all)
      if (one.request != nullptr) calls_.request_free(one.request);
  if (peer_key_ != nullptr) calls_.rkey_destroy(peer_key_);
  if (region_ != nullptr) calls_.mem_unmap(context_, region_);
  if (worker_ != nullptr) calls_.worker_destroy(worker_);
  if (context_ != nullptr) calls_.cleanup(context_);
}

const std::vector<Capability>& UcxConnection::capabilities() const {
  return find_transport(choice_.transport)->offers;
}

TransportFacts UcxConnection::facts() const {
  const auto local = local_address(fd_.get());
  TransportFacts facts;
  facts.transport = choice_.transport;
  facts.provider = choice_.provider;
  facts.netdev = netdev_of(local);
  facts.device = choice_.device.empty() ? facts.netdev : choice_.device;
  facts.local_address = local.host();
  facts.peer_address = peer_address(fd_.get()).host();
  facts.mtu = link_facts(facts.netdev).mtu;
  facts.queue_depth = depth_;
  return facts;
}

void UcxConnection::fail(const char* attempted, ucs_status_t status) const {
  const auto text =
      fmt::format("{} by UCX ({} on {}): {}", attempted, choice_.tls, choice_.devices, calls_.status_string(status));
  const bool gone = status == UCS_ERR_CONNECTION_RESET || status == UCS_ERR_ENDPOINT_TIMEOUT ||
                    status == UCS_ERR_NOT_CONNECTED || status == UCS_ERR_CANCELED;
  throw_errno(text, gone ? ECONNRESET : EIO);
}

void UcxConnection::on_broken(void* user, ucp_ep_h, ucs_status_t status) {
  static_cast<UcxConnection*>(user)->broken_ = status;
}

void UcxConnection::on_sent(void*, ucs_status_t status, void* user) {
  auto& operation = *static_cast<Pending*>(user);
  operation.status = status;
  operation.done = true;
}

void UcxConnection::on_received(void*, ucs_status_t status, const ucp_tag_recv_info_t* info, void* user) {
  auto& operation = *static_cast<Pending*>(user);
  operation.status = status;
  if (status == UCS_OK) operation.completion.length = info->length;
  operation.done = true;
}

// UCX's answer to a request: done at once, under way, or refused.
void UcxConnection::begin(Pending& operation, void* request) {
  if (UCS_PTR_IS_ERR(request)) fail("post", UCS_PTR_STATUS(request));
  operation.request = request;
  if (request == nullptr) operation.done = true;
}

void UcxConnection::post(const Request& request) {
  if (sends_.size() >= kMostUnderWay + depth_)
    throw std::length_error(fmt::format("more than {} requests under way", kMostUnderWay + depth_));
  if (request.local_key || request.remote_key)
    throw std::logic_error("a connection by UCX registers its memory itself: nobody else has keys of it");
  if (sends_.size() >= kReapFrom) {
    calls_.worker_progress(worker_);
    confirm_writes();
    take_done(sends_, {});
  }
  auto& operation = sends_.emplace_back();
  operation.wanted = request.signaled;
  operation.completion = {request.operation == Operation::read ? Completion::Kind::fetched : Completion::Kind::sent,
                          request.length};
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMH;
  param.cb.send = on_sent;
  param.user_data = &operation;
  param.memh = region_;
  auto* const local = memory_.bytes().data() + request.local;
  const auto remote = peer_memory_ + request.remote;
  switch (request.operation) {
    case Operation::send:
      return begin(operation, calls_.tag_send_nbx(endpoint_, local, request.length, kTag, &param));
    case Operation::write:
      if (request.signaled) operation.confirm_at = remote;
      return begin(operation, calls_.put_nbx(endpoint_, local, request.length, remote, peer_key_, &param));
    case Operation::read:
      return begin(operation, calls_.get_nbx(endpoint_, local, request.length, remote, peer_key_, &param));
    case Operation::write_with_immediate:
      break;
  }
  throw std::logic_error("UCX has no write with immediate: it is not emulated");
}

void UcxConnection::post_receive(std::size_t offset, std::size_t length) {
  auto& operation = receives_.emplace_back();
  operation.completion = {Completion::Kind::received, length};
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMH | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = on_received;
  param.user_data = &operation;
  param.memh = region_;
  begin(operation, calls_.tag_recv_nbx(worker_, memory_.bytes().data() + offset, length, kTag, ~ucp_tag_t{0}, &param));
}

// UCX calls a write sent when its buffer may be used again. That it is in place shows a read of its first byte, which a
// reliable connection carries out behind it. (UCX 1.13's own flush waits for the peer to look, which it need not do.)
void UcxConnection::confirm(Pending& operation) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = on_sent;
  param.user_data = &operation;
  operation.done = false;
  begin(operation, calls_.get_nbx(endpoint_, &confirmed_, 1, *std::exchange(operation.confirm_at, std::nullopt),
                                  peer_key_, &param));
}

// Its request is over: freed, its outcome judged.
void UcxConnection::settle(Pending& operation) {
  if (operation.request != nullptr) calls_.request_free(std::exchange(operation.request, nullptr));
  if (operation.status != UCS_OK) fail("move a message", operation.status);
}

// Each as soon as UCX has sent it, so that the reads of several are under way together.
void UcxConnection::confirm_writes() {
  for (; confirming_ < sends_.size() && sends_[confirming_].done; ++confirming_) {
    auto& one = sends_[confirming_];
    if (!one.confirm_at) continue;
    settle(one);
    confirm(one);
  }
}

std::size_t UcxConnection::take_done(Operations& operations, std::span<Completion> out) {
  std::size_t count = 0;
  while (!operations.empty() && operations.front().done) {
    auto& first = operations.front();
    if (first.wanted && count == out.size()) break;
    settle(first);
    if (first.wanted) out[count++] = first.completion;
    operations.pop_front();
    if (&operations == &sends_) --confirming_;
  }
  return count;
}

std::size_t UcxConnection::poll(std::span<Completion> out) {
  calls_.worker_progress(worker_);
  confirm_writes();
  auto count = take_done(sends_, out);
  count += take_done(receives_, out.subspan(count));
  if (count == 0 && broken_ != UCS_OK) fail("keep a connection", broken_);
  return count;
}

bool UcxConnection::arm() {
  for (;;) {
    while (calls_.worker_progress(worker_) > 0) {
    }
    confirm_writes();
    const auto waits = [](const Operations& all) { return !all.empty() && all.front().done; };
    if (waits(sends_) || waits(receives_) || broken_ != UCS_OK) return false;
    const auto status = calls_.worker_arm(worker_);
    if (status == UCS_OK) return true;
    if (status != UCS_ERR_BUSY) fail("wait for a message", status);
  }
}

std::uint32_t UcxConnection::wait_events() const {
  return EPOLLIN;
}

void UcxConnection::check_alive() {
  if (broken_ != UCS_OK) fail("keep a connection", broken_);
  char byte = 0;
  const auto got = ::recv(fd_.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  if (got == 0) throw_errno("UCX connection: the peer closed it", ECONNRESET);
  if (got < 0 && errno != EAGAIN && errno != EINTR) throw_errno("UCX connection");
}

}  // namespace longhaul::workloads::ucx
