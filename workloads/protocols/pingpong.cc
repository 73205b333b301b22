#include "workloads/protocols/pingpong.hh"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>

namespace longhaul::workloads::pingpong {
namespace {

constexpr std::uint8_t kReadSequence = 171;  // the fetched message never changes
constexpr std::uint32_t kReceives = 4;       // one is used at a time; the others make its replacement unhurried

// The common part of both ends of every kind of ping-pong: the two messages and their sequence.
class Base : public PingPong {
 public:
  Base(Connection& connection, const LaneOptions& options, Direction outgoing)
      : connection_(connection),
        options_(options),
        layout_(options.layout()),
        out_(connection.memory().subspan(Layout::out, outgoing == Direction::ping ? options.ping : options.pong)),
        in_(connection.memory().subspan(layout_.in, outgoing == Direction::ping ? options.pong : options.ping)),
        outgoing_(outgoing),
        incoming_(outgoing == Direction::ping ? Direction::pong : Direction::ping) {
    fill(out_, outgoing, 0, options_.payload);
  }

  Waitable& waitable() override { return connection_; }

  void inspect() override {
    if (options_.verify) verify_last();
  }

  void verify_last() const override {
    if (sequence_ == 0) return;
    if (const auto fault = find_fault(in_, incoming_, sequence_, salt(sequence_))) throw std::runtime_error(*fault);
  }

 protected:
  std::uint8_t salt(std::uint8_t sequence) const {
    return static_cast<std::uint8_t>(options_.payload + (options_.verify ? sequence : 0));
  }

  void prepare(std::uint8_t sequence) {
    if (options_.verify) {
      fill(out_, outgoing_, sequence, salt(sequence));
    } else {
      stamp(out_, sequence);
    }
  }

  void expect_edges(std::uint8_t sequence) const {
    if (in_.front() == std::byte{sequence} && in_.back() == std::byte{sequence}) return;
    throw std::runtime_error(
        fmt::format("corrupted payload: message {} came with {} as its first and {} as its last byte", sequence,
                    std::to_integer<int>(in_.front()), std::to_integer<int>(in_.back())));
  }

  Connection& connection_;
  LaneOptions options_;
  Layout layout_;
  std::span<std::byte> out_;
  std::span<std::byte> in_;
  Direction outgoing_;
  Direction incoming_;
  std::uint8_t sequence_ = 0;
};

// Messages that complete at the target: the stream, send, write with immediate, write and an empty send.
class MessageBase : public Base {
 public:
  MessageBase(Connection& connection, const LaneOptions& options, Direction outgoing)
      : Base(connection, options, outgoing) {
    first_.operation = Operation::send;
    first_.local = Layout::out;
    first_.length = out_.size();
    first_.remote = layout_.in;
    first_.signaled = false;
    if (options.op == "write_imm") first_.operation = Operation::write_with_immediate;
    if (options.op == "write_send") {
      first_.operation = Operation::write;
      first_.more = true;
      second_.signaled = false;
      doubled_ = true;
    }
  }

 protected:
  bool arrived() {
    std::array<Completion, 1> done;
    return connection_.poll(done) == 1;
  }
  void emit() {
    connection_.post(first_);
    if (doubled_) connection_.post(second_);
  }
  // The receive that was used up is replaced while the message is on its way; others are posted.
  void restock() { connection_.post_receive(layout_.in, in_.size()); }

 private:
  Request first_;
  Request second_;
  bool doubled_ = false;
};

class MessageClient final : public MessageBase {
 public:
  MessageClient(Connection& connection, const LaneOptions& options)
      : MessageBase(connection, options, Direction::ping) {}

  void start() override {
    const bool first = sequence_ == 0;
    sequence_ = next_sequence(sequence_);
    prepare(sequence_);
    emit();
    if (!first) restock();
  }

  bool advance() override {
    if (!arrived()) return false;
    expect_edges(sequence_);
    return true;
  }
};

class MessageServer final : public MessageBase {
 public:
  MessageServer(Connection& connection, const LaneOptions& options)
      : MessageBase(connection, options, Direction::pong) {}

  void start() override {}

  bool advance() override {
    if (!arrived()) return false;
    sequence_ = next_sequence(sequence_);
    expect_edges(sequence_);
    inspect();
    if (options_.before_reply) options_.before_reply();
    prepare(sequence_);
    emit();
    restock();
    return true;
  }
};

// Writes that nothing announces: the target looks at its memory.
class WriteBase : public Base {
 public:
  WriteBase(Connection& connection, const LaneOptions& options, Direction outgoing)
      : Base(connection, options, outgoing) {
    request_.operation = Operation::write;
    request_.local = Layout::out;
    request_.length = out_.size();
    request_.remote = layout_.in;
    request_.signaled = false;
  }

  std::uint64_t out_of_order() const override { return out_of_order_; }

 protected:
  bool arrived(std::uint8_t sequence) {
    const volatile std::byte& last = in_.back();
    if (last != std::byte{sequence}) return false;
    const volatile std::byte& first = in_.front();
    if (first != std::byte{sequence}) {
      if (!waiting_for_first_) ++out_of_order_;
      waiting_for_first_ = true;
      return false;
    }
    waiting_for_first_ = false;
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
  }
  void emit() { connection_.post(request_); }

 private:
  Request request_;
  std::uint64_t out_of_order_ = 0;
  bool waiting_for_first_ = false;
};

class WriteClient final : public WriteBase {
 public:
  WriteClient(Connection& connection, const LaneOptions& options) : WriteBase(connection, options, Direction::ping) {}

  void start() override {
    sequence_ = next_sequence(sequence_);
    prepare(sequence_);
    emit();
  }
  bool advance() override { return arrived(sequence_); }
};

class WriteServer final : public WriteBase {
 public:
  WriteServer(Connection& connection, const LaneOptions& options) : WriteBase(connection, options, Direction::pong) {}

  void start() override {}

  bool advance() override {
    const auto wanted = next_sequence(sequence_);
    if (!arrived(wanted)) return false;
    sequence_ = wanted;
    inspect();
    if (options_.before_reply) options_.before_reply();
    prepare(sequence_);
    emit();
    return true;
  }
};

class ReadClient final : public Base {
 public:
  ReadClient(Connection& connection, const LaneOptions& options) : Base(connection, options, Direction::ping) {
    request_.operation = Operation::read;
    request_.local = layout_.in;
    request_.length = in_.size();
    request_.remote = Layout::out;
  }

  void start() override {
    sequence_ = kReadSequence;
    // The fetched bytes never change: only on cleared memory do they show that they came.
    if (options_.verify) std::fill(in_.begin(), in_.end(), std::byte{0});
    connection_.post(request_);
  }

  bool advance() override {
    std::array<Completion, 1> done;
    if (connection_.poll(done) == 0) return false;
    expect_edges(kReadSequence);
    return true;
  }

  void verify_last() const override {
    if (sequence_ == 0) return;
    if (const auto fault = find_fault(in_, Direction::pong, kReadSequence, options_.payload))
      throw std::runtime_error(*fault);
  }

 private:
  Request request_;
};

}  // namespace

Layout layout_of(std::size_t size) {
  const auto pages = whole_pages(size);
  return {size, pages, 2 * pages};
}

Attempt<ConnectionPlan> plan_of(const LaneOptions& options, Role role, bool sleeping, std::size_t connections) {
  if (options.op == "write" && sleeping)
    return unsupported(
        "an RDMA write completes nothing at its target that could wake it: use --op write_imm, write_send or send with "
        "--completion event, or --completion poll");
  ConnectionPlan plan;
  const auto layout = options.layout();
  plan.connections = connections;
  plan.message = layout.size;
  plan.in_flight = layout.size;
  plan.memory = layout.total;
  plan.sleeping = sleeping;
  if (options.op != "write" && options.op != "read") {
    plan.receives = kReceives;
    plan.receive_offset = layout.in;
    // siw refuses an empty receive, also where nothing is to be put into it.
    plan.receive_length = role == Role::client ? options.pong : options.ping;
  }
  if (options.op == "read") plan.prepare = [options](std::span<std::byte> memory) { fill_source(memory, options); };
  return plan;
}

std::unique_ptr<PingPong> make_client_lane(Connection& connection, const LaneOptions& options) {
  if (options.op == "read") return std::make_unique<ReadClient>(connection, options);
  if (options.op == "write") return std::make_unique<WriteClient>(connection, options);
  return std::make_unique<MessageClient>(connection, options);
}

std::unique_ptr<PingPong> make_server_lane(Connection& connection, const LaneOptions& options) {
  if (options.op == "write") return std::make_unique<WriteServer>(connection, options);
  return std::make_unique<MessageServer>(connection, options);
}

void fill_source(std::span<std::byte> memory, const LaneOptions& options) {
  fill(memory.subspan(Layout::out, options.pong), Direction::pong, kReadSequence, options.payload);
}

}  // namespace longhaul::workloads::pingpong
