// The ping-pong over each kind of operation. A message is written from `out` of one end to `in` of the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "workloads/harness/loop.hh"
#include "workloads/protocols/payload.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::pingpong {

/// The places of the two messages in either end's memory. `size` is that of the larger one.
struct Layout {
  std::size_t size = 0;
  std::size_t in = 0;
  std::size_t total = 0;
  static constexpr std::size_t out = 0;
};
Layout layout_of(std::size_t size);

struct LaneOptions {
  std::string op;            ///< write, write_imm, write_send, send, read; "stream" for tcp
  std::size_t ping = 0;      ///< bytes from client to server
  std::size_t pong = 0;      ///< bytes back; of a read: those that are fetched
  bool verify = false;       ///< every byte of every message
  std::uint8_t payload = 0;  ///< salt of all messages
  /// Called by the server between a ping and its pong; may be empty.
  std::function<void()> before_reply = {};

  Layout layout() const { return layout_of(std::max(ping, pong)); }
};

/// The plan of the connections of such lanes, for either end. Unsupported: an RDMA write that nobody polls for.
Attempt<ConnectionPlan> plan_of(const LaneOptions& options, Role role, bool sleeping, std::size_t connections);

/// One end of a ping-pong; both ends are made alike. After the loop, verify_last() compares every byte of the last
/// message.
class PingPong : public Lane {
 public:
  virtual void verify_last() const = 0;
  /// Writes whose last byte was there before the first.
  virtual std::uint64_t out_of_order() const { return 0; }
};

/// The side that starts. For op "read" it alone does anything.
std::unique_ptr<PingPong> make_client_lane(Connection& connection, const LaneOptions& options);
/// The side that answers. Not for op "read": fill_source() on its memory, with `pong` bytes, is all that its target
/// does.
std::unique_ptr<PingPong> make_server_lane(Connection& connection, const LaneOptions& options);
void fill_source(std::span<std::byte> memory, const LaneOptions& options);

}  // namespace longhaul::workloads::pingpong
