// A rtnetlink socket that sends finished messages.
#pragma once

#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace longhaul::degen {

class RouteSocket {
 public:
  /// Throws std::system_error.
  RouteSocket();

  /// Sends a request and waits for the kernel's acknowledgement. Returns 0 or the errno value that the kernel gave.
  int request(std::span<const std::byte> message);

  /// Sends a dump request and gives each answer to `each`. Throws std::system_error.
  void dump(std::span<const std::byte> message, const std::function<void(const nlmsghdr&)>& each);

 private:
  void send(std::span<const std::byte> message);
  struct Deleter {
    void operator()(nl_sock* socket) const { nl_socket_free(socket); }
  };
  std::unique_ptr<nl_sock, Deleter> socket_;
};

}  // namespace longhaul::degen
