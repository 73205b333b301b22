// Which calls of a client's may be sent, and whose reply came: the same for every transport. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/credits.hh"
#include "workloads/protocols/rpc/mix.hh"
#include "workloads/protocols/rpc/options.hh"
#include "workloads/protocols/rpc/read_ahead.hh"

namespace longhaul::workloads::rpc {

/// A thread has a line for each record that it keeps (ReadAhead), and each line one call under way.
class Caller {
 public:
  explicit Caller(const Options& options);

  /// The thread's next operation. Returns the lines whose calls begin with it and wait to be sent: its own, unless that
  /// was asked for ahead, and those that are now. Until the next start().
  const std::vector<std::size_t>& start(std::size_t thread);
  /// Lines whose calls may be sent now, for there are credits: records that lie one behind another, with xids one after
  /// another, `most` of them. They are under way from now on. None: there is nothing to send, or no credit. Until the
  /// next next().
  const std::vector<std::size_t>& next(std::size_t most = 1);
  /// The line whose call is answered. Throws std::runtime_error where there is no such call.
  std::size_t replied(std::uint32_t xid, std::uint32_t granted);

  /// The line of the thread's last operation.
  std::size_t line_of(std::size_t thread) const { return line(thread, ahead_[thread].number()); }
  /// The last call of the line.
  const ClientCall& call(std::size_t line) const { return calls_[line]; }
  std::uint32_t credits() const { return credits_.wanted(); }
  /// What was read ahead is not wanted any more. Not while any of it is under way.
  void reset();
  /// Calls that had to wait for a credit, since reset().
  std::uint64_t stalls() const { return credits_.stalls() - stalls_before_; }

 private:
  struct Ready {
    std::size_t thread;
    ReadAhead::Row row;
  };
  std::size_t line(std::size_t thread, std::uint64_t number) const {
    return thread * options_.kept() + number % options_.kept();
  }
  ClientCall make(std::size_t thread, std::uint64_t number);

  Options options_;
  Credits credits_;
  std::vector<ClientCall> calls_;  // the last of each line
  std::vector<ReadAhead> ahead_;   // by thread
  std::vector<Mix> mixes_;         // by thread, where there is a mix
  std::deque<Ready> ready_;
  std::vector<std::size_t> begun_;    // lines
  std::vector<std::size_t> sending_;  // lines
  std::unordered_map<std::uint32_t, std::size_t> under_way_;
  std::uint32_t next_xid_ = 1;
  std::uint64_t stalls_before_ = 0;
};

}  // namespace longhaul::workloads::rpc
