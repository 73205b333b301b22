// Progress of a client whose server may never answer.
#pragma once

#include "observe/clock.hh"
#include "workloads/protocols/rpc/client.hh"

namespace longhaul::workloads::rpc_attack {

/// False where it has not come to `done` in time. Throws std::system_error where the connection ends.
template <typename Done>
bool progress_until(rpc::RdmaClient& client, Nanoseconds patience, Done done) {
  const auto deadline = observe::raw_time() + patience;
  while (!done() && observe::raw_time() < deadline) client.progress();
  return done();
}

}  // namespace longhaul::workloads::rpc_attack
