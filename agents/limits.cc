#include "agents/limits.hh"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "common/log.hh"

namespace longhaul::agents {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLastWords = 5;  ///< s between SIGXCPU and SIGKILL

std::uint64_t whole_seconds(Nanoseconds time) {
  return static_cast<std::uint64_t>((time.count() + kSecond - 1) / kSecond);
}

bool says(std::string_view failure, std::string_view words) {
  return failure.find(words) != std::string_view::npos;
}

std::string size(std::int64_t bytes) {
  return format_quantity(Kind::size, bytes);
}

}  // namespace

ProcessLimits default_limits(std::int64_t ram, int processors) {
  constexpr std::int64_t kLeast = std::int64_t{64} << 20;
  constexpr std::int64_t kWhole = std::int64_t{1} << 20;
  constexpr std::chrono::hours kTime{1};
  const auto left = ram - std::max(kLeast, ram / 16);
  const auto share = std::max(kLeast, left / kWhole * kWhole);
  return {.memory = share, .locked = share, .cpu = kTime * std::max(1, processors), .time = kTime};
}

Result<std::optional<std::int64_t>> parse_limit(Kind kind, std::string_view text) {
  if (text == "none") return std::optional<std::int64_t>{};
  const auto value = parse_quantity(kind, text);
  if (!value) return refuse("{}, or none", value.error().message);
  if (*value < 0) return refuse("expected a limit above 0, or none, got '{}'", text);
  if (*value == 0) return std::optional<std::int64_t>{};
  return std::optional<std::int64_t>{*value};
}

std::vector<ChildLimit> child_limits(const ProcessLimits& limits) {
  std::vector<ChildLimit> all;
  const auto add = [&](int resource, std::uint64_t soft, std::uint64_t more = 0) {
    all.push_back({.resource = resource, .soft = soft, .hard = soft + more});
  };
  if (limits.memory) add(RLIMIT_DATA, static_cast<std::uint64_t>(*limits.memory));
  if (limits.locked) add(RLIMIT_MEMLOCK, static_cast<std::uint64_t>(*limits.locked));
  if (limits.cpu) add(RLIMIT_CPU, whole_seconds(*limits.cpu), kLastWords);
  add(RLIMIT_NOFILE, static_cast<std::uint64_t>(limits.files));
  add(RLIMIT_NPROC, static_cast<std::uint64_t>(limits.processes));
  add(RLIMIT_CORE, 0);
  return all;
}

std::string overdue(const ProcessLimits& limits) {
  return fmt::format("took longer than the agent's limit of {} (--limit-time)",
                     format_quantity(Kind::duration, limits.time.value_or(Nanoseconds{}).count()));
}

std::string limit_met(const ProcessLimits& limits, std::string_view failure, std::optional<int> signal) {
  if (signal == SIGXCPU && limits.cpu)
    return fmt::format("it used more than the agent's limit of {} s of processor time (--limit-cpu)",
                       whole_seconds(*limits.cpu));
  if (says(failure, errno_text(ENOMEM)) || says(failure, "std::bad_alloc")) {
    std::string text;
    if (limits.memory) text = fmt::format("{} of memory (--limit-memory)", size(*limits.memory));
    if (limits.locked)
      text += fmt::format("{}{} of locked memory (--limit-locked; of a service also LimitMEMLOCK=)",
                          text.empty() ? "" : " and to ", size(*limits.locked));
    if (!text.empty()) return "the agent limits a workload to " + text;
  }
  return {};
}

}  // namespace longhaul::agents
