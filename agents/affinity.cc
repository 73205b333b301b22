#include "agents/affinity.hh"

#include <fmt/ranges.h>

#include <charconv>
#include <set>

#include "common/error.hh"
#include "common/log.hh"

namespace longhaul::agents {

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::set<int> cpus;
  const auto bad = [&] { return refuse("expected a list of processors such as 0,2-3, got '{}'", text); };
  auto rest = text;
  for (;;) {
    const auto item = rest.substr(0, rest.find(','));
    const char* const end = item.data() + item.size();
    int first = 0;
    const auto [after, error] = std::from_chars(item.data(), end, first);
    int last = first;
    bool whole = error == std::errc{} && after == end;
    if (error == std::errc{} && after != end && *after == '-') {
      const auto [stop, again] = std::from_chars(after + 1, end, last);
      whole = again == std::errc{} && stop == end;
    }
    if (!whole || first < 0 || last < first || last >= CPU_SETSIZE) return bad();
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
    if (item.size() == rest.size()) break;
    rest.remove_prefix(item.size() + 1);
  }
  return std::vector<int>(cpus.begin(), cpus.end());
}

ScopedAffinity::ScopedAffinity(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  check(::sched_getaffinity(0, sizeof before_, &before_), "reading this thread's processors");
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &wanted);
  check(::sched_setaffinity(0, sizeof wanted, &wanted),
        fmt::format("confining a workload to processors {}", fmt::join(cpus, ",")));
  changed_ = true;
}

ScopedAffinity::~ScopedAffinity() {
  if (changed_ && ::sched_setaffinity(0, sizeof before_, &before_) != 0)
    log::warn("giving this thread its processors back: {}", errno_text(errno));
}

}  // namespace longhaul::agents
