// The sockets transport: messages of known length over one TCP connection, non-blocking.
#pragma once

#include <deque>
#include <string>

#include "common/fd.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/memory.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

class SocketsConnection final : public Connection {
 public:
  /// `fd` is a connected, non-blocking TCP socket. Sizes its buffers and posts the plan's receives.
  /// Refuses a congestion control that the kernel does not have (or not for this user).
  static Attempt<std::unique_ptr<SocketsConnection>> open(OwnFd fd, const ConnectionPlan& plan);

  const std::vector<Capability>& capabilities() const override;
  TransportFacts facts() const override;
  std::map<std::string, double> counters() const override;
  bool counts_device() const override { return false; }
  std::vector<std::string> limits() const override { return limits_; }
  std::span<std::byte> memory() override { return memory_.bytes(); }

  /// Operation::send only; anything else throws std::logic_error.
  void post(const Request& request) override;
  void post_receive(std::size_t offset, std::size_t length) override;
  std::size_t poll(std::span<Completion> out) override;

  bool arm() override { return finished_sends_ == 0; }
  int event_fd() const override { return fd_.get(); }
  std::uint32_t wait_events() const override;
  void check_alive() override;

 private:
  struct Piece {
    std::size_t offset = 0;
    std::size_t length = 0;
    std::size_t done = 0;
    bool signaled = false;
    bool more = false;
  };

  SocketsConnection(OwnFd fd, const ConnectionPlan& plan);
  bool write_some(Piece& piece);
  void flush();

  OwnFd fd_;
  Memory memory_;
  std::deque<Piece> sends_;     // the first may be partly written; the rest wait for it
  std::deque<Piece> receives_;  // the first is being filled
  std::size_t finished_sends_ = 0;
  std::vector<std::string> limits_;
};

}  // namespace longhaul::workloads
