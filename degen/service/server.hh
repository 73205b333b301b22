// degen's socket and its loop: clients, captured probes, signals, leases. One thread; the engines may have their own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/fd.hh"
#include "common/frame.hh"
#include "degen/service/capture.hh"
#include "degen/service/controller.hh"

namespace longhaul::degen {

struct SocketOptions {
  std::string path{kDefaultSocket};
  mode_t mode = 0660;
  std::optional<gid_t> group;
};

/// A listening unix socket whose file goes when it goes.
class Listener {
 public:
  /// Replaces a socket file that nobody listens on. Throws std::system_error (EADDRINUSE: somebody does; EEXIST: what
  /// is there is no socket).
  explicit Listener(const SocketOptions& options);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();
  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  OwnFd fd_;
};

/// Who has to hear that the service is alive.
struct Pulse {
  std::function<void()> beat;  ///< called every kBeat or sooner; none: nobody has to
  int guard = -1;              ///< readable when the guard has ended; -1: there is none
};

class Server {
 public:
  /// `capture` may be null: then nothing is measured. All references outlive the server.
  Server(Listener& listener, ImpairmentController& controller, Capture* capture, Pulse pulse = {})
      : listener_(listener), controller_(controller), capture_(capture), pulse_(std::move(pulse)) {}

  /// Serves until `stop` (a descriptor: signalfd, eventfd) is readable. Throws std::system_error, and
  /// std::runtime_error when the guard has ended: without one nothing may stay impaired.
  void run(int stop);

 private:
  struct Connection {
    OwnFd fd;
    FrameDecoder decoder{kMaxRequest};
    std::string out;    // replies that did not fit into the socket yet
    pid_t process = 0;  // of the peer, when it connected
  };
  int patience() const;
  void accept();
  bool make_room();
  bool receive(ClientId id, Connection& connection);
  static bool flush(Connection& connection);

  Listener& listener_;
  ImpairmentController& controller_;
  Capture* capture_;
  Pulse pulse_;
  std::map<ClientId, Connection> connections_;
  ClientId next_id_ = 1;
  std::uint64_t displaced_ = 0;
  std::optional<Nanoseconds> accept_from_;  ///< CLOCK_MONOTONIC: after a client could not be accepted
};

Now read_clocks();

}  // namespace longhaul::degen
