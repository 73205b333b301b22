// A server's listening socket: control and data connections come to one port and are told apart by their preamble.
// A connection that sends none, sends it slowly or has not the token delays no other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.hh"
#include "common/result.hh"
#include "workloads/harness/control.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

/// A client that has connected and is not served yet.
struct WaitingClient {
  ControlChannel control;
  std::uint64_t session = 0;
};

class ClientListener {
 public:
  /// `token`: what connections must have; none: anyone is served.
  explicit ClientListener(OwnFd listener, std::optional<Token> token = {})
      : listener_(std::move(listener)), token_(token) {}

  bool guarded() const { return token_.has_value(); }
  /// Connections that were closed because they had no token, or sent what is no preamble.
  std::uint64_t strangers() const { return strangers_; }
  std::uint16_t port() const { return local_address(listener_.get()).port(); }
  std::string address() const { return local_address(listener_.get()).text(); }

  /// The next client; none at the deadline. Throws Interrupted.
  std::optional<WaitingClient> next_client(const Patience& patience);
  /// The data connections of a session, in the order of their lanes.
  Result<std::vector<OwnFd>> lanes(std::uint64_t session, std::size_t count, const Patience& patience);

 private:
  struct Incoming {
    OwnFd fd;
    std::string from;   // address
    std::string bytes;  // of its preamble, so far
    Preamble preamble;
    bool known = false;
    observe::RawTime arrived;
  };
  bool take_in(const Patience& patience);
  void read_preamble(Incoming& connection);
  void turn_away(Incoming& connection, std::string_view why);
  void accept_waiting(observe::RawTime now);
  bool make_room();

  OwnFd listener_;
  std::optional<Token> token_;
  std::uint64_t strangers_ = 0;
  observe::RawTime accept_from_;  // after the kernel could not give a connection
  std::vector<Incoming> incoming_;
};

}  // namespace longhaul::workloads
