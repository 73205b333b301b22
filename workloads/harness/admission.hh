// Whom a server lets in: whoever has its token; without one its own machine only, unless it is to be open. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/token.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

struct Admission {
  std::optional<Token> token = {};
  bool open = false;  ///< anyone who reaches it: no token is asked for
};

/// By what was said on the command line. An empty word is none.
Admission admission_of(const std::string& word, bool open);

/// The address to listen at. `wanted`: that was named; none: every address where the admission allows it, else the
/// loopback one. Refuses one that others reach where everybody would be let in unasked.
Attempt<SocketAddress> listening_at(const std::optional<SocketAddress>& wanted, std::uint16_t port,
                                    const Admission& admission);

/// In words, for the terminal: " for whoever has the token".
std::string describe(const Admission& admission);

}  // namespace longhaul::workloads
