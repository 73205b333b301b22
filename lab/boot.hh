// From options to running VMs that have proved themselves.
#pragma once

#include <vector>

#include "lab/image.hh"
#include "lab/lab.hh"
#include "lab/machine.hh"
#include "lab/state.hh"

namespace longhaul::lab {

struct Booted {
  LabState known;
  std::vector<Machine> machines;
};

/// Starts a lab's machines; leaves nothing behind when it fails.
Result<Booted> boot(const UpOptions& options);

/// The initrd of a VM: its own files, those of `more` that are its own, the image. Returns the path, in `directory`.
std::string write_initrd(const std::string& directory, const PlannedMachine& machine, const LabPlan& plan,
                         const std::vector<OverlayFile>& more, const Image& image);

/// The state of a plan's links, from the guests' consoles. Pure.
struct Crossing {
  std::string client_side, server_side;
  /// Packets that the two interfaces received and sent.
  std::uint64_t client_received = 0, client_sent = 0, server_received = 0, server_sent = 0;
  bool both_ways() const { return client_received > 0 && client_sent > 0 && server_received > 0 && server_sent > 0; }
};
std::vector<Crossing> parse_crossings(const std::string& console);

/// Every link of the plan was crossed, or an error that names the one that was not. Pure.
Result<void> check_crossings(const LabPlan& plan, const std::vector<Crossing>& crossings);

}  // namespace longhaul::lab
