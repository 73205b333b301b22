// A one-way stream of equal messages with a queue kept full: what throughput is measured with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/harness/loop.hh"
#include "workloads/protocols/in_flight.hh"
#include "workloads/protocols/strategy.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::stream {

struct Options {
  std::string op;  ///< write, read, send; "stream" for tcp
  std::size_t size = 0;
  std::size_t depth =
      0;  ///< messages under way; 0: as the path turns out (InFlightLimit), as many as the queue holds at most
  std::uint8_t payload = 0;       ///< salt of all messages
  Nanoseconds interval{};         ///< from one message to the next, one under way at a time; 0: without pause
  Nanoseconds round_trip{};       ///< of the unloaded path: what the flight limit is reckoned with
  StrategyOptions strategy = {};  ///< of the buffers at the end that posts; write and read only
  /// A write counts when the peer's memory has it, for which it is asked at both ends of what is counted; else when it
  /// is complete (see is_iwarp).
  bool in_place = false;
};

/// The plan of the connections of streams, for either end.
Attempt<ConnectionPlan> plan_of(const Options& options, Role role, std::size_t connections);

/// Bytes against time, from the end of the first round to the last arrival: neither the ramp before nor the silence
/// after counts. A round is as many arrivals as may come in one burst: of what is under way at a time, which comes a
/// round trip apart over a long path, or when an end that was busy with posting looks again. From the first arrival to
/// the last there is one burst more than there are such times. Each lane that has its rounds has a meter of its own
/// (rate_of). A receiver's share one, since messages come evenly there, and so do lanes that may have few arrivals
/// each.
class Meter {
 public:
  explicit Meter(std::size_t round = 1) : round_(round), begun_(round) {}
  /// `arrivals` of `bytes` each that one look found: none of them is later than another.
  void count(std::size_t bytes, observe::RawTime now, std::size_t arrivals = 1);
  void reset() { reset(round_); }
  void reset(std::size_t round) { *this = Meter{round}; }
  /// Bit/s; 0 before the second arrival. With less than a round behind the first it is counted from the first arrival.
  double rate() const;
  /// Three rounds have come behind the first, or one where that takes long.
  bool enough() const;
  std::uint64_t arrivals() const { return arrivals_; }

  /// For what counts when it is in place: the first `arrivals`, of `bytes` each, were so by then, and what came after
  /// them counts from there on.
  void begin_behind(std::uint64_t arrivals, std::size_t bytes, observe::RawTime now);
  /// All that has been counted was in place by then, and not earlier.
  void there_at(observe::RawTime now) { last_ = std::max(last_, now); }

 private:
  // What has come since an arrival, without that one and what the same look found.
  struct Since {
    observe::RawTime begin;
    double bytes = 0;
  };
  std::size_t round_;
  std::uint64_t begun_;  // arrivals before `behind_`
  std::uint64_t arrivals_ = 0;
  Since first_;
  Since behind_;  // the first round, or what was in place
  observe::RawTime last_;
};

/// Over iWARP a write is complete as soon as its buffer may be used again (RFC 5040): it may lie in the sender's
/// socket.
inline bool is_iwarp(const TransportFacts& facts) {
  return facts.provider == "siw" || facts.provider == "cxgb4";
}

/// Rounds that each lane has to make where rate_of() is asked for: of one it tells nothing.
inline constexpr std::size_t kRounds = 4;
/// Whether so many arrivals are these rounds of all lanes, on average: ClientSession::Options::enough.
std::function<bool(std::uint64_t arrivals)> rounds(std::size_t lanes, std::size_t round = 1);
/// Of all lanes together, each of which has a meter of its own: how often one comes to its end follows from the lane's
/// own operations, in whatever bursts those of all come. Bit/s.
double rate_of(const std::vector<Meter>& lanes);
std::uint64_t arrivals_of(const std::vector<Meter>& lanes);

/// The end that posts: writes, reads, or sends. Counts what is complete: a write is when the peer's adapter has
/// acknowledged it, a read when the data is here; a send over sockets only when the kernel has taken it, so there the
/// receiver's meter tells. An RDMA send needs a receive that waits for it (iWARP ends a connection without one): the
/// receiver writes into this end's memory how many it has posted again, and no more than that are sent.
class Poster final : public Lane {
 public:
  Poster(Connection& connection, const Options& options, Meter& meter);
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;

  void start() override;
  bool advance() override;
  bool idle() const override { return under_way_ == 0 && !asked_; }
  void reset() override {
    meter_.reset(round());
    asks_ = options_.in_place;
    buffers_.reset();
  }
  Waitable& waitable() override { return connection_; }

  /// There is enough behind the first round for a rate.
  bool enough() const { return !asks_ && !asked_ && meter_.enough(); }

  /// Asks whether the peer's memory has all writes so far.
  void ask_whether_in_place();
  /// After the last write: true if that was answered; looks, and does not wait.
  bool answered();

  /// The cost of registering its buffers since reset(); empty where the strategy registers nothing.
  std::optional<registration::ExecutorCounters> registrations() const { return buffers_.counters(); }

  /// The most that may be under way.
  std::size_t depth() const { return depth_; }

 private:
  void post();
  void post_piecewise(Request request);
  // What may be under way at a time, as far as is known by now, and so end at once; and as much again, for the limit
  // may still grow.
  std::size_t round() const { return 2 * most_under_way(); }
  std::size_t most_under_way() const { return limit_ ? limit_->size() : depth_; }
  // Takes all that is complete: a look at the completions.
  struct Look {
    std::size_t complete = 0;
    bool answered = false;
  };
  Look look();
  /// The number of messages that `count` completions end.
  std::size_t retire(std::size_t count);
  /// At the end of the first round: whether what was posted until now is in place.
  void ask(bool answered, observe::RawTime now);
  /// Posts one of the messages that start() wants, if the receiver has room. More of them in a row would keep what has
  /// arrived waiting, on this connection and on the others of its thread, and it would be counted late.
  void fill();
  bool has_credit();

  Connection& connection_;
  Options options_;
  Meter& meter_;
  std::size_t depth_;
  std::optional<InFlightLimit> limit_;
  std::size_t slots_;
  bool credited_;             // sends no more than the receiver has room for
  std::uint64_t posted_ = 0;  // in all; the next one's slot follows from it
  std::size_t wanted_ = 0;    // to be posted since start(): nothing more where a window is over
  std::size_t under_way_ = 0;
  bool asks_ = false;                   // when the first round is over
  std::optional<std::uint64_t> asked_;  // whether so many of the phase are in place: a read is under way
  std::size_t base_;                    // where its slots begin
  Buffers buffers_;
  std::deque<std::pair<Buffers::Use, std::size_t>> in_use_;  // and what is under way of each
  std::uint8_t sequence_ = 0;
  bool waiting_ = false;  // for the time of the next message
  std::optional<observe::RawTime> due_;
};

/// After the last write of all: waits until the peer's memory has them. Over iWARP a write is complete as soon as its
/// buffer may be used again; a read is answered when what was written before it is in place (RFC 5040, section 5.5).
/// One round trip, however many they are. Throws std::system_error ETIMEDOUT after `timeout`.
void flush(std::span<Poster* const> posters, Nanoseconds timeout);

/// The end that receives a stream over sockets, or RDMA sends: every message's first and last byte are checked.
class Receiver final : public Lane {
 public:
  Receiver(Connection& connection, const Options& options, Meter& meter);

  void start() override {}
  bool advance() override;
  void reset() override { meter_.reset(); }
  Waitable& waitable() override { return connection_; }

 private:
  void take();
  /// Tells the sender of receives that wait again.
  void grant();

  Connection& connection_;
  Options options_;
  Meter& meter_;
  bool grants_;
  std::size_t slots_;
  std::uint64_t again_ = 0;  // receives posted again, in all; the next message's slot follows from it
  std::uint64_t told_ = 0;   // of which the sender knows
  std::size_t telling_ = 0;  // writes of that under way
  std::uint8_t sequence_ = 0;
};

/// The offset of the slots of the end that posts: behind a page of the connection's own where they are registered
/// apart.
std::size_t slots_offset(const Options& options);

/// Every byte of the messages in slots that writes, reads or a stream came into. Throws std::runtime_error, also where
/// nothing came.
void verify(std::span<const std::byte> memory, const Options& options);

/// Messages that either end's memory has room for; over sockets one is received at a time.
std::size_t slots_of(const Options& options);
/// The offset, in an RDMA sender's memory, of the count of receives that were posted again, or of what a writer reads
/// to learn what is in place; 8 bytes.
std::size_t credit_offset(const Options& options);

}  // namespace longhaul::workloads::stream
