#include "agents/steering.hh"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "common/fd.hh"
#include "common/log.hh"
#include "common/well_known.hh"
#include "observe/placement.hh"

namespace longhaul::agents {

void end_steering() {
  const OwnFd pipe{::open(kSteeringPipe, O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!pipe) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{"/sys/class/net", error}) {
    const auto netdev = entry.path().filename().string();
    if (observe::receive_processors(netdev).empty()) continue;
    const auto line = netdev + " 0\n";
    if (::write(pipe.get(), line.data(), line.size()) < 0) log::warn("{}: still steered", netdev);
  }
}

}  // namespace longhaul::agents
