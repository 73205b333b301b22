// A router between two ends, in network namespaces of their own: nothing of the machine's network is touched, and all
// of it goes with this process.
#pragma once

#include <cstdint>

#include "common/fd.hh"
#include "common/result.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {

class PrivateNetwork {
 public:
  /// Leaves the calling thread in the router's namespace: what it starts then (threads, processes) is there, too.
  /// Refuses without the privileges for it, where iproute2 is missing, or the kernel has no veth.
  static Result<PrivateNetwork> make();

  /// The router's interfaces.
  static constexpr const char* kClientSide = "client0";
  static constexpr const char* kServerSide = "server0";

  /// A UDP socket at the end from which (or at which) packets of this way leave (or come). Throws std::system_error.
  OwnFd socket_at_source(Way way) const { return socket(way == Way::forward ? client_ : server_); }
  OwnFd socket_at_sink(Way way) const { return socket(way == Way::forward ? server_ : client_); }
  /// Their addresses (IPv4), network byte order.
  static std::uint32_t source(Way way);
  static std::uint32_t sink(Way way);

 private:
  PrivateNetwork() = default;
  OwnFd socket(const OwnFd& place) const;

  OwnFd router_, client_, server_;  ///< namespaces
};

}  // namespace longhaul::degen
