#include "results/store/sqlite/lock.hh"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/log.hh"

namespace longhaul::results {

Result<WriterLock> WriterLock::take(const std::filesystem::path& directory) {
  const auto path = directory / ".results.lock";
  OwnFd file{::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)};
  struct stat status {};
  if ((!file && errno == ELOOP) ||
      (file && (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1)))
    return refuse(
        "{}: is a link or no plain file, which is neither followed nor written to: remove it, and find out who put it "
        "there",
        path.string());
  if (!file)
    return refuse("{}: cannot be opened: {}: check the permissions of the directory", path.string(), errno_text(errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return fail("{}: cannot be locked: {}: use a directory on a local file system", path.string(), errno_text(errno));
    char holder[32] = {};
    const auto size = ::pread(file.get(), holder, sizeof holder - 1, 0);
    return fail("{}: another longhaul (process {}) writes to it: wait for it or end it, or choose another --out",
                directory.string(), size > 0 ? holder : "unknown");
  }
  // The number only helps whoever is refused: a failure to write it does no harm.
  const auto own = std::to_string(::getpid());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), own.data(), own.size(), 0) < 0)
    log::debug("cannot note the process id in {}: {}", path.string(), errno_text(errno));
  return WriterLock{std::move(file)};
}

}  // namespace longhaul::results
