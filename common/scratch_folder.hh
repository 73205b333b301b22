// A folder under the temporary one that goes with its owner.
#pragma once

#include <filesystem>
#include <string>

namespace longhaul {

class ScratchFolder {
 public:
  /// `name` and some letters of its own; for this user alone. Throws std::system_error.
  explicit ScratchFolder(const std::string& name);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace longhaul
