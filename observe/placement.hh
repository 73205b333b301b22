// On which processors the kernel does the network's work.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace longhaul::observe {

/// The processors that a mask of /proc and /sys names ("3", "ff,00000001"), ascending. What is no mask names none.
std::vector<int> parse_cpu_mask(std::string_view text);

/// Where packets that `netdev` receives are processed, as far as it is steered (receive packet steering: rps_cpus of
/// its queues); empty: wherever they happen to arrive - between interfaces of one machine on the sender's processor.
std::vector<int> receive_processors(const std::string& netdev);

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

/// Ends what a killed process has left: has kSteeringPipe's service take all steering away. Without one, nothing.
void end_steering();

/// The mask of these processors as the kernel reads it.
std::string cpu_mask(const std::vector<int>& cpus);

/// One line of /proc/softirqs by processor: how often it ran there. Empty when there is no such line.
std::map<int, std::uint64_t> parse_softirqs(std::string_view text, std::string_view name);

}  // namespace longhaul::observe
