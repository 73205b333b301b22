// Messages between two applications by the protocols of middleware (WAN paper, section 5, figure 9): eager copies them
// through buffers that both sides know already; rendezvous exchanges addresses for each transfer and copies nothing.
//
//   eager   DATA                              one way: 1 trip
//   write   START, REPLY (where), data, FIN   3 trips before the receiver has it
//   read    START (where), read, FIN          3 trips: the read itself is two; FIN tells the sender, not the receiver
//
// Over sockets nothing can be read or written remotely: `write` there is START, REPLY, data into the receiver's own
// buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "workloads/harness/loop.hh"
#include "workloads/protocols/payload.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::rendezvous {

enum class Protocol { eager, write, read };
Protocol protocol_of(const std::string& word);

struct Options {
  Protocol protocol = Protocol::eager;
  std::size_t size = 0;
  bool stream = false;  ///< sockets
};

/// What is exchanged to make a transfer happen; at the head of an eager message, too. Little-endian on the wire.
enum class Control : std::uint32_t { data = 1, start, reply, fin };
inline constexpr std::size_t kControlSize = 16;

/// Where things lie in either end's memory: the application's two buffers, what goes out through the middleware, and
/// the ring of what comes in.
struct Layout {
  explicit Layout(const Options& options);
  static constexpr std::size_t out = 0;
  std::size_t in;
  std::size_t control;  ///< some of them in turn: an adapter may read one after the next is written
  std::size_t bounce;   ///< an eager message on its way out
  std::size_t stride;   ///< of the ring
  std::size_t ring;
  std::size_t total;
};

Attempt<ConnectionPlan> plan_of(const Options& options);

/// One end of a ping-pong of transfers, each by the same protocol.
class Exchange final : public Lane {
 public:
  /// `role`: the client sends first.
  Exchange(Connection& connection, const Options& options, Role role);

  void start() override;
  bool advance() override;
  Connection& connection() override { return connection_; }

  /// One-way trips on the critical path that this end has caused since reset(), and operations begun: by symmetry their
  /// quotient at the client is that of one transfer.
  std::uint64_t trips() const { return trips_; }
  std::uint64_t operations() const { return operations_; }
  void reset() override { trips_ = operations_ = 0; }

  /// Compares every byte of the last message. Throws std::runtime_error.
  void verify_last() const;

 private:
  enum class Step { idle, await_reply, await_fin, await_data, await_start, await_placed, fetching };

  void send_message();
  void await_message();
  bool received();
  bool handle(const Completion& completion);
  void control(Control kind, bool on_path);
  void expect(std::size_t length);
  void expect_here(std::size_t offset, std::size_t length);
  std::span<std::byte> slot() const;
  void consume();
  void check(Control wanted) const;

  Connection& connection_;
  Options options_;
  Layout layout_;
  bool client_;
  std::span<std::byte> out_, in_;
  pingpong::Direction outgoing_, incoming_;
  std::uint8_t sequence_ = 0;
  Step step_ = Step::idle;
  std::size_t next_slot_ = 0;
  std::size_t next_control_ = 0;
  std::uint64_t trips_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace longhaul::workloads::rendezvous
