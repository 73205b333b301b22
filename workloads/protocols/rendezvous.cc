#include "workloads/protocols/rendezvous.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>

namespace longhaul::workloads::rendezvous {
namespace {

using pingpong::Direction;

constexpr std::size_t kControls = 16;
constexpr std::uint32_t kSlots = 4;    // FIN and the next START may be there at once
constexpr std::uint32_t kSends = 160;  // a request for each pair of segments, and the messages between

// The longest that comes through the ring.
std::size_t message_length(const Options& options) {
  return options.protocol == Protocol::eager ? kHeaderSize + options.reuse.longest : kControlSize;
}

}  // namespace

Layout::Layout(const Options& options)
    : bounce(whole_pages(kControls * kControlSize)),
      stride(whole_pages(message_length(options))),
      ring(bounce + stride),
      out(ring + kSlots * stride),
      in(out + whole_pages(options.reuse.area)),
      total(in + whole_pages(options.reuse.area)) {}

Protocol protocol_of(const std::string& word) {
  if (word == "write") return Protocol::write;
  return word == "read" ? Protocol::read : Protocol::eager;
}

Attempt<ConnectionPlan> plan_of(const Options& options) {
  if (options.stream && options.protocol == Protocol::read)
    return unsupported("a socket's memory cannot be read remotely: over tcp take --protocol eager or write");
  if (options.strategy.registers() && options.protocol == Protocol::eager)
    return unsupported("eager messages are copied through buffers that are registered once: no --strategy {} there",
                       options.strategy.strategy);
  const Layout layout{options};
  ConnectionPlan plan;
  plan.memory = options.strategy.registers() ? layout.out : layout.total;
  plan.application = layout.total - plan.memory;
  plan.message = options.reuse.longest + kHeaderSize;
  plan.in_flight = plan.message;
  if (options.strategy.registers()) plan.sends = kSends;
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
      outgoing_(client_ ? Direction::ping : Direction::pong),
      incoming_(client_ ? Direction::pong : Direction::ping),
      buffers_(connection, options.strategy) {
  fill(connection.memory().subspan(layout_.out), options_.reuse, outgoing_);
  if (!client_) await_message();
}

void Exchange::reset() {
  trips_ = operations_ = 0;
  buffers_.reset();
}

void Exchange::start() {
  ++operations_;
  send_message();
}

bool Exchange::advance() {
  std::array<Completion, 1> done;
  while (connection_.poll(done) == 1)
    if (handle(done.front())) return true;
  return false;
}

void Exchange::send_message() {
  ++sent_;
  const auto& extent = outgoing();
  const auto message = connection_.memory().subspan(layout_.out + extent.offset, extent.length);
  pingpong::stamp(message, pingpong::stamp_of(sent_));
  if (options_.protocol == Protocol::eager) {
    auto bounce = connection_.memory().subspan(layout_.bounce);
    std::memcpy(bounce.data() + kHeaderSize, message.data(), message.size());
    control(Control::data, true);
    await_message();
    return;
  }
  auto source = buffers_.begin(layout_.out + extent.offset, extent.length);
  buffers_.complete(source);
  const bool tells = options_.protocol == Protocol::read;
  control(Control::start, true, tells ? segments_of(source.pieces()) : std::vector<Segment>{});
  sources_.push_back(std::move(source));
  step_ = tells ? Step::await_fin : Step::await_reply;
  expect(kHeaderSize);
  buffers_.tidy();
}

void Exchange::await_message() {
  const bool eager = options_.protocol == Protocol::eager;
  step_ = eager ? Step::await_data : Step::await_start;
  expect(eager ? kHeaderSize + incoming().length : kHeaderSize);
}

// True: an operation of the client is complete, or the server has answered.
bool Exchange::received() {
  const auto message = connection_.memory().subspan(layout_.in + incoming().offset, incoming().length);
  const auto wanted = pingpong::stamp_of(++received_);
  pingpong::check_stamp(message, wanted, "message", wanted);
  step_ = Step::idle;
  if (!client_) send_message();
  return true;
}

bool Exchange::handle(const Completion& completion) {
  if (completion.kind == Completion::Kind::sent) {  // asked for where a source has to be released
    sources_.pop_front();
    return false;
  }
  if (completion.kind == Completion::Kind::fetched) {
    if (--fetching_ > 0 || !target_.complete()) return false;
    control(Control::fin, false);
    return placed();
  }
  switch (step_) {
    case Step::await_reply:
      write_to(take(Control::reply).segments);
      await_message();
      return false;
    case Step::await_fin:
      take(Control::fin);
      sources_.pop_front();
      await_message();
      return false;
    case Step::await_data: {
      std::ignore = decode(slot(), Control::data);
      std::memcpy(connection_.memory().data() + layout_.in + incoming().offset, slot().data() + kHeaderSize,
                  incoming().length);
      consume();
      return received();
    }
    case Step::await_start: {
      auto segments = take(Control::start).segments;
      target_ = buffers_.begin(layout_.in + incoming().offset, incoming().length);
      if (options_.protocol == Protocol::read) {
        fetch_from(std::move(segments));
        return false;
      }
      buffers_.complete(target_);
      step_ = Step::await_placed;
      if (options_.stream)
        expect_here(layout_.in + incoming().offset, incoming().length);
      else
        expect(kHeaderSize);
      control(Control::reply, true, options_.stream ? std::vector<Segment>{} : segments_of(target_.pieces()));
      return false;
    }
    case Step::await_placed:
      if (!options_.stream) take(Control::fin);
      return placed();
    case Step::idle:
    case Step::fetching:
      throw std::runtime_error("the peer sent a message out of turn");
  }
  return false;
}

// The message is in its buffer, which the adapter needs no more.
bool Exchange::placed() {
  target_ = {};
  return received();
}

void Exchange::write_to(const std::vector<Segment>& segments) {
  ++trips_;
  const auto from = layout_.out + outgoing().offset;
  if (options_.stream) {
    connection_.post({.operation = Operation::send, .local = from, .length = outgoing().length, .signaled = false});
    sources_.pop_front();
    return;
  }
  auto parts = requests_between(Operation::write, sources_.back().pieces(), from, segments);
  if (parts.empty()) throw std::runtime_error("the peer's REPLY names no place for the message");
  for (auto& part : parts) {
    part.more = true;
    part.signaled = false;
  }
  // Before it is acknowledged the source must stay registered.
  parts.back().signaled = options_.strategy.registers();
  for (const auto& part : parts) connection_.post(part);
  control(Control::fin, false);
  if (!options_.strategy.registers()) sources_.pop_front();
}

void Exchange::fetch_from(std::vector<Segment> segments) {
  if (segments.empty()) throw std::runtime_error("the peer's START does not say where the message is");
  trips_ += 2;
  step_ = Step::fetching;
  std::vector<BufferPiece> under_way;
  if (options_.pipelining) {
    under_way = target_.pieces();
    fetch(under_way, segments);
  }
  buffers_.complete(target_);
  auto rest = target_.pieces();
  std::erase_if(rest, [&](const BufferPiece& piece) {
    return std::any_of(under_way.begin(), under_way.end(),
                       [&](const BufferPiece& other) { return other.offset == piece.offset; });
  });
  fetch(rest, segments);
}

void Exchange::fetch(const std::vector<BufferPiece>& into, const std::vector<Segment>& from) {
  for (const auto& part : requests_between(Operation::read, into, layout_.in + incoming().offset, from)) {
    connection_.post(part);
    ++fetching_;
  }
}

void Exchange::control(Control kind, bool on_path, const std::vector<Segment>& segments) {
  const auto at = kind == Control::data ? layout_.bounce : Layout::control + next_control_ * kControlSize;
  next_control_ = (next_control_ + 1) % kControls;
  const auto stamp = pingpong::stamp_of(std::max<std::uint64_t>(1, sent_));
  Request request;
  request.operation = Operation::send;
  request.local = at;
  request.length = encode(connection_.memory().subspan(at, kControlSize), kind, stamp, segments);
  if (kind == Control::data) request.length += outgoing().length;
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

Message Exchange::take(Control wanted) {
  auto message = decode(slot(), wanted);
  consume();
  return message;
}

// The slot may be used again.
void Exchange::consume() {
  if (!options_.stream) connection_.post_receive(layout_.ring + next_slot_ * layout_.stride, message_length(options_));
  next_slot_ = (next_slot_ + 1) % kSlots;
}

void Exchange::verify_last() const {
  if (received_ == 0 || !options_.reuse.disjoint) return;
  const auto& extent = options_.reuse.at(received_ - 1);
  const auto message = connection_.memory().subspan(layout_.in + extent.offset, extent.length);
  if (const auto fault =
          pingpong::find_fault(message, incoming_, pingpong::stamp_of(received_), options_.reuse.payload))
    throw std::runtime_error(*fault);
}

}  // namespace longhaul::workloads::rendezvous
