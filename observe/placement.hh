// On which processors the kernel does the network's work.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace longhaul::observe {

/// The processors that a mask of /proc and /sys names ("3", "ff,00000001"), ascending. What is no mask names none.
std::vector<int> parse_cpu_mask(std::string_view text);

/// The processors to which packets that `netdev` receives are steered (receive packet steering: rps_cpus of
/// its queues); empty: wherever they happen to arrive - between interfaces of one machine on the sender's processor.
std::vector<int> receive_processors(const std::string& netdev);

/// One line of /proc/softirqs by processor: how often it ran there. Empty when there is no such line.
std::map<int, std::uint64_t> parse_softirqs(std::string_view text, std::string_view name);

}  // namespace longhaul::observe
