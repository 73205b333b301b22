// Ready WANs by name: the values of impairment axes that stand for a kind of path, each with where its figures come
// from. Pure. A profile is a short word for its values: cells and records have these.
#pragma once

#include <string>
#include <vector>

#include "common/result.hh"
#include "model/parameter.hh"

namespace longhaul::degen {

/// The axis (and option) that names one, and its value for none.
inline constexpr const char* kProfileAxis = "profile";
inline constexpr const char* kNoProfile = "none";

struct Profile {
  std::string name;
  std::string summary;
  std::string source;     ///< of every figure
  Parameters parameters;  ///< of impairment_axes(); forward is from the client, which is the user's end of an access
};

const std::vector<Profile>& profiles();

/// nullptr where there is none of this name.
const Profile* find_profile(std::string_view name);

/// `parameters`, with those of the profile that their axis `profile` names; none named: as they are. Refuses an axis
/// that the profile sets to another value: a WAN of that name would be another one.
Result<Parameters> with_profile(Parameters parameters);

}  // namespace longhaul::degen
