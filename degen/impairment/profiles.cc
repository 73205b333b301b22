#include "degen/impairment/profiles.hh"

#include <algorithm>

#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kMegabit = 1'000'000;

constexpr const char* kPings2011 =
    "pings between cities, P. Reinheimer, Miles per Millisecond (WonderProxy, 2011), half of the round trip";

}  // namespace

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all{
      {.name = "metro",
       .summary = "two sites of a city, 100 km of fibre",
       .source = "4.9 us a km: light in glass of group index 1.468 (ITU-T G.652)",
       .parameters = {{"delay", 490 * kMicrosecond}}},
      {.name = "regional",
       .summary = "Milan and Zurich: 11.2 ms there and back",
       .source = kPings2011,
       .parameters = {{"delay", 5600 * kMicrosecond}}},
      {.name = "trans-atlantic",
       .summary = "New York and Paris: 78 ms there and back",
       .source = kPings2011,
       .parameters = {{"delay", 39 * kMillisecond}}},
      {.name = "trans-pacific",
       .summary = "Fremont (California) and Sydney: 185 ms there and back",
       .source = kPings2011,
       .parameters = {{"delay", 92'500 * kMicrosecond}}},
      {.name = "leo",
       .summary = "access by satellites in low orbit (Starlink): 50 ms there and back, 13.54 Mbit/s up, 87.25 down",
       .source =
           "median round trip to European anchors, 2022: Michel and others, A First Look at Starlink Performance (IMC "
           "2022); median rates, third quarter of 2021: Ookla",
       .parameters = {{"delay", 25 * kMillisecond},
                      {"rate", 1354 * kMegabit / 100},
                      {"rate_back", 8725 * kMegabit / 100}}},
      {.name = "geo",
       .summary = "access by a geostationary satellite: 600 ms there and back, 2.54 Mbit/s up, 19.3 down",
       .source =
           "least round trip: Michel and others (IMC 2022), section 1; median rates of HughesNet, third quarter of "
           "2021: Ookla",
       .parameters = {{"delay", 300 * kMillisecond},
                      {"rate", 254 * kMegabit / 100},
                      {"rate_back", 1930 * kMegabit / 100}}},
      {.name = "lte",
       .summary = "access by LTE: 54 ms there and back, 6 Mbit/s up, 13 down",
       .source =
           "mean latencies of four operators, first half of 2016: Twin Prime; median rates: Huang and others, A Close "
           "Examination of Performance and Power Characteristics of 4G LTE Networks (MobiSys 2012)",
       .parameters = {{"delay", 27 * kMillisecond}, {"rate", 6 * kMegabit}, {"rate_back", 13 * kMegabit}}},
  };
  return all;
}

const Profile* find_profile(std::string_view name) {
  const auto& all = profiles();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Profile& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<Parameters> with_profile(Parameters parameters) {
  const auto named = parameters.find(kProfileAxis);
  if (named == parameters.end()) return parameters;
  const auto* const profile = find_profile(std::get<std::string>(named->second));
  if (profile == nullptr) return parameters;
  for (const auto& [name, value] : profile->parameters) {
    const auto [it, added] = parameters.emplace(name, value);
    if (added || it->second == value) continue;
    const auto& axis = *find_parameter(impairment_axes(), name);
    return refuse("{}: {} beside profile {}, which has {}: leave out either", name, format_value(axis, it->second),
                  profile->name, format_value(axis, value));
  }
  return parameters;
}

}  // namespace longhaul::degen
