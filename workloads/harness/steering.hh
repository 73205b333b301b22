// Steers received packets to given processors during a measurement.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace longhaul::workloads {

/// Steers what `netdev` receives to `cpus` for as long as it lives, then as it was before. Only CAP_NET_ADMIN may do
/// so: others ask the service behind kSteeringPipe, where there is one. done(): false where nobody does it.
class Steering {
 public:
  Steering() = default;
  Steering(std::string netdev, const std::vector<int>& cpus);
  ~Steering();
  Steering(Steering&& other) noexcept
      : netdev_(std::move(other.netdev_)),
        former_(std::move(other.former_)),
        done_(std::exchange(other.done_, false)) {}
  Steering& operator=(Steering&&) = delete;
  bool done() const { return done_; }

 private:
  std::string netdev_;
  std::string former_;  ///< mask
  bool done_ = false;
};

/// Where nodes share a machine its kernel receives a packet on the processor that sent it: what an end receives is the
/// other's burden, and its adapter's packets, sent by either, may overtake one another. So its packets are steered to
/// its own processors (own_processors()) as long as this lives. Empty where nobody may; nothing is done where it is so,
/// or the machine is one node's.
std::optional<Steering> receive_here(const std::string& netdev);

}  // namespace longhaul::workloads
