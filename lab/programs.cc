#include "lab/programs.hh"

#include <unistd.h>

#include <filesystem>

#include "common/log.hh"

namespace longhaul::lab {

std::string program_directory(const std::string& directory) {
  return directory.empty() ? std::filesystem::read_symlink("/proc/self/exe").parent_path().string() : directory;
}

Programs find_programs(const std::string& directory, Inside inside) {
  std::vector<std::string> wanted{"longhaul-agent", "longhaul-bench", "degen"};
  if (inside == Inside::sealed) wanted.emplace_back("longhaul-sealed");
  Programs programs;
  for (const auto& name : wanted) {
    const std::string file = program_directory(directory) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) {
      programs.names.push_back(name);
      programs.files.push_back(file);
    } else {
      log::warn("lab: no {}, so the nodes go without it", file);
    }
  }
  return programs;
}

}  // namespace longhaul::lab
