#include "degen/certify/traffic.hh"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "common/error.hh"
#include "common/received.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint16_t kPort = 9;            // discard (RFC 863)
constexpr int kBuffer = 256 << 20;            // bytes: a second of small packets at 300,000 a second
constexpr std::int64_t kMostAtOnce = 64;      // a sender that was held up for long must not flood
constexpr std::int64_t kBetweenDrains = 256;  // packets
constexpr auto kStragglers = 250ms;
constexpr auto kCopies = 20ms;  // a second copy may come behind the last packet

void set(const OwnFd& socket, int option, int value, const char* attempted) {
  check(::setsockopt(socket.get(), SOL_SOCKET, option, &value, sizeof value), attempted);
}

sockaddr_in address(std::uint32_t host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  address.sin_addr.s_addr = host;
  return address;
}

void bind_and_connect(const OwnFd& socket, std::uint32_t here, std::uint32_t there) {
  const auto local = address(here), remote = address(there);
  check(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local), "bind a datagram socket");
  check(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&remote), sizeof remote),
        "connect a datagram socket");
  set(socket, SO_RCVBUFFORCE, kBuffer, "enlarge a socket's buffer (CAP_NET_ADMIN)");
}

// Packets that a thread sends from two processors come to a veth in two queues, and so out of order. A card's queue has
// one processor, too.
class OneProcessor {
 public:
  OneProcessor() {
    check(::sched_getaffinity(0, sizeof before_, &before_), "ask on which processors this thread may run");
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(check(::sched_getcpu(), "ask which processor this is")), &one);
    check(::sched_setaffinity(0, sizeof one, &one), "stay on a processor");
  }
  ~OneProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
};

class Source {
 public:
  Source(OwnFd socket, Way way, const Pace& pace)
      : socket_(std::move(socket)), payload_(static_cast<std::size_t>(pace.size)) {
    bind_and_connect(socket_, PrivateNetwork::source(way), PrivateNetwork::sink(way));
    // With a number of each datagram, from 0, in place of the datagram itself.
    set(socket_, SO_TIMESTAMPING,
        SOF_TIMESTAMPING_TX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
            SOF_TIMESTAMPING_OPT_TSONLY,
        "ask for times of departure");
    stamps_.reserve(static_cast<std::size_t>(pace.count));
  }

  void send() {
    std::memcpy(payload_.data(), &sent_, sizeof sent_);
    if (::send(socket_.get(), payload_.data(), payload_.size(), 0) < 0) throw_errno("send a datagram");
    ++sent_;
    stamps_.push_back(0);
  }

  void drain() {
    receive_all<std::uint64_t>(socket_.get(), MSG_ERRQUEUE, [&](mmsghdr& message, std::uint64_t) {
      std::int64_t time = 0;
      std::optional<std::uint32_t> number;
      each_ancillary(message.msg_hdr, [&](const cmsghdr& part) {
        if (part.cmsg_level == SOL_SOCKET && part.cmsg_type == SCM_TIMESTAMPING)
          time = to_duration(ancillary_value<timespec>(part)).count();
        if (part.cmsg_level != SOL_IP || part.cmsg_type != IP_RECVERR) return;
        const auto told = ancillary_value<sock_extended_err>(part);
        if (told.ee_origin == SO_EE_ORIGIN_TIMESTAMPING) number = told.ee_data;
      });
      if (number && *number < stamps_.size() && stamps_[*number] == 0) {
        stamps_[*number] = time;
        ++stamped_;
      }
    });
  }

  std::uint64_t sent() const { return sent_; }
  std::uint64_t stamped() const { return stamped_; }
  std::int64_t stamp(std::uint64_t number) const { return stamps_.at(number); }

 private:
  OwnFd socket_;
  std::vector<std::byte> payload_;
  std::vector<std::int64_t> stamps_;  ///< by number; 0: none yet
  std::uint64_t sent_ = 0;
  std::uint64_t stamped_ = 0;
};

class Sink {
 public:
  Sink(OwnFd socket, Way way) : socket_(std::move(socket)) {
    set(socket_, SO_TIMESTAMPNS, 1, "ask for times of arrival");
    set(socket_, SO_RXQ_OVFL, 1, "ask for overflows");
    bind_and_connect(socket_, PrivateNetwork::sink(way), PrivateNetwork::source(way));
  }

  void drain(std::vector<DatagramArrival>& arrivals) {
    receive_all<std::uint64_t>(socket_.get(), 0, [&](mmsghdr& message, std::uint64_t number) {
      DatagramArrival arrival{.sequence = number};
      each_ancillary(message.msg_hdr, [&](const cmsghdr& part) {
        if (part.cmsg_level != SOL_SOCKET) return;
        if (part.cmsg_type == SCM_TIMESTAMPNS) arrival.received = to_duration(ancillary_value<timespec>(part)).count();
        if (part.cmsg_type == SO_RXQ_OVFL && ancillary_value<std::uint32_t>(part) > 0)
          throw std::runtime_error(
              "datagrams found the sink's socket full: ask for fewer a second (--packets-per-second)");
      });
      arrivals.push_back(arrival);
    });
  }

 private:
  OwnFd socket_;
};

}  // namespace

WayObserved send_through(const PrivateNetwork& network, Way way, const CertifyPoint& point,
                         const std::function<bool()>& meanwhile) {
  const auto& pace = point.pace;
  const OneProcessor kept;
  Source source{network.socket_at_source(way), way, pace};
  Sink sink{network.socket_at_sink(way), way};
  WayObserved observed;
  observed.arrivals.reserve(static_cast<std::size_t>(pace.count));
  const auto drain = [&] {
    source.drain();
    sink.drain(observed.arrivals);
  };
  auto called = Clock::now();
  bool wanted = true;
  // Sleeps, but not for long; a sender that spun would keep a processor from the router.
  const auto pause = [&](Clock::time_point until) {
    if (const auto now = Clock::now(); now - called >= kMeanwhile) {
      called = now;
      wanted = meanwhile();
    }
    const auto left = std::min<Clock::duration>(until - Clock::now(), 50ms);
    if (left.count() <= 0) return;
    const timespec time{.tv_sec = 0, .tv_nsec = left / 1ns};
    ::nanosleep(&time, nullptr);
  };

  const auto begin = Clock::now();
  const auto count = static_cast<std::uint64_t>(pace.count);
  for (std::int64_t burst = 0, since_drain = 0; source.sent() < count && wanted;) {
    const auto at = begin + burst * pace.interval;
    if (Clock::now() < at) {
      drain();
      since_drain = 0;
      pause(at);
      continue;
    }
    std::int64_t at_once = 0;
    for (; at_once < std::max(kMostAtOnce, pace.burst) && source.sent() < count; ++burst) {
      if (Clock::now() < begin + burst * pace.interval) break;
      for (std::int64_t i = 0; i < pace.burst && source.sent() < count; ++i, ++at_once) source.send();
    }
    since_drain += at_once;
    if (since_drain < kBetweenDrains) continue;
    drain();
    since_drain = 0;
    pause(Clock::now());
  }
  observed.took = Clock::now() - begin;
  observed.sent = source.sent();

  const auto on_link = point.rate.bits_per_second > 0 ? pace.burst * time_on_link(pace.size, point.rate) : 0ns;
  auto end = Clock::now() + point.delay + on_link + kStragglers;
  for (bool whole = false; wanted && Clock::now() < end;) {
    drain();
    if (!whole && observed.arrivals.size() >= observed.sent && source.stamped() == observed.sent) {
      whole = true;
      end = std::min(end, Clock::now() + kCopies);
    }
    pause(std::min(end, Clock::now() + 2ms));
  }
  drain();
  if (!wanted) return observed;
  if (source.stamped() < observed.sent)
    throw std::runtime_error(
        fmt::format("the kernel told when {} of {} datagrams left, not of the rest", source.stamped(), observed.sent));
  for (auto& one : observed.arrivals) one.sent = source.stamp(one.sequence);
  return observed;
}

}  // namespace longhaul::degen
