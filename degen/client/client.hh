// A blocking client of degen's socket, for the CLI and for tests. (The agent has its own on Asio; both use
// messages.hh.)
#pragma once

#include <chrono>
#include <string>

#include "common/fd.hh"
#include "common/frame.hh"
#include "common/result.hh"
#include "degen/client/messages.hh"

namespace longhaul::degen {

/// One connection = one client: what it applied goes when this object goes. Not for several threads.
class Client {
 public:
  /// Connects to the socket at `path`. The error says whether the service is missing or access is denied, and the
  /// remedy.
  static Result<Client> connect(const std::string& path);
  /// Over a connected stream socket.
  explicit Client(OwnFd socket) : socket_(std::move(socket)) {}

  /// Sends and waits for the reply, at most `timeout`. An error is a lost or broken connection; a refusal by degen is a
  /// Reply that is not ok.
  Result<Reply> request(const Request& request, std::chrono::milliseconds timeout = std::chrono::seconds{10});

  /// Renews the lease. The holder must call this, or request(), at least every kLease; kHeartbeat is a good pace.
  Result<Reply> heartbeat() { return request(Request{}); }

  int fd() const { return socket_.get(); }

 private:
  OwnFd socket_;
  FrameDecoder decoder_;
};

}  // namespace longhaul::degen
