#include "workloads/harness/steering.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/fd.hh"
#include "common/well_known.hh"
#include "observe/placement.hh"
#include "observe/small_file.hh"
#include "workloads/harness/run_side.hh"

namespace longhaul::workloads {
namespace {

bool write(const std::string& file, const std::string& text) {
  const OwnFd fd{::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Directly, or by the service; true when it is so.
bool steer(const std::string& netdev, const std::string& mask) {
  constexpr int kLooks = 200;
  constexpr std::chrono::milliseconds kPause{5};
  const auto files = observe::receive_steering_files(netdev);
  if (std::all_of(files.begin(), files.end(), [&](const auto& file) { return write(file, mask); })) return true;
  if (!write(kSteeringPipe, fmt::format("{} {}\n", netdev, mask))) return false;
  const auto wanted = observe::parse_cpu_mask(mask);
  for (int i = 0; i < kLooks; ++i) {
    if (observe::receive_processors(netdev) == wanted) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

Steering::Steering(std::string netdev, const std::vector<int>& cpus) : netdev_(std::move(netdev)) {
  const auto files = observe::receive_steering_files(netdev_);
  if (files.empty()) return;
  former_ = observe::small_file(files.front()).value_or("0");
  done_ = steer(netdev_, observe::cpu_mask(cpus));
}

std::optional<Steering> receive_here(const std::string& netdev) {
  const auto own = own_processors();
  if (own.size() >= std::thread::hardware_concurrency() || netdev == "lo") return Steering{};
  const auto receiving = observe::receive_processors(netdev);
  const bool here = !receiving.empty() && std::all_of(receiving.begin(), receiving.end(), [&](int cpu) {
    return std::find(own.begin(), own.end(), cpu) != own.end();
  });
  if (here) return Steering{};
  Steering steering{netdev, own};
  if (!steering.done()) return std::nullopt;
  return steering;
}

Steering::~Steering() {
  if (done_) steer(netdev_, former_);
}

}  // namespace longhaul::workloads
