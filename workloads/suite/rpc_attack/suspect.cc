#include "workloads/suite/rpc_attack/suspect.hh"

#include <exception>

namespace longhaul::workloads::rpc_attack {

Suspect::Suspect(Connection& connection, const rpc::Options& options, rpc::MemoryStore& store,
                 rpc::ServerThreads& threads)
    : connection_(connection), server_(std::make_unique<rpc::RdmaServer>(connection, options, store, threads)) {}

bool Suspect::advance() {
  if (!server_) return false;
  try {
    return server_->advance();
  } catch (const std::exception& error) {
    ended_ = error.what();
    server_.reset();
    return false;
  }
}

}  // namespace longhaul::workloads::rpc_attack
