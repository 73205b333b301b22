// Ranges of memory in pages: what is asked for and what is registered.
#pragma once

#include <cstdint>
#include <limits>

#include "common/result.hh"

namespace longhaul::registration {

inline constexpr std::uint64_t kPageSize = 4096;

/// Pages [first, first + count); count > 0.
struct Pages {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t end() const { return first + count; }
  bool operator==(const Pages&) const = default;
};

/// The pages that the bytes [address, address + length) touch. Refuses no bytes and a range that wraps around.
inline Result<Pages> pages_of(std::uint64_t address, std::uint64_t length) {
  if (length == 0) return refuse("a range of no bytes at {:#x}", address);
  if (length - 1 > std::numeric_limits<std::uint64_t>::max() - address)
    return refuse("{} bytes at {:#x} wrap around the end of memory", length, address);
  const auto first = address / kPageSize;
  return Pages{first, (address + (length - 1)) / kPageSize - first + 1};
}

}  // namespace longhaul::registration
