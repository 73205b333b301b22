// TCP sockets as the control connection and the sockets transport use them: non-blocking, never delayed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/fd.hh"
#include "common/result.hh"
#include "model/units.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

/// A non-blocking listener. Refuses a port in use and an address that is not this machine's.
Result<OwnFd> listen_on(const SocketAddress& address);

/// Starts to connect, from `bind` when it is given; finish_dial waits for the end, so that several can be under way.
Result<OwnFd> start_dial(const SocketAddress& peer, const std::optional<SocketAddress>& bind);
Result<void> finish_dial(int fd, const SocketAddress& peer, const Patience& patience);

/// The next connection, non-blocking, TCP_NODELAY; empty when none is waiting.
OwnFd accept_from(int listener);

/// Writes or reads exactly so many bytes. Throws std::system_error: ETIMEDOUT, or ECONNRESET when the peer closed.
void write_fully(int fd, std::string_view bytes, const Patience& patience, const std::string& attempted);
void read_fully(int fd, char* data, std::size_t size, const Patience& patience, const std::string& attempted);

/// The kernel's smoothed round trip of this connection (TCP_INFO); known once it is connected.
Nanoseconds round_trip(int fd);

/// Limits of a socket's buffers: by the kernel's own tuning, and by request (net.core.*mem_max).
struct BufferLimits {
  std::int64_t tuned = 0;
  std::int64_t requested = 0;
};
BufferLimits send_buffer_limits();
BufferLimits receive_buffer_limits();

/// The way to make a buffer hold `wanted` bytes. Asking for a size ends the kernel's tuning for good, so it is
/// asked for only where the tuning cannot reach it.
struct BufferPlan {
  std::optional<std::int64_t> request;
  std::string limit;  ///< why it cannot be reached; empty: it can
};
BufferPlan plan_buffer(std::string_view which, Bytes wanted, const BufferLimits& limits);

}  // namespace longhaul::workloads
