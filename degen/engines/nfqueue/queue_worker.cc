#include "degen/engines/nfqueue/queue_worker.hh"

#include <libmnl/libmnl.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "common/error.hh"
#include "common/log.hh"
#include "degen/engines/clock.hh"
#include "degen/engines/nfqueue/queue_message.hh"

namespace longhaul::degen {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::size_t kMetadataSize = 1024;                     // metadata and a few bytes of a packet take about 200
constexpr std::size_t kLongestMessage = kMetadataSize + 65536;  // a whole packet
constexpr std::size_t kMostSent = 32 * 1024;  // at once, but for a packet that begins before: a socket takes 208 KiB
constexpr int kReceiveBuffer = 32 << 20;
// An arrival further away than this from now was stamped by another clock (it was set, or the driver's stamp is off).
constexpr Nanoseconds kCredible = std::chrono::seconds{2};

OwnFd netfilter_socket() {
  OwnFd fd{check(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER), "open a netfilter netlink socket")};
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  check(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "bind a netfilter netlink socket");
  // A full socket buffer loses packets; and an error of it would hide the next ones.
  check(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer),
        "raise a netlink socket's buffer");
  const int on = 1;
  check(::setsockopt(fd.get(), SOL_NETLINK, NETLINK_NO_ENOBUFS, &on, sizeof on), "set NETLINK_NO_ENOBUFS");
  return fd;
}

Copied copied(const Direction& direction) {
  if (direction.corrupt.parts > 0 || (direction.ecn && direction.loses())) return Copied::whole;
  if (!direction.faults.none()) return Copied::headers;
  return direction.limited() ? Copied::length : Copied::nothing;
}

// The kernel stamps arriving packets only while some socket asks for stamps.
OwnFd stamping_socket() {
  OwnFd fd{
      check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "create a socket that makes the kernel stamp packets")};
  const int on = 1;
  check(::setsockopt(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), "set SO_TIMESTAMPNS");
  return fd;
}

// Sends a configuration message; returns 0 or the kernel's errno value. What comes before the acknowledgement is
// skipped: configuration happens while no rule feeds the queue.
int configure(int fd, const std::vector<std::byte>& message) {
  if (::send(fd, message.data(), message.size(), 0) < 0) return errno;
  alignas(nlmsghdr) std::array<char, 8192> buffer;
  for (;;) {
    const auto size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    const auto* header = reinterpret_cast<const nlmsghdr*>(buffer.data());
    if (size < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr))) || header->nlmsg_type != NLMSG_ERROR) continue;
    if (header->nlmsg_seq != kConfigurationSequence) continue;  // about a verdict on a packet that had gone
    return -static_cast<const nlmsgerr*>(NLMSG_DATA(header))->error;
  }
}

// Reads what the kernel queued, many packets a call.
class Receiver {
 public:
  explicit Receiver(Copied copied)
      : size_(copied == Copied::whole ? kLongestMessage : kMetadataSize), buffer_(kBatch * size_) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      vectors_[i] = {.iov_base = buffer_.data() + i * size_, .iov_len = size_};
      messages_[i].msg_hdr.msg_iov = &vectors_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  // Returns the number of messages that were there; 0 when there are none for now.
  template <typename Each>
  std::size_t receive(int fd, Each each) {
    const int count = ::recvmmsg(fd, messages_.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS)) return 0;
    check(count, "receive queued packets");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto* header = reinterpret_cast<const nlmsghdr*>(buffer_.data() + i * size_);
      if (!NLMSG_OK(header, messages_[i].msg_len)) continue;
      if (const auto packet = parse_packet(*header)) each(*packet);
    }
    return static_cast<std::size_t>(count);
  }

 private:
  static_assert(kMetadataSize % alignof(nlmsghdr) == 0 && kLongestMessage % alignof(nlmsghdr) == 0);
  std::size_t size_;
  std::vector<char> buffer_;  // a message after the other
  std::array<iovec, kBatch> vectors_{};
  std::array<mmsghdr, kBatch> messages_{};
};

// A packet that a verdict releases is sent from this thread, and waits at the next interface in a queue of this
// thread's processor: after a move to another one, later packets could overtake earlier ones.
void stay_on_one_processor(const PacketQueue& queue) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0) return;
  int wanted = queue.number % CPU_COUNT(&allowed);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) ++cpu;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (const int error = pthread_setaffinity_np(pthread_self(), sizeof one, &one); error != 0)
    log::warn("netfilter queue {} may move between processors and reorder packets: {}", queue.number,
              errno_text(error));
}

// Before busy workloads when they share a processor. Without the privilege the delays are as good as the scheduler is.
int take_real_time() {
  const sched_param priority{.sched_priority = 1};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
}

}  // namespace

int queues_refused() {
  OwnFd fd{check(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER), "open a netfilter netlink socket")};
  return configure(fd.get(), inquiry_message());
}

int real_time_refused() {
  int error = 0;
  std::jthread{[&] { error = take_real_time(); }}.join();
  return error;
}

QueueWorker::QueueWorker(const PacketQueue& queue, const EngineOptions& options, Nanoseconds begin)
    : queue_(queue),
      options_(options),
      begin_(begin),
      socket_(netfilter_socket()),
      stop_(check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "create an eventfd")),
      stamps_(stamping_socket()) {
  if (const int error = configure(socket_.get(), bind_message(queue.number, queue.limit, copied(queue.direction)));
      error != 0)
    throw_errno(fmt::format("bind netfilter queue {}{}", queue.number,
                            error == EBUSY || error == EPERM ? " (another program holds it?)" : ""),
                error);
  thread_ = std::jthread{[this] { run(); }};
}

QueueWorker::~QueueWorker() {
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof one) < 0)
    log::error("cannot stop netfilter queue {}: {}", queue_.number, errno_text(errno));
  if (thread_.joinable()) thread_.join();
  if (!socket_) return;
  // Acknowledged, so that the number is free when this returns.
  if (const int error = configure(socket_.get(), unbind_message(queue_.number)); error != 0)
    log::warn("cannot give netfilter queue {} back: {}", queue_.number, errno_text(error));
}

void QueueWorker::run() noexcept {
  pthread_setname_np(pthread_self(), fmt::format("q-{}", queue_.interface).substr(0, 15).c_str());
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  stay_on_one_processor(queue_);
  if (const int error = take_real_time(); error != 0)
    log::debug("netfilter queue {} runs without real-time priority: {}", queue_.number, errno_text(error));
  try {
    loop();
  } catch (const std::exception& e) {
    // Without its socket the queue is gone and the rule's `bypass` lets packets pass.
    log::error("netfilter queue {} ({}) has stopped, packets pass unimpaired: {}", queue_.number, queue_.interface,
               e.what());
    socket_.reset();
    failed_.store(true, std::memory_order_release);
  }
}

void QueueWorker::loop() {
  Scheduler scheduler{
      queue_.direction, queue_.limit, queue_.seed, queue_.patience, {.begin = begin_, .room = queue_.room}};
  Receiver receiver{copied(queue_.direction)};
  std::vector<Verdict> verdicts;
  std::vector<std::byte> out;
  std::unordered_map<std::uint32_t, std::vector<std::byte>> changed;  // packets that wait, by id
  const auto send_out = [&] {
    // The kernel handles all messages of one send before it returns. A packet that is gone (ENOENT) is no error of
    // ours.
    if (!out.empty() && ::send(socket_.get(), out.data(), out.size(), 0) < 0 && errno != ENOENT && errno != EINTR)
      throw_errno("send verdicts");
    out.clear();
  };
  const auto send = [&] {
    for (const auto& verdict : verdicts) {
      const auto it = verdict.kind == VerdictKind::accept ? changed.find(verdict.id) : changed.end();
      if (it == changed.end()) {
        append_verdict(out, queue_.number, verdict);
      } else {
        append_verdict(out, queue_.number, verdict, it->second);
        changed.erase(it);
      }
      if (out.size() >= kMostSent) send_out();
    }
    verdicts.clear();
    send_out();
  };
  const auto take = [&] {
    const auto now = read_clock(CLOCK_MONOTONIC);
    const auto offset = now - read_clock(CLOCK_REALTIME);
    const auto count = receiver.receive(socket_.get(), [&](const QueuedPacket& packet) {
      auto time = packet.stamp ? *packet.stamp + offset : now;
      if (time > now || now - time > kCredible) time = now;
      const auto change = scheduler.arrive({.id = packet.id,
                                            .time = time,
                                            .bytes = packet.bytes + static_cast<std::uint32_t>(kLinkHeader),
                                            .ecn_capable = ecn_capable(packet.copy),
                                            .key = packet.key},
                                           verdicts);
      if (!change.any()) return;
      auto& bytes = changed[packet.id];
      bytes.assign(packet.copy.begin(), packet.copy.end());
      rewrite(bytes, change);
    });
    scheduler.release(read_clock(CLOCK_MONOTONIC), verdicts);
    send();
    return count;
  };
  std::array<pollfd, 2> wait{pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                             pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  for (;;) {
    while (take() == kBatch) {
    }
    lost_.store(scheduler.lost(), std::memory_order_relaxed);
    overflowed_.store(scheduler.overflowed(), std::memory_order_relaxed);
    numbered_.store(scheduler.numbered(), std::memory_order_relaxed);

    timespec timeout{};
    timespec* until = nullptr;
    if (const auto next = scheduler.next()) {
      const auto left = *next - read_clock(CLOCK_MONOTONIC);
      const auto sleep = std::max(left - options_.spin, Nanoseconds{0});
      timeout = {.tv_sec = sleep.count() / 1'000'000'000, .tv_nsec = sleep.count() % 1'000'000'000};
      until = &timeout;
    }
    if (::ppoll(wait.data(), wait.size(), until, nullptr) < 0 && errno != EINTR) throw_errno("wait for packets");
    if (wait[1].revents != 0) break;
  }
  while (take() > 0) {
  }
  scheduler.flush(verdicts);
  send();
}

}  // namespace longhaul::degen
