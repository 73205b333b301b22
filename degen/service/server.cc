#include "degen/service/server.hh"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "common/error.hh"
#include "common/log.hh"
#include "degen/service/guard.hh"

namespace longhaul::degen {
namespace {

constexpr std::size_t kMaxClients = 64;
constexpr std::size_t kMaxUnsent = 1 << 20;                            // of a client that asks and does not read
constexpr Nanoseconds kBetweenTries = std::chrono::milliseconds{100};  // to accept a client

Nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + Nanoseconds{time.tv_nsec};
}

std::optional<ucred> peer_of(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return {};
  return credentials;
}

std::string name_of(const std::optional<ucred>& peer) {
  return peer ? fmt::format("pid {}, uid {}", peer->pid, peer->uid) : "unknown process";
}

// "a regular file", for a file that is in the way.
std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISREG(mode)) return "a regular file";
  return "a device or a pipe";
}

// A degen that was killed leaves its socket behind. Anything else at that path is somebody's: a word mistyped.
void refuse_what_is_no_socket(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0 || S_ISSOCK(there.st_mode)) return;
  throw_errno(fmt::format("listen on {} (there is {}, not a socket: remove it, or name another path with --socket)",
                          path, kind_of(there.st_mode)),
              EEXIST);
}

}  // namespace

Now read_clocks() {
  return {.steady = read_clock(CLOCK_MONOTONIC), .real = read_clock(CLOCK_REALTIME)};
}

Listener::Listener(const SocketOptions& options) : path_(options.path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) throw_errno(fmt::format("listen on {}", path_), ENAMETOOLONG);
  std::memcpy(address.sun_path, path_.data(), path_.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  fd_ = OwnFd{check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "create a unix socket")};
  const OwnFd probe{check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "create a unix socket")};
  if (::connect(probe.get(), generic, sizeof address) == 0)
    throw_errno(fmt::format("listen on {} (another degen serves there)", path_), EADDRINUSE);
  const bool dead = errno == ECONNREFUSED;  // of a regular file, too
  refuse_what_is_no_socket(path_);
  if (dead) ::unlink(path_.c_str());
  // Nobody gets in before mode and group are right: connect(2) needs write permission on the file.
  const auto old_mask = ::umask(0777);
  const int bound = ::bind(fd_.get(), generic, sizeof address);
  const int error = errno;
  ::umask(old_mask);
  if (bound != 0) throw_errno(fmt::format("listen on {}", path_), error);
  if (options.group)
    check(::chown(path_.c_str(), static_cast<uid_t>(-1), *options.group), fmt::format("give {} to its group", path_));
  check(::chmod(path_.c_str(), options.mode), fmt::format("set the mode of {}", path_));
  check(::listen(fd_.get(), 16), fmt::format("listen on {}", path_));
}

Listener::~Listener() {
  ::unlink(path_.c_str());
}

void Server::accept() {
  for (;;) {
    OwnFd fd{::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!fd) {
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        // Out of descriptors: the client goes on waiting, and poll(2) would report it at once, again and again.
        log::warn("cannot accept a client: {}", errno_text(errno));
        accept_from_ = read_clocks().steady + kBetweenTries;
      }
      return;
    }
    if (connections_.size() >= kMaxClients && !make_room()) continue;
    const auto peer = peer_of(fd.get());
    const auto id = next_id_++;
    controller_.connected(id, name_of(peer));
    connections_.emplace(id, Connection{.fd = std::move(fd), .out = {}, .process = peer ? peer->pid : 0});
  }
}

// A client that connects again and again must not keep others out: of the process that has most connections the oldest
// goes. The one that holds the impairment stays. False: there is none but that.
bool Server::make_room() {
  std::map<pid_t, std::size_t> shares;
  for (const auto& [id, one] : connections_) shares[one.process] += controller_.holds(id) ? 0 : 1;
  const auto most =
      std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto oldest = std::find_if(connections_.begin(), connections_.end(), [&](const auto& one) {
    return one.second.process == most->first && !controller_.holds(one.first);
  });
  if (oldest == connections_.end()) return false;
  const auto id = oldest->first;
  // The log tells of few of them.
  if (std::has_single_bit(++displaced_))
    log::warn("{} clients are connected: the oldest of pid {} has to go ({} so far)", connections_.size(), most->first,
              displaced_);
  connections_.erase(oldest);
  controller_.disconnected(id);
  return true;
}

bool Server::flush(Connection& connection) {
  while (!connection.out.empty()) {
    const auto count = ::send(connection.fd.get(), connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN && connection.out.size() <= kMaxUnsent;
    connection.out.erase(0, static_cast<std::size_t>(count));
  }
  return true;
}

// False: the connection is to be closed.
bool Server::receive(ClientId id, Connection& connection) {
  std::array<char, 16384> buffer;
  const auto count = ::recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  std::optional<Error> broken;
  if (auto ok = connection.decoder.feed({buffer.data(), static_cast<std::size_t>(count)}); !ok) broken = ok.error();
  for (std::string text; !broken && connection.decoder.next(text);) {
    const auto request = request_from_json(text);
    if (!request) {
      broken = request.error();
      break;
    }
    connection.out += encode_frame(to_json(controller_.handle(id, *request, read_clocks())));
  }
  if (broken) {
    // A bad message gets an error and a closed connection.
    Reply reply;
    reply.error = "bad request: " + broken->message;
    connection.out += encode_frame(to_json(reply));
  }
  return flush(connection) && !broken;
}

// Of poll(2), ms.
int Server::patience() const {
  constexpr std::int64_t kLongest = 60'000;
  auto longest = pulse_.beat ? kBeat.count() : -1;
  const auto until = [&](Nanoseconds deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - read_clocks().steady);
    const auto bounded = std::clamp<std::int64_t>(left.count(), 0, kLongest);
    longest = longest < 0 ? bounded : std::min<std::int64_t>(longest, bounded);
  };
  if (const auto deadline = controller_.deadline()) until(*deadline);
  if (accept_from_) until(*accept_from_);
  return static_cast<int>(longest);
}

void Server::run(int stop) {
  for (;;) {
    if (pulse_.beat) pulse_.beat();
    if (accept_from_ && read_clocks().steady >= *accept_from_) accept_from_.reset();
    std::vector<pollfd> wait{{.fd = stop, .events = POLLIN, .revents = 0},
                             {.fd = accept_from_ ? -1 : listener_.fd(), .events = POLLIN, .revents = 0},
                             {.fd = pulse_.guard, .events = POLLIN, .revents = 0}};
    if (capture_ != nullptr) wait.push_back({.fd = capture_->fd(), .events = POLLIN, .revents = 0});
    const auto first = wait.size();
    std::vector<ClientId> ids;
    for (const auto& [id, connection] : connections_) {
      const auto events = static_cast<short>(connection.out.empty() ? POLLIN : POLLIN | POLLOUT);
      wait.push_back({.fd = connection.fd.get(), .events = events, .revents = 0});
      ids.push_back(id);
    }
    if (::poll(wait.data(), wait.size(), patience()) < 0 && errno != EINTR) throw_errno("wait for clients");
    if (wait[0].revents != 0) return;
    if (wait[2].revents != 0)
      throw std::runtime_error("the guard has ended: nothing would end an impairment if degen hung");
    // Probes first: a measure request that came with them is to see them.
    if (capture_ != nullptr && wait[3].revents != 0) capture_->drain([&](const Sighting& s) { controller_.see(s); });
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto revents = wait[first + i].revents;
      if (revents == 0) continue;
      auto& connection = connections_.at(ids[i]);
      bool alive = (revents & (POLLIN | POLLHUP | POLLERR)) == 0 || receive(ids[i], connection);
      if (alive && (revents & POLLOUT) != 0) alive = flush(connection);
      if (alive) continue;
      connections_.erase(ids[i]);
      controller_.disconnected(ids[i]);
    }
    if (wait[1].revents != 0) accept();
    controller_.tick(read_clocks());
  }
}

}  // namespace longhaul::degen
