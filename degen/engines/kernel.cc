#include "degen/engines/kernel.hh"

#include <cstdio>
#include <string>
#include <utility>

namespace longhaul::degen {

bool at_least(std::string_view release, int major, int minor) {
  int found_major = 0;
  int found_minor = 0;
  if (std::sscanf(std::string{release}.c_str(), "%d.%d", &found_major, &found_minor) != 2) return true;
  return std::pair{found_major, found_minor} >= std::pair{major, minor};
}

}  // namespace longhaul::degen
