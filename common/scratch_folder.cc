#include "common/scratch_folder.hh"

#include <stdlib.h>

#include "common/error.hh"

namespace longhaul {

ScratchFolder::ScratchFolder(const std::string& name) {
  auto pattern = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) throw_errno("make the folder " + pattern);
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace longhaul
