// A hostile server: it writes by RDMA into memory that a call offered, after that call is over. It gets there as long
// as the client has not deregistered that memory.
#pragma once

#include <cstddef>

#include "workloads/protocols/rpc/client.hh"
#include "workloads/suite/rpc_attack/suspect.hh"

namespace longhaul::workloads::rpc_attack {

/// Answers as it should. When the next call comes, so that the one before is certainly over, it writes into what that
/// one offered. A write that the client's adapter refuses ends the connection.
class LateWriter final : public Lane {
 public:
  LateWriter(Connection& connection, const rpc::Options& options, rpc::MemoryStore& store, rpc::ServerThreads& threads);

  void start() override {}
  bool advance() override { return suspect_.advance(); }
  Waitable& waitable() override { return connection_; }

 private:
  void write_late(const rpc::Header& next);

  Connection& connection_;
  Suspect suspect_;
  rpc::Chunk last_;  // offered by the call before
};

/// The client's side: READs one after another, each into a buffer of its own, until the connection ends or all threads
/// have had theirs.
struct Damage {
  std::size_t calls = 0;    ///< begun
  std::size_t changed = 0;  ///< of those that were over, had right bytes, and have others now
};
Damage be_written_late(rpc::RdmaClient& victim, std::size_t calls, Nanoseconds patience);

}  // namespace longhaul::workloads::rpc_attack
