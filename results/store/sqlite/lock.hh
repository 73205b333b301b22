// One writer a directory, also across processes; the kernel releases the lock of a writer that was killed.
#pragma once

#include <filesystem>

#include "common/fd.hh"
#include "common/result.hh"

namespace longhaul::results {

/// Holds DIR/.results.lock (flock(2)) as long as it lives. A file of its own: closing any descriptor of results.db
/// would drop SQLite's POSIX locks on it.
class WriterLock {
 public:
  /// Refused with the holder's process id when another writer has it, and by name where the lock is no plain file of
  /// its own (a symbolic link is not followed, what else has a second name is not written to).
  static Result<WriterLock> take(const std::filesystem::path& directory);

 private:
  explicit WriterLock(OwnFd file) : file_(std::move(file)) {}
  OwnFd file_;
};

}  // namespace longhaul::results
