#include "registration/simulate/document.hh"

#include <boost/json.hpp>

#include "common/json.hh"
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

// Throws where a member is missing or another kind of thing.
Row read_row(const json::object& one, std::uint64_t requests) {
  const auto number = [&](const char* name) { return one.at(name).to_number<double>(); };
  const auto count = [&](const char* name) { return one.at(name).to_number<std::uint64_t>(); };
  Row row{.policy = json::value_to<std::string>(one.at("policy")),
          .bound = one.at("bound").as_bool(),
          .capacity_bytes = count("capacity_bytes"),
          .cost_profile = json::value_to<std::string>(one.at("cost_profile")),
          .requests = requests,
          .hit_ratio = number("hit_ratio"),
          .cost_us = number("cost_us"),
          .cost_saved = number("cost_saved"),
          .cost_saved_unbatched = number("cost_saved_unbatched"),
          .registrations = count("registrations"),
          .deregistrations = count("deregistrations"),
          .batches = count("batches")};
  if (one.contains("hit_ratio_error")) row.hit_ratio_error = number("hit_ratio_error");
  if (one.contains("cost_saved_error")) row.cost_saved_error = number("cost_saved_error");
  return row;
}

SimulatedTrace read_trace(const json::object& one) {
  SimulatedTrace trace{.name = json::value_to<std::string>(one.at("name")),
                       .requests = one.at("requests").to_number<std::uint64_t>(),
                       .pages = one.at("pages").to_number<std::uint64_t>(),
                       .skipped = one.at("skipped").to_number<std::uint64_t>(),
                       .lengths = {},
                       .sample = one.at("sample").to_number<double>(),
                       .bounded = one.at("bounded").as_bool(),
                       .rows = {}};
  trace.lengths.median = one.at("request_pages").to_number<std::uint64_t>();
  for (const auto& requests : one.at("sizes").as_array())
    trace.lengths.by_power.push_back(requests.to_number<std::uint64_t>());
  for (std::size_t i = 0; i < std::size(kLengthSteps); ++i)
    trace.lengths.shares_up_to[i] =
        one.at("shares").as_object().at(std::to_string(kLengthSteps[i])).to_number<double>();
  for (const auto& row : one.at("rows").as_array()) trace.rows.push_back(read_row(row.as_object(), trace.requests));
  return trace;
}

}  // namespace

std::string document_of(const std::vector<SimulatedTrace>& traces, const std::vector<Strategy>& strategies,
                        const std::vector<CostProfile>& profiles) {
  json::array all;
  for (const auto& trace : traces) {
    json::array sizes;
    for (const auto requests : trace.lengths.by_power) sizes.emplace_back(requests);
    json::object shares;
    for (std::size_t i = 0; i < std::size(kLengthSteps); ++i)
      shares[std::to_string(kLengthSteps[i])] = trace.lengths.shares_up_to[i];
    json::array rows;
    for (const auto& one : trace.rows) rows.emplace_back(document_row(one));
    all.emplace_back(json::object{{"name", trace.name},
                                  {"requests", trace.requests},
                                  {"pages", trace.pages},
                                  {"skipped", trace.skipped},
                                  {"sizes", std::move(sizes)},
                                  {"request_pages", trace.lengths.median},
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

Result<std::vector<SimulatedTrace>> traces_of(std::string_view document) {
  boost::system::error_code error;
  const auto read = read_json(document, error);
  if (error) return refuse("not JSON: {}", error.message());
  try {
    const auto& whole = read.as_object();
    if (const auto version = json::value_to<std::string>(whole.at("version")); version != version_text())
      return refuse("it was made by longhaul {}, this is {}", version, version_text());
    std::vector<SimulatedTrace> traces;
    for (const auto& one : whole.at("traces").as_array()) traces.push_back(read_trace(one.as_object()));
    return traces;
  } catch (const std::exception& wrong) {
    return refuse("not what `longhaul simulate` writes: {}", wrong.what());
  }
}

}  // namespace longhaul::registration
