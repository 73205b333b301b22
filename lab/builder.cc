#include "lab/builder.hh"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "common/child.hh"

namespace longhaul::lab {
namespace {

/// Beside the installed program, or in the checkout that it was built from.
std::string path_of(const std::string& name) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto installed = self.parent_path().parent_path() / "share/longhaul/lab" / name;
  if (std::filesystem::exists(installed, ignored)) return installed;
  return std::string{LONGHAUL_LAB_BUILDERS "/"} + name;
}

}  // namespace

Result<std::map<std::string, std::string>> run_builder(const std::string& name,
                                                       const std::vector<std::string>& arguments,
                                                       const std::string& what) {
  std::vector<std::string> command{path_of(name)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const CommandOutput output = run_command(command);
  if (!output.exit.ok()) return fail("{} is not to be had ({}): see the lines above", what, output.exit.text());
  std::map<std::string, std::string> made;
  std::istringstream lines(output.out);
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find('='); at != std::string::npos) made[line.substr(0, at)] = line.substr(at + 1);
  return made;
}

std::string cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/longhaul/lab";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.cache/longhaul/lab";
}

}  // namespace longhaul::lab
