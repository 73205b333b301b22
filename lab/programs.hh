// Our programs that go into the guests.
#pragma once

#include <string>
#include <vector>

namespace longhaul::lab {

/// A sealed lab has its driver inside, too.
enum class Inside { open, sealed };

struct Programs {
  std::vector<std::string> names, files;
};

/// Those that are in `directory`; empty: the folder of the running executable. One that is missing is left out with a
/// warning.
Programs find_programs(const std::string& directory, Inside inside);

/// The folder that find_programs looks into.
std::string program_directory(const std::string& directory);

}  // namespace longhaul::lab
