// The sealed lab's ways in and out, seen from inside: ports of devices that answer within the instruction, so that
// nothing of the host's time comes in. Root only; x86.
#pragma once

#include <string>
#include <string_view>

namespace longhaul::orchestrator {

/// Asks the kernel for the ports. Throws std::system_error.
void open_ports();

/// To whoever started the machine.
void say(std::string_view text);

/// The machine stops at this instruction, to be kept or copied. Returns in whatever goes on from there.
void stop_here();

/// The order of this copy: a file of QEMU's fw_cfg, whose content is not part of what was kept. Throws
/// std::runtime_error where there is none.
std::string read_order();

/// The copy ends at this instruction.
[[noreturn]] void end_copy();

/// Makes all that the kernel draws at random from now on follow from `seed`. Throws std::system_error.
void seed_kernel(std::uint64_t seed);

}  // namespace longhaul::orchestrator
