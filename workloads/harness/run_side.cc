#include "workloads/harness/run_side.hh"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kProgressInterval = 500ms;

}  // namespace

std::vector<int> own_processors() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cpus.push_back(i);
  return cpus;
}

std::string short_of_memory(std::int64_t before) {
  const auto times = observe::tcp_memory_pressures() - before;
  if (times <= 0) return {};
  return fmt::format("TCP ran short of memory {}, which shrinks every window to a few segments: raise net.ipv4.tcp_mem",
                     times == 1 ? "once" : fmt::format("{} times", times));
}

std::vector<std::string> unused_on(const WorkloadSpec& spec, std::string_view transport) {
  std::vector<std::string> unused;
  for (const auto& parameter : spec.parameters)
    if (!applies(parameter, transport)) unused.push_back(parameter.name);
  return unused;
}

Result<Parameters> complete(const WorkloadSpec& spec, const Parameters& given) {
  Parameters all;
  for (const auto& [name, value] : given) {
    const auto* parameter = find_parameter(spec.parameters, name);
    if (parameter == nullptr) return refuse("workload {} has no parameter '{}'", spec.name, name);
    if (auto ok = check_value(*parameter, value); !ok) return refuse("{}: {}", name, ok.error().message);
    all.emplace(name, value);
  }
  for (const auto& parameter : spec.parameters)
    if (parameter.fallback) all.emplace(parameter.name, *parameter.fallback);
  return all;
}

void RunSide::open_window() {
  window_start_ = observe::wall_time();
  window_opened_ = observe::raw_time();
  clock_offset_ = observe::wall_offset();
  events_.emit(BenchEventKind::window_start);
  progress_due_ = observe::raw_time() + kProgressInterval;
  cpu_start_ = observe::sample_cpu();
  cycles_start_ = cycles_.read();
}

void RunSide::close_window() {
  cpu_ = observe::cpu_use(cpu_start_, observe::sample_cpu(), own_processors());
  if (const auto cycles = cycles_.read(); cycles && cycles_start_) cpu_.process_cycles = *cycles - *cycles_start_;
  // A wall clock that is set meanwhile makes a window neither longer nor shorter.
  window_stop_ = window_start_ + Nanoseconds{observe::raw_time() - window_opened_}.count();
  events_.emit(BenchEventKind::window_stop);
}

void RunSide::progress(double done) {
  const auto now = observe::raw_time();
  if (now < progress_due_ || !events_) return;
  progress_due_ = now + kProgressInterval;
  BenchEvent event;
  event.kind = BenchEventKind::progress;
  event.done = std::clamp(done, 0.0, 1.0);
  events_.emit(std::move(event));
}

void RunSide::check_clock() const {
  // Limit of a clock's steering: 500 ppm (adjtimex(2)), of a window of seconds.
  constexpr std::int64_t kSteered = 1'000'000;
  const auto step = observe::wall_offset() - clock_offset_;
  const auto steered = kSteered + (observe::wall_time() - window_start_) / 1000;
  if (std::abs(step) > steered)
    throw std::runtime_error(
        fmt::format("the wall clock was set by {:.3f} ms during the run", static_cast<double>(step) / 1e6));
}

NodeRecord RunSide::record(std::map<std::string, Metric> metrics) const {
  NodeRecord record;
  record.workload = spec_.name;
  record.role = role_;
  record.parameters = parameters_;
  for (const auto& name : unused_) record.parameters.erase(name);
  record.metrics = std::move(metrics);
  record.cpu = cpu_;
  record.window_start = window_start_;
  record.window_stop = window_stop_;
  record.limits = limits_;
  if (auto why = short_of_memory(pressures_); !why.empty()) record.limits.push_back(std::move(why));
  return record;
}

}  // namespace longhaul::workloads
