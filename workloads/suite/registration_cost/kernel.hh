// The lab's kernel module longhaul_reg: what registering costs inside the kernel, and what its parts cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.hh"
#include "common/longhaul_reg.h"

namespace longhaul::workloads::registration_cost {

class KernelModule {
 public:
  struct Halves {
    std::vector<std::uint64_t> first;  ///< ns, one an iteration
    std::vector<std::uint64_t> second;
  };

  /// Empty where it is not loaded.
  static std::optional<KernelModule> open();

  /// Throws std::system_error, Unsupported where the device cannot.
  Halves run(longhaul_reg_operation operation, std::size_t bytes, std::uint32_t iterations,
             const std::string& device = {}, const void* address = nullptr) const;

 private:
  explicit KernelModule(OwnFd fd) : fd_(std::move(fd)) {}
  OwnFd fd_;
};

}  // namespace longhaul::workloads::registration_cost
