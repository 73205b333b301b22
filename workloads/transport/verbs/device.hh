// The RDMA devices and their addresses, as rdma_cm sees them.
#pragma once

#include <infiniband/verbs.h>

#include <string>
#include <vector>

#include "common/result.hh"
#include "model/record.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

struct RdmaDevice {
  std::string name;
  std::string provider;  ///< rxe, siw, mlx5 ...
  std::string netdev;
  std::string address;  ///< of the netdev; empty: it has none, so rdma_cm cannot use the device
  bool iwarp = false;
};

/// The RDMA devices of this machine.
std::vector<RdmaDevice> rdma_devices();

/// "rxe_a0 (rxe on a0, 10.10.0.1), siw_a1 (...)", or why there are none.
std::string describe(const std::vector<RdmaDevice>& devices);

/// The address to bind to so that rdma_cm uses `device`. Unsupported when it is not here, has no address, or shares its
/// interface with a device that rdma_cm takes first.
Attempt<SocketAddress> address_of_device(const std::string& device);

/// The capabilities of an adapter of this kind. No immediate data over iWARP (RFC 5040 has none; RFC 7306 is not
/// implemented by siw).
std::vector<Capability> offers(const RdmaDevice& device);

/// What a plan needs and the device lacks, by name; empty: nothing. Memory windows are no capability of the transport:
/// each device says whether it has those of type 2B (ibv_query_device), siw and other iWARP adapters mostly do not.
/// `opened` is asked where the plan wants them. Throws std::system_error.
std::vector<std::string> lacking(const ConnectionPlan& plan, const RdmaDevice& device, ibv_context* opened);

/// "::ffff:10.10.0.1"
std::string gid_text(const ibv_gid& gid);

}  // namespace longhaul::workloads
