#include "registration/simulate/document.hh"

#include <boost/json.hpp>

#include "common/version.hh"

namespace longhaul::registration {
namespace {

namespace json = boost::json;

constexpr int kSchema = 1;

json::object line(const Line& one) {
  return {{"per_page", one.per_page}, {"per_call", one.per_call}};
}

json::object document_row(const Row& one) {
  json::object row{{"policy", one.policy},
                   {"bound", one.bound},
                   {"capacity_bytes", one.capacity_bytes},
                   {"cost_profile", one.cost_profile},
                   {"hit_ratio", one.hit_ratio},
                   {"cost_us", one.cost_us},
                   {"cost_saved", one.cost_saved},
                   {"cost_saved_unbatched", one.cost_saved_unbatched},
                   {"registrations", one.registrations},
                   {"deregistrations", one.deregistrations},
                   {"batches", one.batches}};
  if (one.hit_ratio_error) row["hit_ratio_error"] = *one.hit_ratio_error;
  if (one.cost_saved_error) row["cost_saved_error"] = *one.cost_saved_error;
  return row;
}

}  // namespace

std::string document_of(const std::vector<SimulatedTrace>& traces, const std::vector<Strategy>& strategies,
                        const std::vector<CostProfile>& profiles) {
  json::array all;
  for (const auto& trace : traces) {
    json::array sizes;
    for (const auto requests : trace.lengths.by_power()) sizes.emplace_back(requests);
    json::object shares;
    for (const auto pages : kLengthSteps) shares[std::to_string(pages)] = trace.lengths.share_up_to(pages);
    json::array rows;
    for (const auto& one : trace.rows) rows.emplace_back(document_row(one));
    all.emplace_back(json::object{{"name", trace.name},
                                  {"requests", trace.requests},
                                  {"pages", trace.pages},
                                  {"skipped", trace.skipped},
                                  {"sizes", std::move(sizes)},
                                  {"request_pages", trace.lengths.median()},
                                  {"shares", std::move(shares)},
                                  {"bounded", trace.bounded},
                                  {"sample", trace.sample},
                                  {"rows", std::move(rows)}});
  }
  json::array policies;
  std::string before;
  for (const auto& one : strategies) {
    if (one.name != before) policies.emplace_back(json::object{{"name", one.name}, {"help", one.help}});
    before = one.name;
  }
  json::array costs;
  for (const auto& one : profiles)
    costs.emplace_back(json::object{
        {"name", one.name}, {"registering", line(one.registering)}, {"deregistering", line(one.deregistering)}});
  return json::serialize(json::object{{"schema", kSchema},
                                      {"version", version_text()},
                                      {"profiles", std::move(costs)},
                                      {"policies", std::move(policies)},
                                      {"traces", std::move(all)}});
}

}  // namespace longhaul::registration
