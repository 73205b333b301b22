#include "degen/service/ownership.hh"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/error.hh"
#include "common/log.hh"
#include "common/replace_file.hh"
#include "degen/engines/planner.hh"
#include "degen/service/claim.hh"
#include "model/codec.hh"

namespace longhaul::degen {

Ownership ownership_of(const ImpairmentPlan& plan, const std::string& holder) {
  auto footprint = planner(plan.engine).footprint(plan);
  return {.pid = ::getpid(),
          .engine = plan.engine,
          .holder = holder,
          .interfaces = std::move(footprint.interfaces),
          .table = footprint.table};
}

void Ownership::add(const std::string& interface) {
  if (std::find(interfaces.begin(), interfaces.end(), interface) == interfaces.end()) interfaces.push_back(interface);
}

std::string to_json(const Ownership& ownership) {
  return codec::serialize(ownership);
}
Result<Ownership> ownership_from_json(std::string_view text) {
  return codec::parse<Ownership>(text);
}

Result<RunDirectory> RunDirectory::open(const std::string& path, std::chrono::milliseconds patience) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (ec) throw std::system_error(ec, fmt::format("make the run directory {}", path));
  const auto name = path + "/lock";
  OwnFd lock{check(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), fmt::format("open {}", name))};
  if (!soon(patience, [&] { return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0; })) {
    if (errno != EWOULDBLOCK) throw_errno(fmt::format("lock {}", name));
    char pid[32] = {};
    if (::pread(lock.get(), pid, sizeof pid - 1, 0) <= 0) pid[0] = '?';
    return refuse(
        "{}: another degen service (pid {}) has this run directory; use it, or give this one its own --run-dir", path,
        std::string_view{pid}.substr(0, std::string_view{pid}.find('\n')));
  }
  const auto pid = fmt::format("{}\n", ::getpid());
  check(::ftruncate(lock.get(), 0), fmt::format("write {}", name));
  check(::pwrite(lock.get(), pid.data(), pid.size(), 0), fmt::format("write {}", name));
  return RunDirectory{path, std::move(lock)};
}

void RunDirectory::write(std::string_view name, std::string_view content) const {
  if (auto written = replace_file(file(name), content); !written) throw std::runtime_error(written.error().message);
}

std::string RunDirectory::read(std::string_view name) const {
  std::ostringstream text;
  if (std::ifstream in{file(name)}) text << in.rdbuf();
  return text.str();
}

void RunDirectory::remove(std::string_view name) const noexcept {
  if (::unlink(file(name).c_str()) != 0 && errno != ENOENT)
    log::error("cannot remove {}: {}", file(name), errno_text(errno));
}

}  // namespace longhaul::degen
