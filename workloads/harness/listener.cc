#include "workloads/harness/listener.hh"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostIncoming = 1024;  // more wait in the kernel's backlog
constexpr Nanoseconds kOverstay = 60s;       // a client that was not served by then has given up
constexpr Nanoseconds kIntroduceWithin = 10s;

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
  const auto preamble = decode_preamble(connection.bytes);
  if (!preamble) {
    log::warn("{} is no longhaul-bench: closed", peer_address(connection.fd.get()).text());
    connection.fd.reset();
    return;
  }
  connection.preamble = *preamble;
  connection.known = true;
}

// Waits for a new connection, or more of a preamble; false at the deadline.
bool ClientListener::take_in(const Patience& patience) {
  std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {patience.stop, POLLIN, 0}};
  if (incoming_.size() >= kMostIncoming) fds[0].fd = -1;
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (incoming_[i].known) continue;
    fds.push_back({incoming_[i].fd.get(), POLLIN, 0});
    unknown.push_back(i);
  }
  const auto left = std::clamp<std::int64_t>((patience.deadline - observe::raw_time()) / 1ms + 1, 0, 1000);
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(left));
  if (ready < 0 && errno != EINTR) throw_errno("wait for clients");
  if (ready > 0 && fds[1].revents != 0) throw Interrupted{};
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (ready > 0 && fds[i + 2].revents != 0) read_preamble(incoming_[unknown[i]]);
  const auto now = observe::raw_time();
  if (ready > 0 && fds[0].revents != 0) {
    while (incoming_.size() < kMostIncoming) {
      auto fd = accept_from(listener_.get());
      if (!fd) break;
      incoming_.push_back({std::move(fd), {}, {}, false, now});
      read_preamble(incoming_.back());
    }
  }
  std::erase_if(incoming_, [now](const Incoming& connection) {
    return !connection.fd || now - connection.arrived > (connection.known ? kOverstay : kIntroduceWithin);
  });
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
