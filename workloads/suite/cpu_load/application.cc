#include "workloads/suite/cpu_load/application.hh"

namespace longhaul::workloads::cpu_load {

Application::Application(std::int64_t work) : work_(work), thread_([this](std::stop_token stop) { compute(stop); }) {}

Application::~Application() {
  stop();
}

void Application::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Application::compute(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto before = traffic_.load(std::memory_order_relaxed);
    const auto taken = work_.time();
    if (traffic_.load(std::memory_order_relaxed) != before) continue;
    if (before == Traffic::none) alone_.record(taken);
    if (before == Traffic::full) loaded_.record(taken);
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
