// Messages between two applications by the protocols of middleware (WAN paper, section 5, figure 9): eager copies them
// through buffers that both sides know already; rendezvous exchanges addresses for each transfer and copies nothing.
//
//   eager   DATA                              one way: 1 trip
//   write   START, REPLY (where), data, FIN   3 trips before the receiver has it
//   read    START (where), read, FIN          3 trips: the read itself is two; FIN tells the sender, not the receiver
//
// Over sockets nothing can be read or written remotely: `write` there is START, REPLY, data into the receiver's own
// buffer. Rendezvous buffers are the application's own, registered by a strategy: the sender's before START, the
// receiver's when START has come (PAPERS.md, section F, the typical process).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "workloads/harness/loop.hh"
#include "workloads/protocols/payload.hh"
#include "workloads/protocols/rendezvous_message.hh"
#include "workloads/protocols/reuse.hh"
#include "workloads/protocols/strategy.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::rendezvous {

enum class Protocol { eager, write, read };
Protocol protocol_of(const std::string& word);

struct Options {
  Protocol protocol = Protocol::eager;
  Reuse reuse;
  bool stream = false;  ///< sockets
  StrategyOptions strategy = {};
  /// Protocol read: what is registered of the receiver's buffer is fetched while the rest is being registered.
  bool pipelining = false;
};

/// The layout of either end's memory: what goes out through the middleware, the ring of what comes in, and the
/// application's two areas of buffers.
struct Layout {
  explicit Layout(const Options& options);
  static constexpr std::size_t control =
      0;               ///< some of them in turn: an adapter may read one after the next is written
  std::size_t bounce;  ///< an eager message on its way out
  std::size_t stride;  ///< of the ring
  std::size_t ring;
  std::size_t out;  ///< the application's
  std::size_t in;
  std::size_t total;
};

Attempt<ConnectionPlan> plan_of(const Options& options);

/// One end of a ping-pong of transfers, each by the same protocol.
class Exchange final : public Lane {
 public:
  /// `role`: the client sends first.
  Exchange(Connection& connection, const Options& options, Role role);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void start() override;
  bool advance() override;
  Waitable& waitable() override { return connection_; }

  /// One-way trips on the critical path that this end has caused since reset(), and operations begun: by symmetry their
  /// quotient at the client is that of one transfer.
  std::uint64_t trips() const { return trips_; }
  std::uint64_t operations() const { return operations_; }
  void reset() override;

  /// The cost of registering this end's buffers since reset(); empty where the strategy registers nothing.
  std::optional<registration::ExecutorCounters> registrations() const { return buffers_.counters(); }

  /// Compares every byte of the last message (its first and last, where buffers overlap). Throws std::runtime_error.
  void verify_last() const;

 private:
  enum class Step { idle, await_reply, await_fin, await_data, await_start, await_placed, fetching };

  void send_message();
  void await_message();
  bool received();
  bool handle(const Completion& completion);
  void control(Control kind, bool on_path, const std::vector<Segment>& segments = {});
  void write_to(const std::vector<Segment>& segments);
  void fetch_from(std::vector<Segment> segments);
  void fetch(const std::vector<BufferPiece>& into, const std::vector<Segment>& from);
  bool placed();
  void expect(std::size_t length);
  void expect_here(std::size_t offset, std::size_t length);
  const Extent& outgoing() const { return options_.reuse.at(sent_ - 1); }
  const Extent& incoming() const { return options_.reuse.at(received_); }
  std::span<std::byte> slot() const;
  Message take(Control wanted);
  void consume();

  Connection& connection_;
  Options options_;
  Layout layout_;
  bool client_;
  pingpong::Direction outgoing_, incoming_;
  Buffers buffers_;
  std::deque<Buffers::Use> sources_;  // until the adapter or the peer has read them
  Buffers::Use target_;
  std::size_t fetching_ = 0;
  std::uint64_t sent_ = 0;  // messages
  std::uint64_t received_ = 0;
  Step step_ = Step::idle;
  std::size_t next_slot_ = 0;
  std::size_t next_control_ = 0;
  std::uint64_t trips_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace longhaul::workloads::rendezvous
