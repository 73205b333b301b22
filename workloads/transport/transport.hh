// The interface of all transports: making connections. Their capabilities are data: model/transport.hh.
// The list itself is LONGHAUL_TRANSPORTS in workloads/CMakeLists.txt: transports.cc is generated from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

using Connections = std::vector<std::unique_ptr<Connection>>;

/// An end's inputs for making the connections of one client and its server.
struct Meeting {
  const ConnectionPlan& plan;
  std::uint64_t session = 0;  ///< drawn by the client: tells its connections from a stranger's
  std::string device;         ///< that must be used; empty: whichever serves the address
  /// The control connection: its addresses are those to use. Readable before all is made: the peer has given up.
  int control = -1;
  /// TCP connections between the two, as many as Transport::sockets says, in the order of the plan's connections.
  std::vector<OwnFd> sockets = {};
};

/// A connection to a server that is not longhaul's.
struct Foreign {
  std::unique_ptr<Connection> connection;
  std::string answer;  ///< the server's private data; empty where the transport has none
};

/// At the server: the connections of one client that are about to be made.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  /// The port for the client to connect to; 0: it needs none.
  virtual std::uint16_t port() const = 0;
  /// Waits for all of them, in the order of the plan. Throws Interrupted.
  virtual Attempt<Connections> accept(const Patience& patience) = 0;
};

struct Transport {
  std::string name;  ///< of its TransportSpec
  /// The address of this machine that a device serves. Refuses, with the devices that there are, what is none of its
  /// own.
  std::function<Attempt<SocketAddress>(const std::string& device)> address_of;
  /// The number of TCP connections to the server's own port that are made beforehand; most transports need none.
  std::function<std::size_t(const ConnectionPlan& plan)> sockets;
  /// At the server, before the client is told that it is accepted. Unsupported: this machine's device lacks what the
  /// plan needs.
  std::function<Attempt<std::unique_ptr<Listener>>(Meeting meeting)> listen;
  /// At the client, once it is accepted. `port`: the Listener's. Throws Interrupted.
  std::function<Attempt<Connections>(Meeting meeting, std::uint16_t port, const Patience& patience)> connect;
  /// To another server of the peer's, with these private data where the transport has such; empty: it cannot.
  std::function<Attempt<Foreign>(Meeting meeting, std::uint16_t port, const std::string& private_data,
                                 const Patience& patience)>
      dial = {};
};

/// Every transport's code, in the order of LONGHAUL_TRANSPORTS.
const std::vector<Transport>& transport_list();

/// By name; nullptr when there is none, or none in this build.
const Transport* find_transport_code(std::string_view name);
/// Why there is none.
tl::unexpected<RunFailure> no_such_transport(std::string_view name);

}  // namespace longhaul::workloads
