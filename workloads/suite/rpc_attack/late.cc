#include "workloads/suite/rpc_attack/late.hh"

#include <algorithm>
#include <system_error>

#include "workloads/suite/rpc_attack/patient.hh"

namespace longhaul::workloads::rpc_attack {
namespace {

constexpr std::size_t kDamage = 64;  // bytes that are written

}  // namespace

LateWriter::LateWriter(Connection& connection, const rpc::Options& options, rpc::MemoryStore& store,
                       rpc::ServerThreads& threads)
    : connection_(connection), suspect_(connection, options, store, threads) {
  suspect_.server()->watch([this](const rpc::Header& header) { write_late(header); });
}

// What is written is whatever begins our own memory: a message of ours.
void LateWriter::write_late(const rpc::Header& next) {
  if (!last_.empty())
    connection_.post({.operation = Operation::write,
                      .length = std::min<std::size_t>(kDamage, last_.front().length),
                      .remote = last_.front().offset,
                      .absolute = true,
                      .signaled = false,
                      .remote_key = last_.front().handle});
  last_ = next.writes.empty() ? rpc::Chunk{} : next.writes.front();
}

Damage be_written_late(rpc::RdmaClient& victim, std::size_t calls, Nanoseconds patience) {
  Damage damage;
  std::size_t over = 0;
  try {
    for (; damage.calls < calls; ++over) {
      victim.start(damage.calls++);
      if (!progress_until(victim, patience, [&] { return victim.done(over); })) break;
    }
    progress_until(victim, patience, [] { return false; });  // what is on its way
  } catch (const std::system_error&) {
  }
  for (std::size_t thread = 0; thread < over; ++thread) damage.changed += victim.fault(thread).empty() ? 0 : 1;
  return damage;
}

}  // namespace longhaul::workloads::rpc_attack
