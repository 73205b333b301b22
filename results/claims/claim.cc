#include "results/claims/claim.hh"

namespace longhaul::results {

const char* to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::not_decidable:
      break;
  }
  return "not decidable here";
}

bool is(const Parameters& parameters, const char* name, const char* word) {
  const auto it = parameters.find(name);
  return it != parameters.end() && it->second == Value{std::string{word}};
}

}  // namespace longhaul::results
