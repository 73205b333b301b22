// Which registrations may be kept. Pure: docs/registration-cache.md says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace longhaul::registration {

/// What is done with a registration, and why it is passed by where it is.
enum class Admission : std::uint8_t {
  keep,
  range,      ///< no bytes, or all of memory (implicit on-demand paging)
  address,    ///< the adapter is to know it by another address (iova)
  flags,      ///< on-demand, zero-based, huge pages, for memory windows, or unknown to us
  remote,     ///< peers may reach it, and that is not to outlive the program's deregistration
  shared,     ///< not private anonymous memory: pages can be taken out of it without our hearing of it
  unwatched,  ///< the kernel does not let us watch it, or too many ranges are watched
  busy,       ///< other regions are in its way, mappings went meanwhile, or there is no room
  fork        ///< fork protection of libibverbs is on: what is registered is kept from children
};
inline constexpr std::size_t kAdmissions = 9;
std::string_view word(Admission admission);

/// By what a request says. `access`: IBV_ACCESS_...; `iova`: the address for the adapter.
Admission admit(std::uint64_t address, std::uint64_t length, std::uint64_t iova, unsigned access, bool remote);

/// Whether pages that are registered are copied for the child when a process forks, so that they stay the parent's
/// (Linux 5.12: "mm: Fix fork vs pinned pages"). `release`: as uname(2) says, "6.1.0-18-amd64".
bool copies_registered_pages(std::string_view release);

/// Reads /proc/self/maps, line by line: is all of [first, end) private anonymous memory?
class PrivateMemory {
 public:
  PrivateMemory(std::uint64_t first, std::uint64_t end) : at_(first), end_(end) {}
  /// False: the answer is there.
  bool line(std::string_view line);
  bool yes() const { return !refused_ && at_ >= end_; }

 private:
  std::uint64_t at_;
  std::uint64_t end_;
  bool refused_ = false;
};

/// The same of this process.
bool is_private_memory(std::uint64_t first, std::uint64_t end);

}  // namespace longhaul::registration
