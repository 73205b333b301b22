// The control connection between client and server: JSON in frames over TCP, beside the measured connections. The
// client tells the server everything; both wait for one another at the window's start and end.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "common/fd.hh"
#include "common/frame.hh"
#include "common/token.hh"
#include "model/record.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

inline constexpr int kControlVersion = 2;  // 1: without `connected`

enum class ControlKind {
  hello,         ///< client: workload, transport, parameters, session
  accepted,      ///< server: ready for the data connections; `port` is rdma_cm's
  connected,     ///< server: it has them all, and looks at what comes over them
  refused,       ///< server: `status` and `message`; it closes
  clock,         ///< client asks for the server's clock, which answers with the same: `time`, `boot`
  prepared,      ///< server, where the workload has it prepare something before the client begins
  window_start,  ///< client: the warm-up is over and nothing is on its way; the server answers with the same,
                 ///< to several clients ahead: `time` at which to open, `boot`
  window_stop,   ///< client: the window is closed; the server answers with `finished`
  finished,      ///< server: `record`
  failed         ///< either: `message`; it closes
};
BOOST_DESCRIBE_ENUM(ControlKind, hello, accepted, connected, refused, clock, prepared, window_start, window_stop,
                    finished, failed)

struct ControlMessage {
  ControlKind kind = ControlKind::failed;
  int version = kControlVersion;
  std::optional<std::string> program;  ///< version_text() of the sender, for its peer's error message
  std::optional<std::uint64_t> session;
  std::optional<std::string> workload;
  std::optional<std::string> transport;
  std::optional<Parameters> parameters;
  std::optional<std::uint16_t> port;
  std::optional<Status> status;
  std::optional<std::string> message;
  std::optional<NodeRecord> record;
  std::optional<std::int64_t> time;  ///< observe::raw_time()
  std::optional<std::string> boot;   ///< the kernel's boot id: equal where both ends have one clock
};
BOOST_DESCRIBE_STRUCT(ControlMessage, (),
                      (kind, version, program, session, workload, transport, parameters, port, status, message, record,
                       time, boot))

std::string to_json(const ControlMessage& message);
/// Refuses another version and text that is no message.
Result<ControlMessage> control_message_from_json(std::string_view text);

/// The first bytes of every connection to a server's port: the token, before which a server that wants one looks at
/// nothing else, then its kind and its client. 48 bytes, big-endian.
struct Preamble {
  bool data = false;
  std::uint16_t lane = 0;
  std::uint64_t session = 0;
  Token token{};
  bool operator==(const Preamble&) const = default;
};
inline constexpr std::size_t kPreambleSize = kTokenSize + 16;
std::string encode(const Preamble& preamble);
std::optional<Preamble> decode_preamble(std::string_view bytes);

/// A control connection after its preamble. Used by one thread.
class ControlChannel {
 public:
  explicit ControlChannel(OwnFd fd) : fd_(std::move(fd)), decoder_(std::size_t{4} << 20) {}

  int fd() const { return fd_.get(); }
  /// Throws std::system_error when the peer is gone or does not take it in time.
  void send(const ControlMessage& message, const Patience& patience);
  /// The next message without waiting. A peer that closed, and bytes that are no message, are errors.
  Result<std::optional<ControlMessage>> next();
  /// The next message; an error at the deadline. `expected` names it: "the server's answer".
  Result<ControlMessage> receive(const Patience& patience, const std::string& expected);

 private:
  OwnFd fd_;
  FrameDecoder decoder_;
};

/// Why `peer` gave up, where it said so, to be added to an error: it may know better why a connection broke. "; the
/// server said: ..."; else empty.
std::string last_words(ControlChannel& control, std::string_view peer, const Patience& patience);

}  // namespace longhaul::workloads
