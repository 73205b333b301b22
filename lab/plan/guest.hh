// The programs of a lab VM after its kernel has started, as text: the setup script that /init reads, the services that
// init keeps alive, the proof that traffic crosses the router. Pure. Forks are dear under emulation, hence the batches.
#pragma once

#include <string>
#include <vector>

#include "lab/plan/plan.hh"

namespace longhaul::lab {

/// One VM's part of the plan.
struct GuestView {
  const LabPlan* plan = nullptr;
  std::string machine;
  unsigned mtu = 1500;
  std::vector<std::string> programs;  ///< those in the image
  bool sealed = false;                ///< its driver is inside, its keys are made inside, nobody logs in
};

/// All files written for that VM: /etc/longhaul/setup, ready, services, node environments, /etc/inittab.
std::vector<OverlayFile> guest_files(const GuestView& view);

/// The script of `longhaul lab exec`: a command in the node's view, told where it stands.
std::string node_script(const GuestView& view, const PlannedNode& node);

/// The MAC of a VM's control interface in full, where interfaces are told apart by it.
inline constexpr const char* kControlMac = "02:6c:68:00:00:01";

/// Where a guest sees those of the host that reach it through its control interface (QEMU's user network).
inline constexpr const char* kHostAddress = "10.0.2.2";

/// In the compact lab the router is this network namespace of the one VM.
inline constexpr const char* kRouterNamespace = "R";

/// Lines on a guest's console for the host to read.
inline constexpr const char* kReadyLine = "longhaul: ready";
/// Followed by the two interfaces of the router and the packets that each received and sent.
inline constexpr const char* kCrossedWord = "longhaul: crossed ";

}  // namespace longhaul::lab
