// Reads the facts of a node. Changes nothing; facts that cannot be read stay empty.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.hh"

namespace longhaul::observe {

/// Everything about this machine. Milliseconds; needs no privileges.
NodeFacts node_facts();

/// The interfaces of this network namespace, loopback left out, in order of their index.
std::vector<NicFacts> nic_facts();

/// The RDMA devices of this network namespace (NETLINK_RDMA, which knows the driver of software devices too).
std::vector<RdmaFacts> rdma_facts();
/// The same as far as the kernel tells without opening any of them: active_mtu stays 0.
std::vector<RdmaFacts> rdma_links();

/// The kernel's boot id: equal where two processes share clock and processors; empty where it tells none.
std::string boot_id();

/// The machine's memory.
std::int64_t memory_bytes();

/// What this process and those that it starts may lock, and so register for RDMA (the hard RLIMIT_MEMLOCK); empty: it
/// has none, or CAP_IPC_LOCK, whose owner may do more than it.
std::optional<std::int64_t> locked_bytes();

/// Maker, product and version of the machine, joined: "QEMU Standard PC (Q35 + ICH9, 2009) pc-q35-10.0". `dmi` is the
/// folder in which the kernel tells what the firmware said (/sys/class/dmi/id); empty where there is none.
std::optional<std::string> machine_model(const std::string& dmi);

/// "model name" of /proc/cpuinfo ("Model", "Hardware" on other architectures); empty when it has none.
std::string cpu_model(std::string_view cpuinfo);

/// The signature that a hypervisor gives in CPUID leaf 0x40000000 ("KVMKVMKVM", "TCGTCGTCGTCG"), empty on bare metal
/// and on other architectures than x86.
std::string hypervisor_signature();

/// True for QEMU's own processor emulation, by its signature or by its processor's name.
bool is_emulated(std::string_view signature, std::string_view cpu_model);

/// Sysctls that shape TCP and RDMA traffic and measurements, those that exist here.
std::map<std::string, std::string> relevant_sysctls();

/// The kernel's number of an RDMA driver (enum rdma_driver_id) as a provider's name: 14 -> "rxe"; "driver-<n>" when
/// unknown.
std::string rdma_provider(unsigned driver_id);

}  // namespace longhaul::observe
