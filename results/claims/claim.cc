#include "results/claims/claim.hh"

#include <algorithm>
#include <array>

#include "model/units.hh"
#include "results/claims/frrwp.hh"
#include "results/claims/registration.hh"
#include "results/claims/rpc.hh"
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

Kind axis_kind(const Claim& claim) {
  constexpr std::array kSizes{"size", "capacity"};
  constexpr std::array kCounts{"threads", "server_threads", "ord", "clients", "tries"};
  const auto among = [&](const auto& names) { return std::find(names.begin(), names.end(), claim.x) != names.end(); };
  return among(kSizes) ? Kind::size : among(kCounts) ? Kind::count : Kind::duration;
}

std::string place(const Claim& claim, const Match& match) {
  return claim.x + " " + format_quantity(axis_kind(claim), match.x);
}

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> claims = [] {
    auto all = wan_claims();
    for (const auto& more : {caching_claims(), frrwp_claims(), registration_claims(), rpc_claims(), rpc_bound_claims()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return claims;
}

double value_of(const CellSummary& cell, const std::string& metric) {
  const auto* found = cell.metric(metric);
  return found == nullptr ? 0 : found->median;
}

bool is(const Parameters& parameters, const char* name, const char* word) {
  const auto it = parameters.find(name);
  return it != parameters.end() && it->second == Value{std::string{word}};
}

}  // namespace longhaul::results
