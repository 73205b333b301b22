// Datagrams between the addresses and ports of a run's control connection, numbered and stamped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/fd.hh"
#include "model/arrivals.hh"
#include "workloads/transport/address.hh"

namespace longhaul::workloads::packets {

class Datagrams {
 public:
  /// Takes what comes from `peer` only. Throws std::system_error.
  Datagrams(const SocketAddress& local, const SocketAddress& peer);

  /// Sends one of `size` bytes, stamped with the wall clock, as soon as there is room for it. Throws std::system_error,
  /// std::runtime_error when there is none for a second.
  void send(std::uint32_t phase, std::uint64_t sequence, std::size_t size);

  /// Appends what of this phase has come, with the kernel's time of its arrival. Never blocks. Throws
  /// std::runtime_error when the socket's buffer was too small and something was lost there.
  void drain(std::uint32_t phase, std::vector<DatagramArrival>& arrivals);

 private:
  OwnFd fd_;
  std::vector<std::byte> datagram_;  ///< the last one sent
};

}  // namespace longhaul::workloads::packets
