// The client's end of RPC over RDMA on one connection: several threads, each with one call under way. Driven by
// whichever lane advances.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "workloads/harness/loop.hh"
#include "workloads/protocols/rpc/caller.hh"
#include "workloads/protocols/rpc/options.hh"
#include "workloads/protocols/rpc/reads.hh"
#include "workloads/protocols/rpc/sends.hh"
#include "workloads/protocols/rpc/wire.hh"
#include "workloads/protocols/strategy.hh"

namespace longhaul::workloads::rpc {

/// What either kind of client is to its threads. Each has a line for every record that it keeps (Caller).
class Client {
 public:
  explicit Client(const Options& options) : caller_(options), kept_(options.kept()) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  virtual ~Client() = default;

  /// The thread's next operation: its call goes out as soon as there is a credit, unless its record was asked for
  /// ahead.
  virtual void start(std::size_t thread);
  /// Makes progress. Throws std::runtime_error where the server answers with an error, or not as it should.
  virtual void progress() = 0;
  /// The thread has its result.
  bool done(std::size_t thread) const { return over(caller_.line_of(thread)); }
  /// Nor is anything under way that was asked for ahead of it.
  bool idle(std::size_t thread) const;
  /// Of the thread's last operation, as Options::size.
  std::size_t size(std::size_t thread) const { return caller_.call(caller_.line_of(thread)).size; }
  virtual void reset();
  virtual Waitable& waitable() = 0;

  /// Calls a second of all clients together that may get through over a path of this round trip, by the way that the
  /// last reply came.
  virtual double ceiling(Nanoseconds round_trip) const = 0;
  /// One-way trips of a call, as its reply came; calls that had to wait for a credit; since reset().
  virtual double trips() const = 0;
  std::uint64_t stalls() const { return caller_.stalls(); }
  /// Operations whose record was here when they began; since reset().
  std::uint64_t found() const { return found_; }
  virtual std::optional<registration::ExecutorCounters> registrations() const = 0;
  /// Compares every byte of the last READ. Throws std::runtime_error.
  virtual void verify_last() const = 0;

 protected:
  /// The line's call is under way from now on.
  virtual void begin(std::size_t line) = 0;
  /// The line's last call has its result.
  virtual bool over(std::size_t line) const = 0;
  /// Sends what may be sent.
  virtual void send_ready() = 0;

  Caller caller_;

 private:
  std::size_t kept_;
  std::uint64_t found_ = 0;
};

class RdmaClient final : public Client {
 public:
  RdmaClient(Connection& connection, const Options& options);

  void start(std::size_t thread) override;
  void progress() override;
  void reset() override;
  Waitable& waitable() override { return connection_; }

  double ceiling(Nanoseconds round_trip) const override;
  double trips() const override;
  std::optional<registration::ExecutorCounters> registrations() const override { return buffers_.counters(); }
  void verify_last() const override;
  /// The first byte that the thread's last READ, which is done, has otherwise than the file, in words; empty: none.
  std::string fault(std::size_t thread) const { return fault_of(caller_.line_of(thread)); }

 private:
  // Of a line (Caller).
  struct Call {
    /// acknowledging: the reply is there, but not yet the adapter's word that what was pushed has arrived. closing: nor
    /// is its buffer closed to the server yet.
    enum class State { idle, under_way, fetching, acknowledging, closing } state = State::idle;
    CallPlan plan;
    bool sent = false;  // the adapter's word that it has arrived
    std::size_t segments = 0;
    Buffers::Use use;
    std::uint64_t closing = 0;     // Buffers::ended() of its use
    Header header;                 // of the reply that is kept
    std::vector<std::byte> reply;  // of a payload that is being fetched, acknowledged or closed
    bool whole = false;            // fetched: the whole reply, not its payload
    std::size_t length = 0;        // of what is fetched
    std::size_t reads_left = 0;
  };
  std::size_t buffer_of(std::size_t line) const { return layout_.buffers + line * layout_.buffer_stride; }
  std::span<std::byte> bytes_of(std::size_t line, std::size_t length) {
    return connection_.memory().subspan(buffer_of(line), length);
  }
  void begin(std::size_t line) override { calls_[line].state = Call::State::under_way; }
  bool over(std::size_t line) const override { return calls_[line].state == Call::State::idle; }
  void send_ready() override;
  void send_call(std::size_t line);
  void send_row(const std::vector<std::size_t>& lines);
  void send_message(Header header, const ClientCall& operation, std::span<const std::byte> payload, nfs::Payload where,
                    std::size_t segments);
  void send_long(std::size_t line, std::span<const std::byte> payload);
  [[noreturn]] void no_room(const ClientCall& operation, std::size_t segments) const;
  Chunk offer(std::size_t line, std::size_t length);
  void receive(std::size_t offset, std::size_t length);
  void take_reply(std::size_t line, const Header& header, std::span<const std::byte> message);
  void fetch(std::size_t line, const Header& header, std::span<const std::byte> message);
  void post_reads();
  void fetched(std::size_t line);
  void finish(std::size_t line, ReplyWay way);
  void send_done(std::uint32_t xid);
  CallPlan plan_of(const ClientCall& operation) const;
  std::string fault_of(std::size_t line) const;
  bool push(std::size_t line, Header& header);
  /// The payload of WRITE: in the line's buffer, unless the whole call goes there.
  std::span<const std::byte> payload_of(std::size_t line, const ClientCall& operation);
  void take_slot(const Header& header);
  /// The adapter must not change, nor read, the line's buffer from now on. True where it cannot any more; else the
  /// call is closing.
  bool close(std::size_t line);
  void close_kept(std::size_t line);
  void conclude_closed();
  void conclude(std::size_t line, const Header& header, std::span<const std::byte> message);
  /// `xid`: of the call, or of that whose RDMA_DONE it is.
  void post_message(std::size_t offset, std::size_t length, std::uint32_t xid);
  void sent(std::uint32_t xid);

  Connection& connection_;
  Options options_;
  Layout layout_;
  CallPlan plan_;  // of a call of the options' procedure and size; of a mix each has its own
  Buffers buffers_;
  SendRing sends_;
  ReadQueue reads_;                                  // of lines
  std::vector<Call> calls_;                          // by line
  std::vector<std::vector<std::byte>> application_;  // by line, where payloads are copied
  std::deque<std::uint32_t> sending_;                // calls by xid, and RDMA_DONEs by that of theirs
  std::deque<std::size_t> closing_;                  // lines
  std::deque<Chunk> slots_;                          // granted by the server
  std::deque<std::uint32_t> dones_;                  // to be sent
  std::deque<std::size_t> receives_;
  std::uint64_t trips_ = 0;
  std::uint64_t finished_ = 0;
  std::optional<std::size_t> last_read_;  // line
  ReplyWay way_ = ReplyWay::inside;       // of the last reply
  std::size_t segments_ = 1;
};

}  // namespace longhaul::workloads::rpc
