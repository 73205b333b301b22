// What the environment says of the preloaded cache. Pure.
#pragma once

#include <functional>
#include <string>

#include "registration/cache/executor.hh"

namespace longhaul::registration {

struct Settings {
  /// How far the keys of what is kept reach: what was asked for (a hit is the same range again), or whole pages (a hit
  /// is any part of a kept region, and a program's overrun within a page goes unnoticed by the adapter).
  enum class Reach { asked, pages };

  bool on = true;
  bool remote = false;  ///< regions that peers may reach are kept, too: their keys outlive the program's deregistration
  bool shared = false;  ///< memory that others may punch holes into (MAP_SHARED of a memory file) is kept, too
  Reach reach = Reach::asked;
  Executor::Unmapping unmapping = Executor::Unmapping::by_any_thread;
  std::uint64_t bytes = 0;
  std::uint64_t regions = 4096;
  std::string policy = "lru";  ///< a hit tells it of its use: the cheaper, the better
  std::string statistics;      ///< empty: none; "1": standard error; else a file, %p in it is the process's number
  std::string socket;          ///< the same for a socket; empty: none
};

/// A variable's value, nullptr where it is not set.
using Environment = std::function<const char*(const char*)>;

/// Refuses a value that is none, with what is possible. `locked_memory`: the limit in bytes (RLIMIT_MEMLOCK), of which
/// half is the capacity where none is asked for, 256 MiB at the most.
Result<Settings> parse_settings(const Environment& environment, std::uint64_t locked_memory);

/// The same from "bytes=1GiB,remote=1": the variables' names behind LONGHAUL_CACHE_, in lower case.
Result<Settings> parse_settings(std::string_view text, std::uint64_t locked_memory);

/// The policy by its name, with the costs of ordinary registration. Refuses those that no adapter can do.
Result<CacheSetup> cache_setup(const Settings& settings);

/// With %p replaced.
std::string with_process(std::string path, int process);

}  // namespace longhaul::registration
