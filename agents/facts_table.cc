#include "agents/facts_table.hh"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "model/units.hh"

namespace longhaul::agents {

std::string facts_table(const NodeFacts& facts) {
  std::string text;
  const auto line = [&](std::string_view name, const auto& value) {
    fmt::format_to(std::back_inserter(text), "{:<14} {}\n", name, value);
  };
  line("host", facts.hostname);
  line("boot id", facts.boot_id);
  line("kernel", facts.kernel);
  if (facts.machine) line("machine", *facts.machine);
  line("processor", fmt::format("{} x {}", facts.cpus, facts.cpu_model));
  line("hypervisor", facts.hypervisor.empty()
                         ? "none"
                         : fmt::format("{}{}", facts.hypervisor,
                                       facts.emulated ? " (emulated processor: absolute times mean little)" : ""));
  const auto& synchronised = facts.clock_synchronised;
  line("clock", fmt::format("{}{}", facts.clock_source,
                            !synchronised   ? ""
                            : *synchronised ? ", synchronised"
                                            : ", not synchronised"));
  line("memory", fmt::format("{} MiB{}", facts.memory_bytes >> 20,
                             facts.locked_bytes ? fmt::format(", {} of which may be locked, or registered for RDMA",
                                                              format_quantity(Kind::size, *facts.locked_bytes))
                                                : ""));
  line("longhaul", facts.longhaul_version);
  for (const auto& nic : facts.nics) {
    std::string on;
    for (const auto& [offload, enabled] : nic.offloads)
      if (enabled) on += (on.empty() ? "" : ",") + offload;
    line("interface",
         fmt::format("{}  {}  mtu {}{}  {}  offloads: {}", nic.name, nic.driver.empty() ? "-" : nic.driver, nic.mtu,
                     nic.speed_mbit > 0 ? fmt::format("  {} Mbit/s", nic.speed_mbit) : "",
                     nic.addresses.empty() ? "no address" : fmt::format("{}", fmt::join(nic.addresses, " ")),
                     on.empty() ? "none" : on));
  }
  if (facts.rdma.empty()) line("rdma device", "none");
  for (const auto& device : facts.rdma)
    line("rdma device",
         fmt::format("{}  {} on {}  {}  {}  path mtu {}", device.name, device.provider.empty() ? "?" : device.provider,
                     device.netdev.empty() ? "?" : device.netdev, device.transport, device.state, device.active_mtu));
  for (const auto& [name, value] : facts.sysctls) line("sysctl", fmt::format("{} = {}", name, value));
  text.pop_back();
  return text;
}

}  // namespace longhaul::agents
