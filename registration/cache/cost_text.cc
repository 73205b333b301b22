#include <boost/json.hpp>

#include "common/json.hh"
#include "registration/cache/cost.hh"

namespace longhaul::registration {

Result<CostProfile> parse_cost_profile(std::string_view json) {
  boost::system::error_code error;
  const auto document = read_json(json, error);
  if (error) return refuse("not JSON: {}", error.message());
  const auto member = [&](const std::string& path) { return document.find_pointer("/" + path, error); };
  CostProfile profile;
  const auto* name = member("name");
  if (name == nullptr || !name->is_string() || name->as_string().empty()) return refuse("name: expected a word");
  profile.name = name->as_string();
  const std::pair<const char*, double*> numbers[] = {{"registering/per_page", &profile.registering.per_page},
                                                     {"registering/per_call", &profile.registering.per_call},
                                                     {"deregistering/per_page", &profile.deregistering.per_page},
                                                     {"deregistering/per_call", &profile.deregistering.per_call}};
  for (const auto& [path, value] : numbers) {
    const auto* found = member(path);
    boost::system::error_code none;
    if (found != nullptr && found->is_number()) *value = found->to_number<double>(none);
    if (found == nullptr || !found->is_number() || none || !(*value >= 0))
      return refuse("{}: expected microseconds, 0 or more", path);
  }
  return profile;
}

}  // namespace longhaul::registration
