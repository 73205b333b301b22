// The baseline: what a program does with sockets. Nothing is registered and no key is asked for; the data goes when it
// is there.
#pragma once

#include <functional>

#include "workloads/harness/loop.hh"
#include "workloads/protocols/frrwp/message.hh"
#include "workloads/protocols/reuse.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::transfer {

Attempt<ConnectionPlan> sockets_plan(const Reuse& reuse);

/// write: the data, then CLOSED back; read: START, then the data and CLOSED behind it.
class SocketTransfer final : public Lane {
 public:
  SocketTransfer(Connection& connection, const Reuse& reuse, bool write, Role role);

  void start() override;
  bool advance() override;
  Waitable& waitable() override { return connection_; }

  /// As frrwp::Transfer's.
  std::function<void(frrwp::Tag tag, const frrwp::Moments& here, const frrwp::Moments& there)> on_closed;
  void verify_last() const;

 private:
  bool client() const { return role_ == Role::client; }
  bool source() const { return client() == write_; }
  const Extent& extent() const { return reuse_.at(number_ - 1); }
  std::span<std::byte> data() const;
  void send_message(frrwp::Kind kind);
  void send_data();
  void expect();
  bool came(observe::RawTime now);

  enum class Step { start, data, closed };

  Connection& connection_;
  Reuse reuse_;
  bool write_;
  Role role_;
  std::uint64_t number_ = 0;
  Step step_ = Step::start;  // what comes next
  frrwp::Moments moments_;
};

}  // namespace longhaul::workloads::transfer
