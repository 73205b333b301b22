#include "workloads/harness/listener.hh"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <map>
#include <system_error>

#include "common/error.hh"
#include "common/log.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostIncoming = 1024;   // where all have introduced themselves, more wait in the kernel's backlog
constexpr int kMostAtOnce = 256;              // so that a flood does not hold up Ctrl-C
constexpr Nanoseconds kBetweenTries = 100ms;  // to accept, when descriptors or memory are short
constexpr Nanoseconds kOverstay = 60s;        // a client that was not served by then has given up
constexpr Nanoseconds kIntroduceWithin = 10s;

// Empty where it is gone already: reading will tell.
std::string host_of(int fd) {
  try {
    return peer_address(fd).host();
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace

void ClientListener::read_preamble(Incoming& connection) {
  char buffer[kPreambleSize];
  while (connection.bytes.size() < kPreambleSize) {
    const auto got = ::recv(connection.fd.get(), buffer, kPreambleSize - connection.bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      connection.fd.reset();
      return;
    }
    connection.bytes.append(buffer, static_cast<std::size_t>(got));
  }
  if (token_ && !is_token(std::string_view{connection.bytes}.substr(0, kTokenSize), *token_))
    return turn_away(connection, "has not this run's token");
  const auto preamble = decode_preamble(connection.bytes);
  if (!preamble) return turn_away(connection, "is no longhaul-bench");
  connection.preamble = *preamble;
  connection.known = true;
}

void ClientListener::turn_away(Incoming& connection, std::string_view why) {
  ++strangers_;
  // Ever less often: whoever comes a million times fills no log.
  if (std::has_single_bit(strangers_)) log::warn("{} {}: closed ({} so far)", connection.from, why, strangers_);
  connection.fd.reset();
}

// Who connects again and again and says nothing must not keep a client out: of the address that has most of the
// connections whose preamble is awaited, the oldest goes. False: all that are here have introduced themselves.
bool ClientListener::make_room() {
  std::erase_if(incoming_, [](const Incoming& one) { return !one.fd; });
  if (incoming_.size() < kMostIncoming) return true;
  std::map<std::string, std::size_t> shares;
  for (const auto& one : incoming_)
    if (!one.known) ++shares[one.from];
  if (shares.empty()) return false;
  const auto most =
      std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto oldest = std::find_if(incoming_.begin(), incoming_.end(),
                                   [&](const Incoming& one) { return !one.known && one.from == most->first; });
  turn_away(*oldest, "says nothing");
  incoming_.erase(oldest);
  return true;
}

void ClientListener::accept_waiting(observe::RawTime now) {
  try {
    for (int i = 0; i < kMostAtOnce; ++i) {
      if (!make_room()) return;
      auto fd = accept_from(listener_.get());
      if (!fd) return;
      auto from = host_of(fd.get());
      incoming_.push_back({std::move(fd), std::move(from), {}, {}, false, now});
      read_preamble(incoming_.back());
    }
  } catch (const std::system_error& error) {
    // Out of descriptors: the connection goes on waiting, and poll(2) would report it at once.
    log::warn("{}; again in {} ms", error.what(), kBetweenTries / 1ms);
    accept_from_ = now + kBetweenTries;
  }
}

// Waits for a new connection, or more of a preamble; false at the deadline.
bool ClientListener::take_in(const Patience& patience) {
  std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {patience.stop, POLLIN, 0}};
  const bool accepting = observe::raw_time() >= accept_from_;
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (incoming_[i].known) continue;
    fds.push_back({incoming_[i].fd.get(), POLLIN, 0});
    unknown.push_back(i);
  }
  const bool full = incoming_.size() >= kMostIncoming && unknown.empty();
  if (full || !accepting) fds[0].fd = -1;
  const auto until = accepting ? patience.deadline : std::min(patience.deadline, accept_from_);
  const auto left = std::clamp<std::int64_t>((until - observe::raw_time()) / 1ms + 1, 0, 1000);
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(left));
  if (ready < 0 && errno != EINTR) throw_errno("wait for clients");
  if (ready > 0 && fds[1].revents != 0) throw Interrupted{};
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (ready > 0 && fds[i + 2].revents != 0) read_preamble(incoming_[unknown[i]]);
  const auto now = observe::raw_time();
  if (ready > 0 && fds[0].revents != 0) accept_waiting(now);
  for (auto& one : incoming_)
    if (one.fd && !one.known && now - one.arrived > kIntroduceWithin) turn_away(one, "says nothing");
  std::erase_if(incoming_, [now](const Incoming& one) { return !one.fd || now - one.arrived > kOverstay; });
  return now < patience.deadline;
}

std::optional<WaitingClient> ClientListener::next_client(const Patience& patience) {
  for (;;) {
    const auto client =
        std::find_if(incoming_.begin(), incoming_.end(), [](const Incoming& g) { return g.known && !g.preamble.data; });
    if (client != incoming_.end()) {
      WaitingClient waiting{ControlChannel{std::move(client->fd)}, client->preamble.session};
      incoming_.erase(client);
      return waiting;
    }
    if (!take_in(patience)) return std::nullopt;
  }
}

Result<std::vector<OwnFd>> ClientListener::lanes(std::uint64_t session, std::size_t count, const Patience& patience) {
  std::vector<OwnFd> lanes(count);
  std::size_t found = 0;
  for (;;) {
    for (auto& connection : incoming_) {
      if (!connection.known || !connection.preamble.data || connection.preamble.session != session) continue;
      if (connection.preamble.lane < count && !lanes[connection.preamble.lane]) {
        lanes[connection.preamble.lane] = std::move(connection.fd);
        ++found;
      }
      connection.fd.reset();
    }
    std::erase_if(incoming_, [](const Incoming& connection) { return !connection.fd; });
    if (found == count) return lanes;
    if (!take_in(patience)) return fail("the client opened {} of {} data connections in time", found, count);
  }
}

}  // namespace longhaul::workloads
