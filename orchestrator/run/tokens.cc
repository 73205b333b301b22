#include "orchestrator/run/tokens.hh"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>

#include "common/error.hh"

namespace longhaul::orchestrator {
namespace {

std::string text_of(std::uint64_t high, std::uint64_t low) {
  return fmt::format("{:016x}{:016x}", high, low);
}

}  // namespace

std::string random_token() {
  std::array<std::uint64_t, 2> bits{};
  check(::getrandom(bits.data(), sizeof bits, 0), "draw a run's token");
  return text_of(bits[0], bits[1]);
}

std::string Tokens::next() {
  if (!seeded_) return random_token();
  const auto high = seeded_->next();
  return text_of(high, seeded_->next());
}

}  // namespace longhaul::orchestrator
