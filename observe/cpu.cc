#include "observe/cpu.hh"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>

#include "common/error.hh"
#include "common/fd.hh"
#include "observe/clock.hh"
#include "observe/fields.hh"

namespace longhaul::observe {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::string read_all(const char* path) {
  const OwnFd fd{check(::open(path, O_RDONLY | O_CLOEXEC), fmt::format("opening {}", path))};
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const auto n = check(::read(fd.get(), buffer.data(), buffer.size()), fmt::format("reading {}", path));
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

std::int64_t nanoseconds(const timeval& t) {
  return t.tv_sec * kSecond + t.tv_usec * std::int64_t{1000};
}

}  // namespace

Result<std::map<int, CpuTimes>> parse_proc_stat(std::string_view text, std::int64_t ticks_per_second) {
  std::map<int, CpuTimes> cpus;
  while (!text.empty()) {
    auto line = take_line(text);
    if (!line.starts_with("cpu")) break;  // the processors come first; what follows is long (interrupts)
    const auto name = take_field(line).substr(3);
    if (name.empty()) continue;  // the sum
    int number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{})
      return refuse("/proc/stat: expected a processor's number, got '{}'", name);
    // user nice system idle iowait irq softirq steal; user includes the guests' time, which is listed again after it
    std::array<std::int64_t, 8> field{};
    for (auto& value : field) {
      const auto word = take_field(line);
      std::int64_t ticks = 0;
      if (std::from_chars(word.data(), word.data() + word.size(), ticks).ec != std::errc{})
        return refuse("/proc/stat: cpu{}: expected a number of ticks, got '{}'", number, word);
      value = ticks * (kSecond / ticks_per_second);
    }
    cpus[number] = {.user = field[0],
                    .nice = field[1],
                    .system = field[2],
                    .irq = field[5],
                    .softirq = field[6],
                    .steal = field[7],
                    .idle = field[3] + field[4]};
  }
  if (cpus.empty()) return refuse("/proc/stat: no processor in it");
  return cpus;
}

CpuSample sample_cpu() {
  CpuSample sample;
  auto cpus = parse_proc_stat(read_all("/proc/stat"), ::sysconf(_SC_CLK_TCK));
  if (!cpus) throw_errno(cpus.error().message, EPROTO);
  sample.cpus = std::move(*cpus);
  rusage usage{};
  check(::getrusage(RUSAGE_SELF, &usage), "reading this process's CPU time");
  sample.process_user = nanoseconds(usage.ru_utime);
  sample.process_system = nanoseconds(usage.ru_stime);
  if (polling().used()) sample.polling = polling();
  sample.time = to_ns(raw_time());
  return sample;
}

CpuUse cpu_use(const CpuSample& start, const CpuSample& stop, const std::vector<int>& cpus) {
  CpuUse use;
  use.wall = stop.time - start.time;
  use.process_user = stop.process_user - start.process_user;
  use.process_system = stop.process_system - start.process_system;
  if (stop.polling) use.process_polling = stop.polling->spent_since(start.polling.value_or(Polling{}));
  const auto add = [&](int number) {
    const auto from = start.cpus.find(number);
    const auto to = stop.cpus.find(number);
    if (from == start.cpus.end() || to == stop.cpus.end()) return;
    // The kernel lets idle and steal run backwards by a tick now and then.
    const auto spent = [&](std::int64_t CpuTimes::*member) {
      return std::max<std::int64_t>(0, to->second.*member - from->second.*member);
    };
    use.node_user += spent(&CpuTimes::user);
    use.node_nice += spent(&CpuTimes::nice);
    use.node_system += spent(&CpuTimes::system);
    use.node_irq += spent(&CpuTimes::irq);
    use.node_softirq += spent(&CpuTimes::softirq);
    use.node_steal += spent(&CpuTimes::steal);
    use.node_idle += spent(&CpuTimes::idle);
  };
  if (cpus.empty()) {
    for (const auto& [number, times] : stop.cpus) add(number);
  } else {
    for (const int number : cpus) add(number);
  }
  return use;
}

}  // namespace longhaul::observe
