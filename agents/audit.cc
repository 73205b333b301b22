#include "agents/audit.hh"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "common/log.hh"
#include "model/codec.hh"
#include "observe/clock.hh"

namespace longhaul::agents {
namespace {

// Non-blocking: a pipe that nobody reads must not hold up the agent.
OwnFd open_file(const std::string& file) {
  return OwnFd{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640)};
}

}  // namespace

std::string to_line(const AuditEvent& event) {
  auto line = codec::serialize(event);
  // JSON has escaped the control characters; what is left stands inside a string.
  for (char& c : line)
    if (c < ' ' || c > '~') c = '?';
  return line;
}

std::string audit_time(std::int64_t wall_time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto seconds = static_cast<time_t>(wall_time / kSecond);
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, wall_time % kSecond / 1'000'000);
}

Result<AuditLog> AuditLog::open(std::string file, std::string node) {
  AuditLog log;
  log.fd_ = open_file(file);
  if (!log.fd_) return refuse("--audit {}: {}", file, errno_text(errno));
  log.file_ = std::move(file);
  log.node_ = std::move(node);
  log.write({.event = AuditKind::opened});
  return log;
}

void AuditLog::write(AuditEvent event) {
  if (!fd_) return;
  if (lost_ > 0) {
    const auto count = lost_;
    if (put({.event = AuditKind::lost, .count = count})) {
      log::warn("audit: {} takes lines again; {} were lost", file_, count);
      lost_ = 0;
    }
  }
  // None overtakes those that were lost.
  if (lost_ > 0 || !put(std::move(event))) ++lost_;
}

bool AuditLog::put(AuditEvent event) {
  event.time = audit_time(observe::wall_time());
  event.node = node_;
  auto line = to_line(event) + '\n';
  if (torn_) line.insert(line.begin(), '\n');
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) {
    torn_ = false;
    return true;
  }
  if (lost_ == 0)
    log::warn("audit: {} takes no line: {}", file_, written < 0 ? errno_text(errno) : "no space for all of it");
  torn_ = torn_ || written > 0;
  return false;
}

void AuditLog::reopen() {
  if (!fd_) return;
  auto fresh = open_file(file_);
  if (!fresh) {
    log::error("audit: opening {} again: {}; the old file is used on", file_, errno_text(errno));
    return;
  }
  fd_ = std::move(fresh);
  torn_ = false;
  write({.event = AuditKind::opened});
}

}  // namespace longhaul::agents
