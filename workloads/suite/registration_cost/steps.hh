// The steps of a registration, from probes in the running kernel.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longhaul::workloads::registration_cost {

/// What each call of a function took, ns; by function.
using Calls = std::map<std::string, std::vector<std::int64_t>>;

/// Reads what the lab's tracing helper leaves (kTracingPipe, common/well_known.hh). Lines that are none of its are left
/// out, and so are calls that were entered or left outside the trace, and calls within a call of the same function.
/// Pure.
Calls read_calls(std::string_view text);

/// Of one registration, ns: what paper R calls pinning, translating and handing over.
struct Steps {
  std::int64_t pinning = 0;
  std::int64_t translating = 0;
  std::int64_t handing_over = 0;
  std::int64_t rest = 0;
};

/// What to trace, whatever the provider.
const std::vector<std::string>& traced_functions();

/// From the medians of what the calls took: the first ones are slower, an emulator has yet to translate the tracer.
/// `registering`: what each traced registration took as the caller saw it, ns. Empty where the trace has no
/// registration. Pure.
std::optional<Steps> steps_of(const Calls& calls, std::vector<std::int64_t> registering);

/// Asks the lab's tracing helper, which alone may trace a kernel. Begun by the constructor, over by end().
class Trace {
 public:
  /// Whether there is a helper here.
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
