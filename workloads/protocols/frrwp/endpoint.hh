// One end's traffic: messages with flow control, writes, conditional writes. Driven by whoever calls next().
#pragma once

#include <array>
#include <deque>

#include "workloads/protocols/frrwp/port.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::frrwp {

/// The layout of either end's memory.
struct Layout {
  explicit Layout(std::size_t buffers);
  static constexpr std::size_t kSlots = 64;  ///< messages that may be under way each way
  static constexpr std::size_t kStride = 2048;
  static_assert(kMessageSize <= kStride);
  std::size_t scratch;  ///< a page that means nothing: what costs are tried on
  std::size_t out;      ///< messages on their way out, a ring
  std::size_t in;       ///< and in
  std::size_t buffers;  ///< the application's
  std::size_t total;
};

/// The plan of an end's connection for buffers of so many bytes; `registers`: they are the application's to
/// register.
ConnectionPlan plan_of(std::size_t buffers, std::size_t longest, bool registers);

class Endpoint final : public Port {
 public:
  /// `patience`: of conditional writes, see WriteMatcher. The connection's receives are posted by its plan.
  Endpoint(Connection& connection, const Layout& layout, Nanoseconds patience);

  void send(Message message) override;
  void write(WriteOrder order, std::vector<Segment> segments) override;
  void hold(WriteOrder order) override;
  void cancel(Tag tag) override;
  std::optional<Event> next() override;
  Waitable& waitable() override { return connection_; }

  /// When a conditional write runs out of time.
  std::optional<observe::RawTime> deadline() const { return matcher_.deadline(); }
  /// Conditional writes that wait for their keys.
  std::size_t held() const { return matcher_.held(); }

 private:
  void perform(std::vector<Action> actions);
  void submit(Submit submit);
  void drain();
  bool post_write(const Submit& submit);
  /// Fills in what the message says of flow control.
  bool post_message(Message& message);
  void take();
  void say_taken();

  Connection& connection_;
  Layout layout_;
  WriteMatcher matcher_;
  std::deque<Event> events_;
  // Messages and writes without room yet go out in this order.
  std::deque<std::variant<Message, Submit>> backlog_;
  struct Writing {
    Tag tag;
    std::size_t requests;
  };
  std::deque<Writing> writing_;  // with the adapter
  std::size_t requests_ = 0;     // of them
  std::uint32_t sent_ = 0;       // messages
  std::uint32_t peer_took_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t told_ = 0;  // of them the peer knows
  observe::RawTime glance_;
};

}  // namespace longhaul::workloads::frrwp
