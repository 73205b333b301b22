#include "workloads/suite/transfer/sockets.hh"

#include <array>
#include <stdexcept>

#include "observe/clock.hh"
#include "workloads/protocols/payload.hh"

namespace longhaul::workloads::transfer {
namespace {

using frrwp::Kind;
using pingpong::Direction;

constexpr std::size_t kOut = 0;
constexpr std::size_t kIn = 2048;
constexpr std::size_t kData = 4096;
// A stream has no message boundaries: START and CLOSED have one length.
constexpr std::size_t kLength = 128;

Direction pattern(bool write) {
  return write ? Direction::ping : Direction::pong;
}

}  // namespace

Attempt<ConnectionPlan> sockets_plan(const Reuse& reuse) {
  ConnectionPlan plan;
  plan.memory = kData + reuse.area;
  plan.message = reuse.longest;
  plan.in_flight = reuse.longest + 2 * kLength;
  return plan;
}

SocketTransfer::SocketTransfer(Connection& connection, const Reuse& reuse, bool write, Role role)
    : connection_(connection), reuse_(reuse), write_(write), role_(role) {
  if (source()) fill(connection_.memory().subspan(kData), reuse_, pattern(write_));
  if (!client()) expect();
}

std::span<std::byte> SocketTransfer::data() const {
  return connection_.memory().subspan(kData + extent().offset, extent().length);
}

void SocketTransfer::start() {
  ++number_;
  moments_ = {};
  moments_.started = observe::raw_time();
  if (write_) {
    send_data();
    step_ = Step::closed;
  } else {
    moments_.told = observe::raw_time();
    send_message(Kind::start);
    step_ = Step::data;
  }
  expect();
}

void SocketTransfer::send_data() {
  pingpong::stamp(data(), pingpong::stamp_of(number_));
  connection_.post(
      {.operation = Operation::send, .local = kData + extent().offset, .length = extent().length, .signaled = false});
}

void SocketTransfer::send_message(Kind kind) {
  frrwp::encode(connection_.memory().subspan(kOut, kLength),
                {.kind = kind, .tag = number_, .length = 0, .segments = {}, .moments = moments_, .reason = {}});
  connection_.post({.operation = Operation::send, .local = kOut, .length = kLength, .signaled = false});
}

// A stream has to be told the length of what comes next.
void SocketTransfer::expect() {
  if (step_ == Step::start && write_) {  // the server's: the data says it all
    ++number_;
    step_ = Step::data;
  }
  if (step_ == Step::data)
    connection_.post_receive(kData + extent().offset, extent().length);
  else
    connection_.post_receive(kIn, kLength);
}

bool SocketTransfer::advance() {
  std::array<Completion, 1> done;
  while (connection_.poll(done) == 1)
    if (done.front().kind == Completion::Kind::received && came(observe::raw_time())) return true;
  return false;
}

// True: an operation of the client is complete, or the server has answered.
bool SocketTransfer::came(observe::RawTime now) {
  switch (step_) {
    case Step::start:  // at the server, of a read
      ++number_;
      moments_ = {};
      moments_.started = now;
      send_data();
      send_message(Kind::closed);
      expect();
      return true;
    case Step::data: {
      pingpong::check_stamp(data(), pingpong::stamp_of(number_), "transfer", number_);
      moments_.arrived = now;
      if (client()) {
        step_ = Step::closed;
        expect();
        return false;
      }
      send_message(Kind::closed);
      moments_ = {};
      step_ = Step::start;
      expect();
      return true;
    }
    case Step::closed: {
      const auto message = frrwp::decode(connection_.memory().subspan(kIn, kLength));
      if (!message) throw std::runtime_error(message.error().message);
      if (on_closed) on_closed(number_, moments_, message->moments);
      return true;
    }
  }
  return false;
}

void SocketTransfer::verify_last() const {
  // The server of a write awaits the next already.
  const auto last = write_ && !client() ? number_ - 1 : number_;
  if (last == 0 || source() || !reuse_.disjoint) return;
  const auto& extent = reuse_.at(last - 1);
  const auto bytes = connection_.memory().subspan(kData + extent.offset, extent.length);
  if (const auto fault = pingpong::find_fault(bytes, pattern(write_), pingpong::stamp_of(last), reuse_.payload))
    throw std::runtime_error(*fault);
}

}  // namespace longhaul::workloads::transfer
