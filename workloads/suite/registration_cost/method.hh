// Ways to register memory, each timed in its two halves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/units.hh"
#include "workloads/suite/registration_cost/mapping.hh"
#include "workloads/transport/verbs/device.hh"
#include "workloads/transport/verbs/owners.hh"

namespace longhaul::workloads::registration_cost {

struct Times {
  Nanoseconds mapping{};  ///< only where the memory is mapped anew
  Nanoseconds registering{};
  Nanoseconds deregistering{};
};

class Method {
 public:
  virtual ~Method() = default;
  /// Registers and deregisters once. Throws std::system_error when it cannot.
  virtual Times once() = 0;
};

/// An opened device with a protection domain. Throws Unsupported where there is no such device.
struct Adapter {
  explicit Adapter(const std::string& name);
  RdmaDevice device;
  Owned<ibv_context, ::ibv_close_device> context;
  ProtectionDomain domain;
};

/// ibv_reg_mr and ibv_dereg_mr.
std::unique_ptr<Method> make_reg_mr(const Adapter& adapter, Mapping& mapping);
/// Binds a type 2 memory window and invalidates it. Throws Unsupported where the provider has none.
std::unique_ptr<Method> make_window(const Adapter& adapter, Mapping& mapping);
/// By the lab's module. Throws Unsupported where it is not loaded or the device cannot.
std::unique_ptr<Method> make_kernel(const Adapter& adapter, std::size_t size, bool fast);

}  // namespace longhaul::workloads::registration_cost
