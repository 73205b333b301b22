// Paths and ports that programs of different components meet at.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>

namespace longhaul {

/// UDP port of the probes' echo; their sender's is ephemeral. Agents echo there, degen knows its probes by it.
inline constexpr std::uint16_t kProbePort = 7473;

/// A named pipe that takes lines "start NAME THREAD FUNCTION..." and "stop NAME": the kernel's tracer says when that
/// thread entered and left these functions. A lab's end nodes have it. While it traces there is a file kTracingPipe +
/// "-NAME.on", after stop kTracingPipe + "-NAME.txt" appears whole: first a line "enter ID FUNCTION" and a line
/// "leave ID FUNCTION" for each, then a line "THREAD PROCESSOR NS type: ID" for each event, in their order. Neither
/// file comes where another thread is traced, or where the kernel has none of the functions. NAME is of [a-z0-9-],
/// THREAD is as gettid() gives it.
inline constexpr const char* kTracingPipe = "/run/longhaul/tracing";

/// A named pipe that takes lines "serve NAME PROCESS THREADS", "handles NAME PROCESS FILE...", "mount NAME PROCESS
/// ADDRESS PROTOCOL PORT BYTES SLOTS", "prepare NAME PROCESS all" and "end NAME": the kernel's NFS server (version 3;
/// sockets at kNfsPort, RDMA at kNfsRdmaPort) exports kNfsExport, an empty tmpfs, with so many threads, and tells the
/// handles of files in it; the client mounts that of ADDRESS (an IPv4 one) at kNfsPipe + "-NAME.mnt" by PROTOCOL (tcp
/// or rdma), with rsize and wsize of BYTES and so many slots; "prepare" loads modules and starts daemons, which the
/// first order of another kind does else. A lab's end nodes have it. Once it is done there is a file kNfsPipe +
/// "-NAME.serve" (or .handles, .mount, .prepare): the line "ok" and the answer, or "failed" or "unsupported" and why.
/// What a PROCESS that is gone has not ended is ended before the next order. One server at a time. NAME is of
/// [a-z0-9-].
inline constexpr const char* kNfsPipe = "/run/longhaul/nfs";
inline constexpr const char* kNfsExport = "/run/longhaul/export";
inline constexpr std::uint16_t kNfsPort = 2049;
inline constexpr std::uint16_t kNfsRdmaPort = 20049;

/// The last measured cost of registering memory of this user (a profile): `longhaul costs --profile` writes
/// it, `longhaul simulate --cost measured` reads it. Below ${XDG_STATE_HOME:-~/.local/state}.
inline std::filesystem::path measured_costs() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base = state != nullptr && *state != '\0'
                                         ? std::filesystem::path{state}
                                         : std::filesystem::path{home != nullptr ? home : "/tmp"} / ".local/state";
  return base / "longhaul" / "measured-costs.json";
}

}  // namespace longhaul
