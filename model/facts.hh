// Facts about a node: read by observe, carried by the agents, kept in the store once per distinct content.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"

namespace longhaul {

struct NicFacts {
  std::string name;
  std::string driver;  ///< of the kernel: virtio_net, veth, mlx5_core ...
  std::string mac;
  std::int64_t mtu = 0;
  std::int64_t speed_mbit = 0;           ///< 0: unknown
  std::vector<std::string> addresses;    ///< IPv4 and IPv6 with prefix length
  std::map<std::string, bool> offloads;  ///< tso, gso, gro, lro, rx-checksum, tx-checksum
};
BOOST_DESCRIBE_STRUCT(NicFacts, (), (name, driver, mac, mtu, speed_mbit, addresses, offloads))

struct RdmaFacts {
  std::string name;
  std::string provider;  ///< rxe, siw, mlx5 ...
  std::string netdev;
  std::string transport;  ///< InfiniBand (RoCE too) or iWARP
  std::string firmware;
  std::string state;  ///< of port 1
  std::int64_t active_mtu = 0;
};
BOOST_DESCRIBE_STRUCT(RdmaFacts, (), (name, provider, netdev, transport, firmware, state, active_mtu))

struct NodeFacts {
  std::string hostname;
  std::string boot_id;  ///< nodes with equal boot_id share clock and processors
  std::string kernel;
  /// Maker, product and version, as the firmware tells; of a VM those of its emulator's machine, which name QEMU's
  /// version. Empty: it does not tell, or the record is from before 2026-11-27.
  std::optional<std::string> machine = std::nullopt;
  std::string cpu_model;
  int cpus = 0;
  bool emulated = false;  ///< QEMU's TCG: absolute times describe the lab, not a network
  std::string hypervisor;
  std::string clock_source;
  std::optional<bool>
      clock_synchronised;  ///< with the world's (NTP, PTP), as the kernel knows; empty: it does not tell
  std::int64_t memory_bytes = 0;
  /// What the programs of who described it may lock, hence register for RDMA; empty: as much as there is, or the record
  /// is from before 2026-11-27.
  std::optional<std::int64_t> locked_bytes = std::nullopt;
  std::string longhaul_version;  ///< with commit and dirty flag
  std::map<std::string, std::string> sysctls;
  std::vector<NicFacts> nics;
  std::vector<RdmaFacts> rdma;
};
BOOST_DESCRIBE_STRUCT(NodeFacts, (),
                      (hostname, boot_id, kernel, machine, cpu_model, cpus, emulated, hypervisor, clock_source,
                       clock_synchronised, memory_bytes, locked_bytes, longhaul_version, sysctls, nics, rdma))

std::string to_json(const NodeFacts& facts);
Result<NodeFacts> node_facts_from_json(std::string_view text);

}  // namespace longhaul
