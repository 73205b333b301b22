#include "results/claims/claim.hh"

#include "model/units.hh"
#include "results/claims/registration.hh"
#include "results/claims/wan.hh"

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

bool same_but(const CellSummary& a, const CellSummary& b, std::initializer_list<const char*> axes) {
  auto first = a.parameters;
  auto second = b.parameters;
  for (const auto* axis : axes) {
    first.erase(axis);
    second.erase(axis);
  }
  return a.workload == b.workload && first == second;
}

std::string place(const Claim& claim, const Match& match) {
  const auto kind = claim.x == "size" || claim.x == "capacity" ? Kind::size : Kind::duration;
  return claim.x + " " + format_quantity(kind, match.x);
}

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> claims = [] {
    auto all = wan_claims();
    for (const auto& more : {caching_claims(), registration_claims()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return claims;
}

bool is(const Parameters& parameters, const char* name, const char* word) {
  const auto it = parameters.find(name);
  return it != parameters.end() && it->second == Value{std::string{word}};
}

}  // namespace longhaul::results
