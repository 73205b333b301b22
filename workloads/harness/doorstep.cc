#include "workloads/harness/doorstep.hh"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "common/error.hh"
#include "common/log.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

constexpr std::size_t kGuests = 1024;               // more wait in the kernel's backlog
constexpr std::int64_t kOverstay = 60'000'000'000;  // ns: whose client was not served by then has given up
constexpr std::int64_t kIntroduceWithin = 10'000'000'000;

}  // namespace

void Doorstep::read_preamble(Guest& guest) {
  char buffer[kPreambleSize];
  while (guest.bytes.size() < kPreambleSize) {
    const auto got = ::recv(guest.fd.get(), buffer, kPreambleSize - guest.bytes.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      guest.fd.reset();
      return;
    }
    guest.bytes.append(buffer, static_cast<std::size_t>(got));
  }
  const auto preamble = decode_preamble(guest.bytes);
  if (!preamble) {
    log::warn("{} is no longhaul-bench: closed", peer_address(guest.fd.get()).text());
    guest.fd.reset();
    return;
  }
  guest.preamble = *preamble;
  guest.known = true;
}

// Waits until somebody arrives or says more of itself; false at the deadline.
bool Doorstep::take_in(const Patience& patience) {
  std::vector<pollfd> fds{{listener_.get(), POLLIN, 0}, {patience.stop, POLLIN, 0}};
  if (guests_.size() >= kGuests) fds[0].fd = -1;
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < guests_.size(); ++i) {
    if (guests_[i].known) continue;
    fds.push_back({guests_[i].fd.get(), POLLIN, 0});
    unknown.push_back(i);
  }
  const auto left = std::clamp<std::int64_t>((patience.deadline - observe::raw_time()) / 1'000'000 + 1, 0, 1000);
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(left));
  if (ready < 0 && errno != EINTR) throw_errno("wait for clients");
  if (ready > 0 && fds[1].revents != 0) throw Interrupted{};
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (ready > 0 && fds[i + 2].revents != 0) read_preamble(guests_[unknown[i]]);
  const auto now = observe::raw_time();
  if (ready > 0 && fds[0].revents != 0) {
    while (guests_.size() < kGuests) {
      auto fd = accept_from(listener_.get());
      if (!fd) break;
      guests_.push_back({std::move(fd), {}, {}, false, now});
      read_preamble(guests_.back());
    }
  }
  std::erase_if(guests_, [now](const Guest& guest) {
    return !guest.fd || now - guest.arrived > (guest.known ? kOverstay : kIntroduceWithin);
  });
  return now < patience.deadline;
}

std::optional<Arrival> Doorstep::next_client(const Patience& patience) {
  for (;;) {
    const auto client =
        std::find_if(guests_.begin(), guests_.end(), [](const Guest& g) { return g.known && !g.preamble.data; });
    if (client != guests_.end()) {
      Arrival arrival{ControlChannel{std::move(client->fd)}, client->preamble.session};
      guests_.erase(client);
      return arrival;
    }
    if (!take_in(patience)) return std::nullopt;
  }
}

Result<std::vector<OwnFd>> Doorstep::lanes(std::uint64_t session, std::size_t count, const Patience& patience) {
  std::vector<OwnFd> lanes(count);
  std::size_t found = 0;
  for (;;) {
    for (auto& guest : guests_) {
      if (!guest.known || !guest.preamble.data || guest.preamble.session != session) continue;
      if (guest.preamble.lane < count && !lanes[guest.preamble.lane]) {
        lanes[guest.preamble.lane] = std::move(guest.fd);
        ++found;
      }
      guest.fd.reset();
    }
    std::erase_if(guests_, [](const Guest& guest) { return !guest.fd; });
    if (found == count) return lanes;
    if (!take_in(patience)) return fail("the client opened {} of {} data connections in time", found, count);
  }
}

}  // namespace longhaul::workloads
