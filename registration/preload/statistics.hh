// What the cache has done, for people and for programs. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "registration/preload/admission.hh"

namespace longhaul::registration {

struct Statistics {
  std::uint64_t hits = 0;                              ///< registrations that found a region
  std::uint64_t misses = 0;                            ///< those that were registered, and kept
  std::uint64_t deregistered = 0;                      ///< by the program: what stays registered
  std::uint64_t evicted = 0;                           ///< regions that went to make room
  std::uint64_t invalidated = 0;                       ///< whose mapping went
  std::uint64_t flushed = 0;                           ///< with their protection domain or device
  std::uint64_t out_of_memory = 0;                     ///< registrations for which all that was not in use was given up
  std::uint64_t failed = 0;                            ///< deregistrations of ours that were refused
  std::array<std::uint64_t, kAdmissions> passed_by{};  ///< by why; [keep] is not used
  std::uint64_t regions = 0;                           ///< in the cache now
  std::uint64_t bytes = 0;                             ///< of their pages
};

/// `off`: why nothing is kept; empty: something is. A few lines; each begins with the library's name.
std::string to_text(const Statistics& statistics, const std::string& off);
/// One object, with a newline behind it.
std::string to_json(const Statistics& statistics, const std::string& off, int process);

}  // namespace longhaul::registration
