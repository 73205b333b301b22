// One transfer after another, by each of the processes of paper F (PAPERS.md, section F): who registers when, who sends
// the key, who writes. The data always moves by an RDMA write, from the source to the sink; the client begins.
//
//            write (client -> server)                     read (server -> client)
//   typical     register, START | register, KEY | write      register, START with key | register, write
//   frrwp       START, register | register, KEY | write      START, register, KEY | register | write
//   crw         as frrwp, but the source posts a conditional write at once and the key comes as STCRW to its engine
//   advertised  the sink has sent keys ahead of need: no KEY on the way, and for a write no START
//
// Behind the data comes FIN; the server ends each transfer with CLOSED when its own buffer is given back.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "model/histogram.hh"
#include "workloads/harness/computation.hh"
#include "workloads/harness/loop.hh"
#include "workloads/protocols/frrwp/port.hh"
#include "workloads/protocols/payload.hh"
#include "workloads/protocols/reuse.hh"
#include "workloads/protocols/strategy.hh"

namespace longhaul::workloads::frrwp {

enum class Protocol { typical, frrwp, crw, advertised };
enum class Direction { write, read };

struct Options {
  Protocol protocol = Protocol::typical;
  Direction direction = Direction::write;
  Reuse reuse;
  StrategyOptions strategy = {};
  std::uint64_t credits = 2;  ///< advertised: keys that the source has at a time
  /// Every second transfer, from the first on, is typical: neighbours are compared in the same moments.
  bool paired = false;
  const Computation* computation = nullptr;  ///< what the source's application does while the key is on its way
};

/// A transfer that did not come about; both ends are ready for the next.
class TransferFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The buffers' area is the same at both ends.
class Transfer final : public Lane {
 public:
  /// `port` drives `connection`, whose buffers begin at `area`.
  Transfer(Port& port, Connection& connection, std::size_t area, const Options& options, Role role);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void start() override;
  /// Throws TransferFailed at the client; the server only tells its peer.
  bool advance() override;
  Waitable& waitable() override { return port_.waitable(); }
  void reset() override;

  /// Called at the client when a transfer has come about: when each phase was, here and at the server (by its clock).
  std::function<void(Tag tag, const Moments& here, const Moments& there)> on_closed;
  /// True if a transfer of such options is one of the typical process.
  static bool is_typical(const Options& options, Tag tag) {
    return options.protocol == Protocol::typical || (options.paired && tag % 2 == 1);
  }

  std::optional<registration::ExecutorCounters> registrations() const { return buffers_.counters(); }
  /// Times of the computation since reset(), ns.
  const Histogram& computations() const { return computations_; }

  /// Compares every byte of the last transfer (at the sink; its first and last where buffers overlap). Throws
  /// std::runtime_error.
  void verify_last() const;

 private:
  bool client() const { return role_ == Role::client; }
  bool source() const { return client() == (options_.direction == Direction::write); }
  bool ahead() const { return options_.protocol == Protocol::advertised; }
  /// Both ends register at the same time: START goes before.
  bool overlapped() const { return !is_typical(options_, tag_); }
  bool conditional() const { return options_.protocol == Protocol::crw && overlapped(); }
  const Extent& extent(Tag tag) const { return options_.reuse.at(tag - 1); }

  bool handle(Event& event);
  bool take(Message& message, observe::RawTime at);
  void begin(Tag tag, observe::RawTime now);
  void proceed();
  void start_message();
  void prepare();
  void offer();
  void advertise();
  void write_if_ready();
  void data_is_here(observe::RawTime now);
  bool close_if_through();
  void refused_ahead(const Message& message);
  void give_up(const std::string& why, bool tell);
  void send(Kind kind, std::vector<Segment> segments = {});

  Port& port_;
  Connection& connection_;
  std::size_t area_;
  Options options_;
  Role role_;
  pingpong::Direction pattern_;
  Buffers buffers_;

  Tag tag_ = 0;  // of the transfer under way, or the last
  bool active_ = false;
  bool ordered_ = false;  // source: the write is with the port
  bool closed_ = false;   // client: the server is through
  Buffers::Use use_;
  struct Key {
    std::vector<Segment> segments;
    observe::RawTime came;
  };
  std::unordered_map<Tag, Key> keys_;  // source: that have come
  struct Advertised {
    Buffers::Use use;
    observe::RawTime told;
  };
  std::unordered_map<Tag, Advertised> advertised_;  // sink
  std::unordered_map<Tag, std::string> refused_;    // source: of transfers to come
  Tag last_advertised_ = 0;
  std::unordered_map<Tag, Buffers::Use> lingering_;  // source: given up, but the adapter still reads it
  Moments moments_;
  Moments peer_;
  Histogram computations_;
};

}  // namespace longhaul::workloads::frrwp
