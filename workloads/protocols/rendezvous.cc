#include "workloads/protocols/rendezvous.hh"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace longhaul::workloads::rendezvous {
namespace {

using pingpong::Direction;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kControls = 16;
constexpr std::uint32_t kSlots = 4;  // FIN and the next START may be there at once

std::size_t pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

std::size_t message_length(const Options& options) {
  return kControlSize + (options.protocol == Protocol::eager ? options.size : 0);
}

const char* name_of(Control kind) {
  constexpr std::array names{"nothing", "DATA", "START", "REPLY", "FIN"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "nothing known";
}

}  // namespace

Layout::Layout(const Options& options)
    : in(pages(options.size)),
      control(2 * pages(options.size)),
      bounce(control + kPage),
      stride(pages(message_length(options))),
      ring(bounce + stride),
      total(ring + kSlots * stride) {}

Protocol protocol_of(const std::string& word) {
  if (word == "write") return Protocol::write;
  return word == "read" ? Protocol::read : Protocol::eager;
}

Attempt<ConnectionPlan> plan_of(const Options& options) {
  if (options.stream && options.protocol == Protocol::read)
    return unsupported("a socket's memory cannot be read remotely: over tcp take --protocol eager or write");
  const Layout layout{options};
  ConnectionPlan plan;
  plan.memory = layout.total;
  plan.message = options.size + kControlSize;
  plan.in_flight = plan.message;
  if (!options.stream) {
    plan.receives = kSlots;
    plan.receive_offset = layout.ring;
    plan.receive_stride = layout.stride;
    plan.receive_length = message_length(options);
  }
  return plan;
}

Exchange::Exchange(Connection& connection, const Options& options, Role role)
    : connection_(connection),
      options_(options),
      layout_(options),
      client_(role == Role::client),
      out_(connection.memory().subspan(Layout::out, options.size)),
      in_(connection.memory().subspan(layout_.in, options.size)),
      outgoing_(client_ ? Direction::ping : Direction::pong),
      incoming_(client_ ? Direction::pong : Direction::ping) {
  pingpong::fill(out_, outgoing_, 0, 0);
  if (!client_) await_message();
}

void Exchange::start() {
  ++operations_;
  sequence_ = pingpong::next_sequence(sequence_);
  send_message();
}

bool Exchange::advance() {
  std::array<Completion, 1> done;
  while (connection_.poll(done) == 1)
    if (handle(done.front())) return true;
  return false;
}

void Exchange::send_message() {
  pingpong::stamp(out_, sequence_);
  if (options_.protocol != Protocol::eager) {
    control(Control::start, true);
    step_ = options_.protocol == Protocol::write ? Step::await_reply : Step::await_fin;
    expect(kControlSize);
    return;
  }
  auto bounce = connection_.memory().subspan(layout_.bounce);
  std::memcpy(bounce.data() + kControlSize, out_.data(), out_.size());
  control(Control::data, true);
  await_message();
}

void Exchange::await_message() {
  const bool eager = options_.protocol == Protocol::eager;
  step_ = eager ? Step::await_data : Step::await_start;
  expect(message_length(options_));
}

// True: an operation of the client is complete, or the server has answered.
bool Exchange::received() {
  const auto wanted = client_ ? sequence_ : pingpong::next_sequence(sequence_);
  if (in_.front() != std::byte{wanted} || in_.back() != std::byte{wanted})
    throw std::runtime_error(
        fmt::format("corrupted payload: message {} came with {} as its first and {} as its last byte", wanted,
                    std::to_integer<int>(in_.front()), std::to_integer<int>(in_.back())));
  step_ = Step::idle;
  if (client_) return true;
  sequence_ = wanted;
  send_message();
  return true;
}

bool Exchange::handle(const Completion& completion) {
  if (completion.kind == Completion::Kind::fetched) {
    control(Control::fin, false);
    return received();
  }
  if (completion.kind != Completion::Kind::received) return false;
  switch (step_) {
    case Step::await_reply: {
      check(Control::reply);
      consume();
      Request data;
      data.operation = options_.stream ? Operation::send : Operation::write;
      data.local = Layout::out;
      data.length = options_.size;
      data.remote = layout_.in;
      data.signaled = false;
      data.more = !options_.stream;
      connection_.post(data);
      ++trips_;
      if (!options_.stream) control(Control::fin, false);
      await_message();
      return false;
    }
    case Step::await_fin:
      check(Control::fin);
      consume();
      await_message();
      return false;
    case Step::await_data:
      check(Control::data);
      std::memcpy(in_.data(), slot().data() + kControlSize, in_.size());
      consume();
      return received();
    case Step::await_start:
      check(Control::start);
      consume();
      if (options_.protocol == Protocol::write) {
        step_ = Step::await_placed;
        if (options_.stream)
          expect_here(layout_.in, options_.size);
        else
          expect(kControlSize);
        control(Control::reply, true);
      } else {
        Request fetch;
        fetch.operation = Operation::read;
        fetch.local = layout_.in;
        fetch.length = options_.size;
        fetch.remote = Layout::out;
        connection_.post(fetch);
        trips_ += 2;
        step_ = Step::fetching;
      }
      return false;
    case Step::await_placed:
      if (!options_.stream) {
        check(Control::fin);
        consume();
      }
      return received();
    case Step::idle:
    case Step::fetching:
      throw std::runtime_error("the peer sent a message out of turn");
  }
  return false;
}

void Exchange::control(Control kind, bool on_path) {
  const auto at = kind == Control::data ? layout_.bounce : layout_.control + next_control_ * kControlSize;
  next_control_ = (next_control_ + 1) % kControls;
  auto message = connection_.memory().subspan(at, kControlSize);
  std::memset(message.data(), 0, message.size());
  message[0] = std::byte{static_cast<std::uint8_t>(kind)};
  message[4] = std::byte{sequence_};
  // Where the data is, or is to go: the same place at both ends of this benchmark, but it is sent each time.
  const std::uint64_t address = kind == Control::reply ? layout_.in : Layout::out;
  std::memcpy(message.data() + 8, &address, sizeof address);
  Request request;
  request.operation = Operation::send;
  request.local = at;
  request.length = kind == Control::data ? message_length(options_) : kControlSize;
  request.signaled = false;
  connection_.post(request);
  if (on_path) ++trips_;
}

// A stream has no message boundaries: what comes next is told to it. Over verbs the ring is posted already.
void Exchange::expect(std::size_t length) {
  expect_here(layout_.ring + next_slot_ * layout_.stride, length);
}

void Exchange::expect_here(std::size_t offset, std::size_t length) {
  if (options_.stream) connection_.post_receive(offset, length);
}

std::span<std::byte> Exchange::slot() const {
  return connection_.memory().subspan(layout_.ring + next_slot_ * layout_.stride, layout_.stride);
}

// The slot may be used again.
void Exchange::consume() {
  if (!options_.stream) connection_.post_receive(layout_.ring + next_slot_ * layout_.stride, message_length(options_));
  next_slot_ = (next_slot_ + 1) % kSlots;
}

void Exchange::check(Control wanted) const {
  const auto kind = static_cast<Control>(std::to_integer<std::uint8_t>(slot()[0]));
  if (kind != wanted)
    throw std::runtime_error(fmt::format("the peer sent {} where {} was due", name_of(kind), name_of(wanted)));
}

void Exchange::verify_last() const {
  if (sequence_ == 0) return;
  if (const auto fault = pingpong::find_fault(in_, incoming_, sequence_, 0)) throw std::runtime_error(*fault);
}

}  // namespace longhaul::workloads::rendezvous
