#include "registration/simulate/simulation.hh"

namespace longhaul::registration {

double cost(const Tally& tally, const CostProfile& profile, bool batched) {
  const auto& in = profile.registering;
  const auto& out = profile.deregistering;
  const auto calls = static_cast<double>(batched ? tally.batches : tally.deregistrations);
  return in.per_page * static_cast<double>(tally.registered_pages) +
         in.per_call * static_cast<double>(tally.registrations) +
         out.per_page * static_cast<double>(tally.deregistered_pages) + out.per_call * calls;
}

double cost_without_cache(const Tally& tally, const CostProfile& profile) {
  return (profile.registering.per_page + profile.deregistering.per_page) * static_cast<double>(tally.pages) +
         (profile.registering.per_call + profile.deregistering.per_call) * static_cast<double>(tally.requests);
}

void Simulation::feed(const std::vector<Pages>& requests) {
  for (const auto& asked : requests) {
    ++tally_.requests;
    tally_.pages += asked.count;
    if (!cache_) {
      ++tally_.registrations;
      ++tally_.deregistrations;
      ++tally_.batches;
      tally_.registered_pages += asked.count;
      tally_.deregistered_pages += asked.count;
      continue;
    }
    const auto& plan = cache_->request(asked);
    if (plan.hit()) {
      ++tally_.hits;
      cache_->release(plan.covered);
      continue;
    }
    leased_ = plan.covered;
    if (plan.coverage == Coverage::overlap) ++tally_.overlaps;
    if (!plan.evicted.empty()) ++tally_.batches;
    tally_.deregistrations += plan.evicted.size();
    for (const auto& one : plan.evicted) tally_.deregistered_pages += one.pages.count;
    for (const auto& gap : plan.gaps) {
      ++tally_.registrations;
      tally_.registered_pages += gap.count;
      if (plan.kept) {
        cache_->add(gap, leased_);
        continue;
      }
      ++tally_.deregistrations;
      ++tally_.batches;
      tally_.deregistered_pages += gap.count;
    }
    cache_->release(leased_);
  }
}

}  // namespace longhaul::registration
