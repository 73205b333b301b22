// Credentials whose files are in memory alone: no disk ever has the key.
#pragma once

#include <string>

#include "agents/identity/credentials.hh"
#include "common/fd.hh"

namespace longhaul::agents {

/// Owns the files; credentials() are good as long as it is there, in this process alone.
class MemoryCredentials {
 public:
  /// Three texts in PEM format. Throws std::system_error.
  MemoryCredentials(const std::string& ca, const std::string& cert, const std::string& key);

  Credentials credentials() const;

 private:
  OwnFd ca_, cert_, key_;
};

}  // namespace longhaul::agents
