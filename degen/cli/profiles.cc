#include "degen/impairment/profiles.hh"

#include <boost/json.hpp>
#include <cstdio>

#include "degen/cli/commands.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

std::string spelt(const Profile& profile) {
  return describe(make_impairment(profile.parameters).value());
}

}  // namespace

Result<ExitCode> list_profiles(bool json) {
  if (json) {
    boost::json::array all;
    for (const auto& one : profiles()) {
      boost::json::object parameters;
      for (const auto& [name, value] : one.parameters) parameters[name] = std::get<std::int64_t>(value);
      all.push_back(boost::json::object{
          {"name", one.name}, {"summary", one.summary}, {"source", one.source}, {"parameters", parameters}});
    }
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"profiles", all}}));
    return ExitCode::ok;
  }
  for (const auto& one : profiles())
    fmt::print("{}: {}\n  {}\n  source: {}\n", one.name, one.summary, spelt(one), one.source);
  return ExitCode::ok;
}

}  // namespace longhaul::degen
