#include "workloads/suite/cpu_load/application.hh"

#include <utility>

#include "observe/clock.hh"

namespace longhaul::workloads::cpu_load {

double Pace::run_time() const {
  return steps == 0
             ? 0
             : static_cast<double>(taken.count()) / static_cast<double>(steps) * static_cast<double>(kStepsOfARun);
}

Application::Application(Nanoseconds work)
    : step_(work / static_cast<std::int64_t>(kStepsOfARun)), thread_([this](std::stop_token stop) { compute(stop); }) {}

Application::~Application() {
  stop();
}

void Application::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Application::compute(const std::stop_token& stop) {
  auto last = observe::raw_time();
  while (!stop.stop_requested()) {
    step_.run();
    // From the end of the step before, so that what takes the processor between two steps counts too.
    const auto begun = last;
    last = observe::raw_time();
    for (auto [span, pace] : {std::pair{&quiet_, &alone_}, std::pair{&busy_, &loaded_}}) {
      if (!span->holds(begun, last)) continue;
      ++pace->steps;
      pace->taken += last - begun;
    }
  }
}

double cpu_per_byte(double alone, double loaded, double rate) {
  if (loaded <= 0 || rate <= 0) return 0;
  return (1 - alone / loaded) * 8e9 / rate;
}

std::optional<double> frequency(const CpuUse& use) {
  const auto used = use.process_user + use.process_system;
  if (!use.process_cycles || used <= 0) return std::nullopt;
  return static_cast<double>(*use.process_cycles) / static_cast<double>(used);
}

}  // namespace longhaul::workloads::cpu_load
