// The steps of a registration, from probes in the running kernel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.hh"

namespace longhaul::workloads::registration_cost {

/// Times of all calls, by function.
using Calls = std::map<std::string, std::vector<Nanoseconds>>;

/// Reads what the lab's tracing helper leaves (kTracingPipe, common/well_known.hh). Lines that are none of its are left
/// out, and so are calls that were entered or left outside the trace, and calls within a call of the same function.
/// Pure.
Calls read_calls(std::string_view text);

/// Of one registration: what paper R calls pinning, translating and handing over.
struct Steps {
  Nanoseconds pinning{};
  Nanoseconds translating{};
  Nanoseconds handing_over{};
  Nanoseconds rest{};
};

/// The functions to trace, of all providers.
const std::vector<std::string>& traced_functions();

/// From the medians of what the calls took: the first ones are slower, an emulator has yet to translate the tracer.
/// `registering`: what each traced registration took as the caller saw it. Empty where the trace has no
/// registration. Pure.
std::optional<Steps> steps_of(const Calls& calls, std::vector<Nanoseconds> registering);

/// Asks the lab's tracing helper, which alone may trace a kernel. Begun by the constructor, over by end().
class Trace {
 public:
  /// True if there is a helper here.
  static bool possible();
  /// Throws std::system_error when the helper does not answer.
  explicit Trace(const std::vector<std::string>& functions);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  /// The trace's text.
  std::string end();

 private:
  std::string name_;
  bool on_ = true;
};

}  // namespace longhaul::workloads::registration_cost
