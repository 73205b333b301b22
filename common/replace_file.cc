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

}  // namespace

Result<void> replace_file(const std::filesystem::path& path, std::string_view text, std::optional<mode_t> mode) {
  // A name of this thread alone; what a killed one of the same number left is begun anew.
  auto beside = path;
  beside += fmt::format(".{}.new", ::gettid());
  OwnFd file{::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode.value_or(0644))};
  if (!file) return refuse_write(path, errno);
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
