// Which of a client's threads may send its call, and whose reply came: the same for every transport. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/credits.hh"
#include "workloads/protocols/rpc/mix.hh"
#include "workloads/protocols/rpc/options.hh"

namespace longhaul::workloads::rpc {

class Caller {
 public:
  explicit Caller(const Options& options);

  /// The thread's next call, which waits to be sent.
  void start(std::size_t thread);
  /// The next thread whose call may be sent now: there is a credit. It is under way from now on.
  std::optional<std::size_t> next();
  /// The thread whose call is answered. Throws std::runtime_error where there is no such call.
  std::size_t replied(std::uint32_t xid, std::uint32_t granted);

  const ClientCall& call(std::size_t thread) const { return calls_[thread]; }
  std::uint32_t credits() const { return credits_.wanted(); }
  void reset() { stalls_before_ = credits_.stalls(); }
  /// Calls that had to wait for a credit, since reset().
  std::uint64_t stalls() const { return credits_.stalls() - stalls_before_; }

 private:
  Options options_;
  Credits credits_;
  std::vector<ClientCall> calls_;       // the last of each thread
  std::vector<std::uint64_t> numbers_;  // of calls, by thread
  std::vector<Mix> mixes_;              // by thread, where there is a mix
  std::deque<std::size_t> ready_;       // threads
  std::unordered_map<std::uint32_t, std::size_t> under_way_;
  std::uint32_t next_xid_ = 1;
  std::uint64_t stalls_before_ = 0;
};

}  // namespace longhaul::workloads::rpc
