// Conditional RDMA writes that wait for the peer's key (paper F, section 8): which write goes out when, and what is
// done about tags that do not fit. Events and time in, actions out. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "workloads/protocols/frrwp/message.hh"

namespace longhaul::workloads::frrwp {

/// A write that an application wants: its own buffer; where it goes comes from the peer.
struct WriteOrder {
  Tag tag = 0;
  std::vector<BufferPiece> from;
  std::size_t begin = 0;  ///< of the buffer, in the connection's memory
  std::size_t length = 0;
};

/// To be sent to the peer's segments.
struct Submit {
  WriteOrder order;
  std::vector<Segment> segments;
  observe::RawTime matched;  ///< when the peer's key came
};
/// The application hears that its write will not be.
struct Fail {
  Tag tag = 0;
  std::string reason;
};
/// The peer hears that its key will not be used: it may give its buffer back.
struct Reject {
  Tag tag = 0;
  std::string reason;
};
using Action = std::variant<Submit, Fail, Reject>;

class WriteMatcher {
 public:
  /// `patience`: how long a write waits for its key, and a key for its write.
  explicit WriteMatcher(Nanoseconds patience) : patience_(patience) {}

  /// The application posts a conditional write. Its key may be here already.
  std::vector<Action> post(WriteOrder order, observe::RawTime now);
  /// The peer's STCRW. Nothing is exposed by keeping one that is too early: the key is the peer's.
  std::vector<Action> key(Tag tag, std::uint64_t length, std::vector<Segment> segments, observe::RawTime now);
  /// The application wants it no more. Too late: nothing happens.
  std::vector<Action> cancel(Tag tag);
  /// The peer wants it no more, or cannot.
  std::vector<Action> refused(Tag tag, const std::string& reason);
  /// Ends what has waited too long.
  std::vector<Action> expire(observe::RawTime now);

  /// When expire() has something to do next.
  std::optional<observe::RawTime> deadline() const;
  std::size_t held() const { return held_.size(); }
  std::size_t early() const { return early_.size(); }

  static constexpr std::size_t kMostEarly = 16384;   ///< keys without a write: more are a peer's mistake
  static constexpr std::size_t kRemembered = 65536;  ///< tags that are over, told apart from those never heard of

 private:
  struct Held {
    WriteOrder order;
    observe::RawTime deadline;
  };
  struct Early {
    std::uint64_t length;
    std::vector<Segment> segments;
    observe::RawTime came;
    observe::RawTime deadline;
  };
  void spend(Tag tag);
  static std::vector<Action> match(WriteOrder order, std::uint64_t length, std::vector<Segment> segments,
                                   observe::RawTime came);

  Nanoseconds patience_;
  std::unordered_map<Tag, Held> held_;
  std::unordered_map<Tag, Early> early_;
  std::set<std::pair<observe::RawTime, Tag>> deadlines_;  // of both
  std::unordered_set<Tag> spent_;
  std::deque<Tag> spent_order_;
};

}  // namespace longhaul::workloads::frrwp
