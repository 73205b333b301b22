#include "common/replace_file.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/fd.hh"
#include "common/log.hh"

namespace longhaul {
namespace {

tl::unexpected<Error> refuse_write(const std::filesystem::path& path, int error) {
  const auto* remedy = error == ENOSPC || error == EDQUOT ? "free some space and write it again"
                                                          : "check the permissions of its directory";
  return fail("{}: cannot be written: {}: {}", path.string(), errno_text(error), remedy);
}

// A file that was not there before. What a killed writer of the same number left goes; anything but a file was put
// there on purpose.
Result<OwnFd> make_beside(const std::filesystem::path& path, const std::filesystem::path& beside, mode_t mode) {
  for (bool again = false;; again = true) {
    OwnFd file{::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)};
    if (file) return file;
    if (errno != EEXIST || again) return refuse_write(path, errno);
    struct stat there {};
    if (::lstat(beside.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
      return refuse("{}: {} stands there, which is not followed: remove it, and find out who put it there",
                    beside.string(), S_ISLNK(there.st_mode) ? "a symbolic link" : "something that is no file");
    ::unlink(beside.c_str());
  }
}

}  // namespace

Result<void> replace_file(const std::filesystem::path& path, std::string_view text, std::optional<mode_t> mode) {
  // A name of this thread alone.
  auto beside = path;
  beside += fmt::format(".{}.new", ::gettid());
  auto made = make_beside(path, beside, mode.value_or(0644));
  if (!made) return tl::unexpected(made.error());
  const auto file = std::move(*made);
  const auto give_up = [&](int error) {
    ::unlink(beside.c_str());
    return refuse_write(path, error);
  };
  if (mode && ::fchmod(file.get(), *mode) != 0) return give_up(errno);
  while (!text.empty()) {
    const auto written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return give_up(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) return give_up(errno);
  if (std::rename(beside.c_str(), path.c_str()) != 0) return give_up(errno);
  return {};
}

}  // namespace longhaul
