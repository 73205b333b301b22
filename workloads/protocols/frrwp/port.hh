// An application's interface to its connection in a transfer: it posts requests and takes events. Behind it the
// connection is driven either by the application itself (Endpoint) or by an engine of its own (Engine).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "workloads/protocols/frrwp/message.hh"
#include "workloads/protocols/frrwp/write_matcher.hh"
#include "workloads/transport/waitable.hh"

namespace longhaul::workloads::frrwp {

struct Event {
  enum class Kind {
    message,  ///< from the peer; STCRW is the port's own business
    posted,   ///< a write was handed to the adapter
    written,  ///< the adapter is through with it: its buffer may be given back
    failed    ///< a conditional write will not be: `reason`
  };
  Kind kind = Kind::message;
  Message message;
  Tag tag = 0;
  observe::RawTime at;       ///< the message was taken, the post of the write began
  observe::RawTime matched;  ///< posted, of a conditional write: when its key was taken
  std::string reason;
};

/// Used by one thread. Throws std::system_error when the connection is broken, std::runtime_error when the peer does
/// not speak the protocol.
class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;

  virtual void send(Message message) = 0;
  /// An RDMA write, and FIN behind it.
  virtual void write(WriteOrder order, std::vector<Segment> segments) = 0;
  /// A conditional RDMA write, and FIN behind it: when the peer's STCRW with its tag is here.
  virtual void hold(WriteOrder order) = 0;
  virtual void cancel(Tag tag) = 0;
  /// The next event, in order; makes progress where nobody else does. Never blocks.
  virtual std::optional<Event> next() = 0;
  virtual Waitable& waitable() = 0;
};

}  // namespace longhaul::workloads::frrwp
