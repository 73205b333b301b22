#include "degen/client/client.hh"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::degen {

Result<Client> Client::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return refuse("{}: longer than a socket's path may be ({})", path, sizeof address.sun_path - 1);
  std::memcpy(address.sun_path, path.data(), path.size());
  OwnFd socket{check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "create a unix socket")};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return Client{std::move(socket)};
  const int error = errno;
  if (error == ENOENT || error == ECONNREFUSED)
    return fail("{}: no degen service listens there; start `degen serve`, or name its socket with --socket", path);
  if (error == EACCES)
    return fail(
        "{}: permission denied; become a member of the socket's group, or start `degen serve` with --group or "
        "--socket-mode",
        path);
  return fail("{}: cannot connect: {}", path, errno_text(error));
}

Result<Reply> Client::request(const Request& request, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto frame = encode_frame(to_json(request));
  std::size_t sent = 0;
  while (sent < frame.size()) {
    const auto count = ::send(socket_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("lost the connection to degen: {}", errno_text(errno));
    sent += static_cast<std::size_t>(count);
  }
  std::string text;
  while (!decoder_.next(text)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail("degen did not answer within {} ms", timeout.count());
    pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left.count()) + 1);
    if (ready < 0 && errno != EINTR) throw_errno("wait for degen's answer");
    if (ready <= 0) continue;
    std::array<char, 16384> buffer;
    const auto count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("lost the connection to degen: {}", errno_text(errno));
    if (count == 0) return fail("degen closed the connection");
    if (auto ok = decoder_.feed({buffer.data(), static_cast<std::size_t>(count)}); !ok)
      return tl::unexpected(ok.error());
  }
  return reply_from_json(text);
}

}  // namespace longhaul::degen
