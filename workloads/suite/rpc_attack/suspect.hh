// The server's end of a connection that a hostile client has: whatever ends it ends nothing else.
#pragma once

#include <memory>
#include <string>

#include "workloads/protocols/rpc/server.hh"

namespace longhaul::workloads::rpc_attack {

class Suspect final : public Lane {
 public:
  Suspect(Connection& connection, const rpc::Options& options, rpc::MemoryStore& store, rpc::ServerThreads& threads);

  void start() override {}
  /// Never throws: a fault of the connection, or of what came by it, ends the service of this client, and gives back
  /// the server's threads that waited for it.
  bool advance() override;
  Waitable& waitable() override { return connection_; }

  /// As long as the client is served; null afterwards.
  rpc::RdmaServer* server() { return server_.get(); }
  /// Why it is not served any more; empty: it is.
  const std::string& ended() const { return ended_; }

 private:
  Connection& connection_;
  std::unique_ptr<rpc::RdmaServer> server_;
  std::string ended_;
};

}  // namespace longhaul::workloads::rpc_attack
