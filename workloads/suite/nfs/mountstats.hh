// What the kernel's NFS client counts of a mount (/proc/self/mountstats, version 1.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace longhaul::workloads::nfs {

struct MountStatistics {
  std::string protocol;             ///< "rdma" or "tcp": what the mount really uses
  std::uint64_t calls = 0;          ///< of the procedure that was asked for
  std::uint64_t transmissions = 0;  ///< of these calls, first ones and repeated ones
  std::uint64_t chunks = 0;         ///< read and write chunks of all calls; 0 over sockets
};

/// The mount at `mount_point` and its procedure `name` ("READ"); empty when there is no such mount. Counts that are
/// not there are 0. Pure.
std::optional<MountStatistics> read_mountstats(std::string_view text, std::string_view mount_point,
                                               std::string_view name);

}  // namespace longhaul::workloads::nfs
