// The two ways to a VerbsConnection: connect to a listener, or accept what a client asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/transport/verbs/connection.hh"

namespace longhaul::workloads {

using VerbsConnections = std::vector<std::unique_ptr<VerbsConnection>>;

/// Opens plan.connections to `peer` from `source`, all at a time. `device`: the one asked for; empty: whichever serves
/// `source`. Refuses when rdma_cm takes another device.
Attempt<VerbsConnections> connect_verbs(const SocketAddress& source, const SocketAddress& peer,
                                        const std::string& device, const ConnectionPlan& plan, std::uint64_t session,
                                        Nanoseconds rtt, const Patience& patience);

/// A connection to a server that is not longhaul's: it has its own words for the private data.
struct ForeignConnection {
  std::unique_ptr<VerbsConnection> connection;
  std::string answer;  ///< the server's private data; padded by some providers
};
Attempt<ForeignConnection> connect_foreign(const SocketAddress& source, const SocketAddress& peer,
                                           const std::string& device, const ConnectionPlan& plan,
                                           const std::string& private_data, Nanoseconds rtt, const Patience& patience);

class VerbsListener {
 public:
  /// Listens at an address of an RDMA device, on a free port.
  static Attempt<VerbsListener> open(const SocketAddress& address, const std::string& device);

  std::uint16_t port() const;
  const RdmaDevice& device() const { return device_; }
  ibv_context* opened() const { return id_->verbs; }  ///< that device

  /// Waits for plan.connections of this session, in the order of their lanes. Strangers are rejected. Ends early when
  /// `control` is readable: a client that speaks now has failed, or is gone.
  Attempt<VerbsConnections> accept(const ConnectionPlan& plan, std::uint64_t session, Nanoseconds rtt, int control,
                                   const Patience& patience);

 private:
  VerbsListener(EventChannel channel, CmId id, RdmaDevice device)
      : channel_(std::move(channel)), id_(std::move(id)), device_(std::move(device)) {}
  EventChannel channel_;
  CmId id_;
  RdmaDevice device_;
};

}  // namespace longhaul::workloads
