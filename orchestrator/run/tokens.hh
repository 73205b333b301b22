// Where the secrets of runs and of probes come from (agents::StartRequest, EchoRequest).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/random.hh"

namespace longhaul::orchestrator {

/// 128 random bits of the kernel's, agents::kTokenDigits long. Throws std::system_error.
std::string random_token();

/// One after the other. In a sealed lab, into which nobody else can send, they follow from a seed: what runs there is
/// the same to the last bit each time.
class Tokens {
 public:
  explicit Tokens(std::optional<std::uint64_t> seed) {
    if (seed) seeded_.emplace(*seed ^ kOurs);
  }
  std::string next();

 private:
  static constexpr std::uint64_t kOurs = 0x746f6b656e73;  // other draws of the same seed are no tokens
  std::optional<Random> seeded_;
};

}  // namespace longhaul::orchestrator
