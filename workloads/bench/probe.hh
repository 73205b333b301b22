// `longhaul-bench probe`: the probes of the achieved delay, by hand.
#pragma once

#include <cstdint>
#include <string>

#include "model/units.hh"
#include "workloads/harness/admission.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

struct ProbeOptions {
  std::string bind;
  std::uint32_t count = 100;
  Nanoseconds interval = std::chrono::milliseconds{10};
  bool json = false;
  Token token{};  ///< of the echo; all zero: none was given
};

/// Echoes until interrupted. Prints the address first.
Attempt<void> probe_listen(const std::string& bind, std::uint16_t port, const Admission& admission, int stop);
/// Sends probes and prints the round trips.
Attempt<void> probe_connect(const HostPort& peer, const ProbeOptions& options, int stop);

}  // namespace longhaul::workloads
