// Constants that a sealed machine and the program inside share.
#pragma once

#include <cstdint>

namespace longhaul::lab {

inline constexpr std::uint16_t kSayPort = 0xe9;    ///< isa-debugcon: a byte is said
inline constexpr std::uint16_t kEndPort = 0xf4;    ///< isa-debug-exit: the copy ends
inline constexpr std::uint16_t kKeepPort = 0x505;  ///< pvpanic: the machine stops, to be kept or copied
inline constexpr const char* kOrderName = "opt/org.longhaul/order";  ///< in fw_cfg's directory

inline constexpr const char* kSayName = "say";  ///< QEMU's character devices
inline constexpr const char* kConsoleName = "console";

}  // namespace longhaul::lab
