// The server's end of RPC over RDMA on one connection: takes calls, moves their chunks, answers. Driven by advance().
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "observe/clock.hh"
#include "workloads/harness/loop.hh"
#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/options.hh"
#include "workloads/protocols/rpc/reads.hh"
#include "workloads/protocols/rpc/sends.hh"
#include "workloads/protocols/rpc/slots.hh"
#include "workloads/protocols/rpc/wire.hh"
#include "workloads/protocols/strategy.hh"

namespace longhaul::workloads::rpc {

/// What a server did, since reset().
struct ServerCounters {
  std::uint64_t calls = 0;
  std::uint64_t most_reads = 0;  ///< under way at a time
  Nanoseconds blocked{};         ///< of its threads, waiting for RDMA reads
  Nanoseconds exposed{};         ///< for which its buffers were open to the peer, all buffers together
  std::uint64_t exposures = 0;
  std::uint64_t errors = 0;  ///< calls that were answered with an error of RPC over RDMA

  /// With another connection's; `most_reads` stays that of one.
  ServerCounters& operator+=(const ServerCounters& other);
};

/// The server's threads, which all its connections share: how many wait for RDMA reads, or for disks.
struct ServerThreads {
  std::size_t all = 0;
  std::size_t waiting = 0;
};

class RdmaServer final : public Lane {
 public:
  /// `store` and `threads` are those of all connections.
  RdmaServer(Connection& connection, const Options& options, MemoryStore& store, ServerThreads& threads);
  /// Gives back the threads of the calls that are under way.
  ~RdmaServer() override;
  RdmaServer(const RdmaServer&) = delete;
  RdmaServer& operator=(const RdmaServer&) = delete;

  void start() override {}
  /// Throws std::runtime_error where the client sends more than it was granted, or another protocol.
  bool advance() override;
  Waitable& waitable() override { return connection_; }
  void reset() override;

  /// `seen` is told the header of each call when it comes, before anything is done for it. For hostile servers.
  void watch(std::function<void(const Header&)> seen) { seen_ = std::move(seen); }

  ServerCounters counters() const;
  /// Buffers that the client has not given back by RDMA_DONE.
  std::size_t withheld() const;
  /// Buffers that were taken back without RDMA_DONE, since the connection was made.
  std::uint64_t overdue() const { return overdue_; }

 private:
  // A call from when it is begun until nothing of it is under way.
  struct Work {
    enum class State { free, reading, storing, replying, exposed } state = State::free;
    Header header;
    ServerCall call;
    std::optional<std::size_t> receive;  // where the call came, until its bytes are not needed any more
    bool sent = false;                   // the adapter is through with the reply
    bool done = false;                   // RDMA_DONE came, or nothing was offered
    Buffers::Use use;
    std::size_t reads_left = 0;
    observe::RawTime since;
    observe::RawTime due;  // storing: the disks are through
  };
  struct Received {
    std::size_t offset;
    std::size_t length;
    DecodedHeader decoded;
    std::size_t record = 0;  // of a call that asks for several (HeaderKind::ahead)
    bool last = true;        // of its records: the call's bytes are not needed behind it
  };

  std::size_t buffer_of(const Work& work) const;
  void receive(std::size_t length);
  void dispatch();
  void begin(Work& work, Received received);
  void fetch(Work& work, const Chunk& chunk);
  void take_pushed(Work& work);
  void post_reads();
  void fetched(Work& work);
  void serve(Work& work);
  bool serve_due();
  void answer(Work& work);
  void send_reply(Work& work, const Header& header, std::span<const std::byte> message,
                  std::span<const std::byte> payload);
  void refuse(Work& work);
  Header error_to(std::uint32_t xid, WireFault fault) const;
  /// `work`: whose reply it is.
  void send(const Header& header, std::span<const std::byte> message, std::span<const std::byte> payload,
            std::optional<std::size_t> work);
  void give_back_receive(Work& work);
  void post_receive(std::size_t offset);
  void take_back(std::uint32_t xid);
  void take_back_late();
  void finish_if_through(Work& work);
  std::size_t working() const;

  Connection& connection_;
  Options options_;
  MemoryStore& store_;
  ServerThreads& threads_;
  Layout layout_;
  Buffers buffers_;
  Slots slots_;
  SendRing sends_;
  std::deque<std::size_t> receives_;  // posted, in order
  std::deque<Received> waiting_;      // calls without a thread
  // With the adapter. Each kind completes in its order; over siw a message may be through before a read that was posted
  // earlier.
  ReadQueue reads_;                                 // of works
  std::deque<std::optional<std::size_t>> sending_;  // works whose reply it is; none: an error
  std::vector<Work> works_;
  std::vector<std::size_t> storing_;  // works
  std::vector<std::byte> message_;    // of the reply that is being made
  ServerCounters counters_;
  std::uint64_t overdue_ = 0;
  std::function<void(const Header&)> seen_;
  bool answered_ = false;
};

}  // namespace longhaul::workloads::rpc
