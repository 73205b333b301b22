#include "observe/facts.hh"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "common/version.hh"
#include "observe/small_file.hh"

namespace longhaul::observe {
namespace {

// Settings that change the behaviour of TCP or RDMA, timekeeping or scheduling.
constexpr std::array kSysctls = {
    "kernel.sched_autogroup_enabled",
    "kernel.sched_rt_runtime_us",
    "kernel.timer_migration",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.optmem_max",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.rps_sock_flow_entries",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.ip_forward",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
    "vm.overcommit_memory",
    "vm.swappiness",
};

// Asking takes no privilege; a sandbox may forbid the call all the same.
std::optional<bool> clock_synchronised() {
  timex query{};
  const int state = ::adjtimex(&query);
  if (state < 0) return {};
  return state != TIME_ERROR && (query.status & STA_UNSYNC) == 0;
}

}  // namespace

std::int64_t memory_bytes() {
  return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE);
}

std::optional<std::int64_t> locked_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return std::nullopt;
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, capabilities) == 0 &&
      (capabilities[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0)
    return std::nullopt;
  return static_cast<std::int64_t>(limit.rlim_max);
}

std::optional<std::string> machine_model(const std::string& dmi) {
  std::string model;
  for (const auto* name : {"sys_vendor", "product_name", "product_version"})
    if (const auto word = small_file(dmi + "/" + name); word && !word->empty())
      model += (model.empty() ? "" : " ") + *word;
  if (model.empty()) return std::nullopt;
  return model;
}

std::string cpu_model(std::string_view cpuinfo) {
  for (const std::string_view key : {"model name", "Model", "Hardware", "cpu"}) {
    std::size_t at = 0;
    while (at < cpuinfo.size()) {
      const auto line = cpuinfo.substr(at, cpuinfo.find('\n', at) - at);
      at += line.size() + 1;
      const auto colon = line.find(':');
      if (colon == std::string_view::npos || !line.starts_with(key)) continue;
      if (line.find_first_not_of(" \t", key.size()) != colon) continue;  // "model" is not "model name"
      const auto start = line.find_first_not_of(" \t", colon + 1);
      return start == std::string_view::npos ? std::string{} : std::string{line.substr(start)};
    }
  }
  return {};
}

std::string hypervisor_signature() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  // Bit 31 of ECX in leaf 1 says that there is a hypervisor; leaf 0x40000000 is undefined without it.
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31 & 1) == 0) return {};
  __cpuid(0x40000000, a, b, c, d);
  std::array<char, 13> text{};
  std::memcpy(text.data(), &b, 4);
  std::memcpy(text.data() + 4, &c, 4);
  std::memcpy(text.data() + 8, &d, 4);
  std::string signature{text.data()};
  for (char& byte : signature)
    if (byte < ' ' || byte > '~') byte = '?';
  return signature;
#else
  return {};
#endif
}

bool is_emulated(std::string_view signature, std::string_view cpu_model) {
  // A guest under KVM or TCG can be given any processor's name, so the signature decides where there is one.
  if (!signature.empty()) return signature.starts_with("TCG");
  return cpu_model.find("QEMU TCG") != std::string_view::npos || cpu_model.starts_with("QEMU Virtual CPU");
}

std::map<std::string, std::string> relevant_sysctls() {
  std::map<std::string, std::string> values;
  for (const std::string name : kSysctls) {
    auto path = "/proc/sys/" + name;
    for (char& c : path)
      if (c == '.') c = '/';
    if (auto value = small_file(path)) {
      for (char& c : *value)
        if (c == '\t') c = ' ';
      values.emplace(name, std::move(*value));
    }
  }
  return values;
}

std::string boot_id() {
  return small_file("/proc/sys/kernel/random/boot_id").value_or("");
}

NodeFacts node_facts() {
  NodeFacts facts;
  utsname name{};
  if (::uname(&name) == 0) {
    facts.hostname = name.nodename;
    facts.kernel = fmt::format("{} {} {}", name.release, name.version, name.machine);
  }
  facts.boot_id = boot_id();
  facts.machine = machine_model("/sys/class/dmi/id");
  facts.cpu_model = cpu_model(small_file("/proc/cpuinfo").value_or(""));
  facts.cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  facts.hypervisor = hypervisor_signature();
  facts.emulated = is_emulated(facts.hypervisor, facts.cpu_model);
  facts.clock_source = small_file("/sys/devices/system/clocksource/clocksource0/current_clocksource").value_or("");
  facts.clock_synchronised = clock_synchronised();
  facts.memory_bytes = memory_bytes();
  facts.locked_bytes = locked_bytes();
  facts.longhaul_version = version_text();
  facts.sysctls = relevant_sysctls();
  facts.nics = nic_facts();
  facts.rdma = rdma_facts();
  return facts;
}

}  // namespace longhaul::observe
