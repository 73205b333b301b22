// The processors that a node's workloads run on.
#pragma once

#include <sched.h>

#include <string_view>
#include <vector>

#include "common/result.hh"

namespace longhaul::agents {

/// Reads a list of processors as taskset(1) takes it: "0,2-3". The result is sorted and names each once.
Result<std::vector<int>> parse_cpu_list(std::string_view text);

/// Confines the calling thread, and so the children that it makes, to `cpus` while it exists (empty: changes nothing).
/// Throws std::system_error when none of them is there.
class ScopedAffinity {
 public:
  explicit ScopedAffinity(const std::vector<int>& cpus);
  ~ScopedAffinity();
  ScopedAffinity(const ScopedAffinity&) = delete;
  ScopedAffinity& operator=(const ScopedAffinity&) = delete;

 private:
  bool changed_ = false;
  cpu_set_t before_{};
};

}  // namespace longhaul::agents
