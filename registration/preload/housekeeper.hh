// The thread that deregisters what the mapping watch gives up (whose own thread must not wait for the program's
// allocator), and that tells the statistics to whoever connects to a socket.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "common/fd.hh"
#include "common/result.hh"

namespace longhaul::registration {

class Housekeeper {
 public:
  Housekeeper();
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  /// Has `tidy` called soon. Does not allocate: any thread, at any time.
  void wake() const;

  /// Listens at a unix socket, for this user only; whoever connects gets `tell` and the end. A socket that nobody
  /// listens at any more is replaced, anything else is left alone and refused. Before start().
  Result<void> listen(const std::string& path, std::function<std::string()> tell);
  void start(std::function<void()> tidy);
  /// Takes the socket's file away: at the process's end.
  void forget() const;

 private:
  void serve() const;

  OwnFd wake_;
  OwnFd stop_;
  OwnFd socket_;
  std::string path_;
  std::function<std::string()> tell_;
  std::function<void()> tidy_;
  std::thread thread_;
};

}  // namespace longhaul::registration
