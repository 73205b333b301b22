#include "workloads/protocols/stream.hh"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "common/error.hh"
#include "observe/clock.hh"
#include "workloads/protocols/payload.hh"

namespace longhaul::workloads::stream {
namespace {

using namespace std::chrono_literals;
using pingpong::Direction;

constexpr std::size_t kMemory = std::size_t{32} << 20;
constexpr std::size_t kMostSlots = 1024;
constexpr std::size_t kMostReceives = 512;
constexpr std::size_t kCredit = sizeof(std::uint64_t);
constexpr std::size_t kMostTelling = 8;
constexpr std::uint8_t kFilled = 171;        // a sequence like any other
constexpr std::size_t kSocketsUnderWay = 4;  // the kernel's buffer is the queue
constexpr Nanoseconds kCatchUp = 100ms;      // that a paced sender may be behind
constexpr Nanoseconds kLong = 1s;            // for a round, next to which the ends of what is counted are short
constexpr std::size_t kPiecesOfAMessage = 4;
constexpr std::size_t kUnbounded = std::size_t{1} << 30;

std::span<std::byte> slot(std::span<std::byte> memory, std::size_t size, std::size_t index) {
  return memory.subspan(index * size, size);
}

std::string corrupted(int first, int last) {
  return fmt::format("corrupted payload: a message came with {} as its first and {} as its last byte", first, last);
}

}  // namespace

std::size_t slots_of(const Options& options) {
  const auto room = std::clamp(kMemory / options.size, std::size_t{2}, kMostSlots);
  const auto slots = options.depth == 0 ? room : std::min(room, options.depth);
  return options.op == "send" ? std::min(slots, kMostReceives) : slots;
}

std::size_t credit_offset(const Options& options) {
  return (slots_of(options) * options.size + kCredit - 1) / kCredit * kCredit;
}

std::size_t slots_offset(const Options& options) {
  return options.strategy.registers() ? registration::kPageSize : 0;
}

Attempt<ConnectionPlan> plan_of(const Options& options, Role role, std::size_t connections) {
  if (options.strategy.registers() && options.op != "write" && options.op != "read")
    return unsupported(
        "--strategy is for --op write and read: what is sent comes out of buffers that are registered once");
  ConnectionPlan plan;
  plan.connections = connections;
  plan.message = options.size;
  plan.memory = slots_of(options) * options.size;
  // Without a depth of its own the bandwidth-delay product decides.
  plan.in_flight = options.depth == 0 ? kUnbounded : options.depth * options.size;
  if (options.depth > 0) plan.sends = static_cast<std::uint32_t>(options.depth + 1);
  // Only where the messages come from: at their target whatever is there has arrived.
  if (role == (options.op == "read" ? Role::server : Role::client))
    plan.prepare = [options, offset = role == Role::client ? slots_offset(options) : 0](std::span<std::byte> memory) {
      for (std::size_t i = 0; i < slots_of(options); ++i)
        pingpong::fill(slot(memory.subspan(offset), options.size, i), Direction::ping, kFilled, options.payload);
    };
  if (options.op == "write" || options.op == "send") plan.memory = credit_offset(options) + kCredit;
  if (role == Role::client && options.strategy.registers()) {
    plan.application = slots_of(options) * options.size;
    plan.memory = slots_offset(options);
  }
  if (options.op == "stream") {
    plan.receives = 1;
    plan.receive_length = options.size;
  }
  if (options.op == "send" && role == Role::server) {
    plan.receives = static_cast<std::uint32_t>(slots_of(options));
    plan.receive_length = plan.receive_stride = options.size;
  }
  return plan;
}

void Meter::count(std::size_t bytes, observe::RawTime now, std::size_t arrivals) {
  const auto before = arrivals_;
  arrivals_ += arrivals;
  const auto add = [&](Since& since, std::uint64_t number) {
    if (before < number && number <= arrivals_)
      since = {.begin = now};
    else
      since.bytes += static_cast<double>(bytes * arrivals);
  };
  add(first_, 1);
  add(behind_, round_);
  last_ = now;
}

bool Meter::enough() const {
  return arrivals_ >= begun_ + (kRounds - 1) * round_ ||
         (arrivals_ >= begun_ + round_ && last_ - behind_.begin >= kLong);
}

void Meter::begin_behind(std::uint64_t arrivals, std::size_t bytes, observe::RawTime now) {
  begun_ = std::min(arrivals_, arrivals);
  behind_ = {.begin = now, .bytes = static_cast<double>((arrivals_ - begun_) * bytes)};
}

double Meter::rate() const {
  const auto& since = arrivals_ < begun_ + round_ ? first_ : behind_;
  return last_ > since.begin ? since.bytes * 8 / ratio(last_ - since.begin, 1s) : 0;
}

std::function<bool(std::uint64_t arrivals)> rounds(std::size_t lanes, std::size_t round) {
  return [least = kRounds * lanes * round](std::uint64_t arrivals) { return arrivals >= least; };
}

double rate_of(const std::vector<Meter>& lanes) {
  double rate = 0;
  for (const auto& one : lanes) rate += one.rate();
  return rate;
}

std::uint64_t arrivals_of(const std::vector<Meter>& lanes) {
  std::uint64_t arrivals = 0;
  for (const auto& one : lanes) arrivals += one.arrivals();
  return arrivals;
}

Poster::Poster(Connection& connection, const Options& options, Meter& meter)
    : connection_(connection),
      options_(options),
      meter_(meter),
      slots_(slots_of(options)),
      credited_(options.op == "send"),
      base_(slots_offset(options)),
      buffers_(connection, options.strategy) {
  const auto queue = static_cast<std::size_t>(std::max<std::int64_t>(connection.facts().queue_depth - 1, 1));
  depth_ = options.op == "stream" ? kSocketsUnderWay : queue;
  // A message may lie in several regions, and each takes a place in the queue.
  if (options.strategy.registers()) depth_ = std::max<std::size_t>(queue / kPiecesOfAMessage, 1);
  if (options.depth > 0) depth_ = std::min(depth_, options.depth);
  depth_ = std::min(depth_, slots_);
  if (options.op != "stream" && options.depth == 0) limit_.emplace(depth_, options.round_trip);
}

bool Poster::has_credit() {
  if (!credited_) return true;
  // The peer's adapter writes there.
  auto* const counter = reinterpret_cast<std::uint64_t*>(connection_.memory().data() + credit_offset(options_));
  return posted_ < slots_ + std::atomic_ref{*counter}.load(std::memory_order_acquire);
}

void Poster::post() {
  const auto next = static_cast<std::size_t>(posted_ % slots_);
  Request request;
  request.operation = options_.op == "write"  ? Operation::write
                      : options_.op == "read" ? Operation::read
                                              : Operation::send;
  request.remote = next * options_.size;
  request.local = base_ + request.remote;
  request.length = options_.size;
  if (request.operation != Operation::read) {
    sequence_ = pingpong::next_sequence(sequence_);
    pingpong::stamp(connection_.memory().subspan(request.local, request.length), sequence_);
  }
  if (options_.strategy.registers())
    post_piecewise(request);
  else
    connection_.post(request);
  ++under_way_;
  ++posted_;
}

void Poster::post_piecewise(Request request) {
  const auto begins = request.local;
  const auto target = request.remote;
  auto use = buffers_.begin(begins, request.length);
  buffers_.complete(use);
  for (const auto& piece : use.pieces()) {
    request.local = piece.offset;
    request.remote = target + (piece.offset - begins);
    request.length = piece.length;
    request.local_key = piece.keys->local;
    connection_.post(request);
  }
  const auto pieces = use.pieces().size();
  in_use_.emplace_back(std::move(use), pieces);
  buffers_.tidy();
}

std::size_t Poster::retire(std::size_t count) {
  if (!options_.strategy.registers()) return count;
  std::size_t messages = 0;
  for (; count > 0; --count) {
    if (--in_use_.front().second > 0) continue;
    in_use_.pop_front();
    ++messages;
  }
  return messages;
}

void Poster::fill() {
  if (wanted_ == 0 || !has_credit()) return;
  post();
  --wanted_;
}

void Poster::start() {
  if (options_.interval > 0ns) {
    waiting_ = true;
    return;
  }
  wanted_ = most_under_way() - std::min(most_under_way(), under_way_);
  fill();
}

bool Poster::advance() {
  if (waiting_) {
    const auto now = observe::raw_time();
    if (now < due_.value_or(now)) return false;
    waiting_ = false;
    // A delay by the path is made good for, so that the rate is kept where it can be; but within a limit.
    due_ = std::max(due_.value_or(now) + options_.interval, now - kCatchUp);
    post();
  }
  fill();
  const auto found = look();
  const auto now = observe::raw_time();
  const auto count = retire(found.complete);
  under_way_ -= count;
  if (count > 0) meter_.count(options_.size, now, count);
  if (count > 0 && limit_) limit_->delivered(count, posted_, now);
  ask(found.answered, now);
  return count > 0 || found.answered;
}

Poster::Look Poster::look() {
  // All: what waited in the completion queue would be counted when the stream is over.
  Look all;
  std::array<Completion, 16> done;
  for (std::size_t found = done.size(); found == done.size();) {
    found = connection_.poll(done);
    for (const auto& one : std::span{done}.first(found)) {
      if (options_.op == "write" && one.kind == Completion::Kind::fetched)
        all.answered = true;
      else
        ++all.complete;
    }
  }
  return all;
}

void Poster::ask(bool answered, observe::RawTime now) {
  if (answered && asked_) {
    meter_.begin_behind(*asked_, options_.size, now);
    asked_.reset();
  }
  if (!asks_ || meter_.arrivals() < round()) return;
  ask_whether_in_place();
  asked_ = meter_.arrivals() + under_way_;
  asks_ = false;
}

void Poster::ask_whether_in_place() {
  const auto local = options_.strategy.registers() ? 0 : credit_offset(options_);
  connection_.post({.operation = Operation::read, .local = local, .length = 1, .remote = credit_offset(options_)});
}

bool Poster::answered() {
  if (!look().answered) return false;
  if (options_.in_place) meter_.there_at(observe::raw_time());
  return true;
}

void flush(std::span<Poster* const> posters, Nanoseconds timeout) {
  const auto deadline = observe::raw_time() + timeout;
  for (auto* poster : posters) poster->ask_whether_in_place();
  for (auto* poster : posters)
    while (!poster->answered())
      if (observe::raw_time() > deadline) throw_errno("wait until what was written is in place", ETIMEDOUT);
}

Receiver::Receiver(Connection& connection, const Options& options, Meter& meter)
    : connection_(connection),
      options_(options),
      meter_(meter),
      grants_(options.op == "send"),
      slots_(grants_ ? slots_of(options) : 1) {}

void Receiver::take() {
  const auto next = static_cast<std::size_t>(again_ % slots_);
  sequence_ = pingpong::next_sequence(sequence_);
  const auto message = slot(connection_.memory(), options_.size, next);
  if (message.front() != std::byte{sequence_} || message.back() != std::byte{sequence_})
    throw std::runtime_error(corrupted(std::to_integer<int>(message.front()), std::to_integer<int>(message.back())));
  meter_.count(options_.size, observe::raw_time());
  connection_.post_receive(next * options_.size, options_.size);
  ++again_;
}

void Receiver::grant() {
  const auto step = std::max<std::uint64_t>(1, slots_ / 4);
  if (!grants_ || again_ - told_ < step || telling_ == kMostTelling) return;
  const auto offset = credit_offset(options_);
  std::memcpy(connection_.memory().data() + offset, &again_, kCredit);
  connection_.post({.operation = Operation::write, .local = offset, .length = kCredit, .remote = offset});
  told_ = again_;
  ++telling_;
}

bool Receiver::advance() {
  std::array<Completion, 16> done;
  const auto room = std::span{done}.first(grants_ ? done.size() : 1);
  const auto count = connection_.poll(room);
  bool took = false;
  for (const auto& completion : room.first(count)) {
    if (completion.kind == Completion::Kind::received) {
      take();
      took = true;
    } else {
      --telling_;
    }
  }
  if (took) grant();
  return took;
}

void verify(std::span<const std::byte> memory, const Options& options) {
  std::size_t came = 0;
  for (std::size_t i = 0; i < slots_of(options); ++i) {
    const auto message = memory.subspan(i * options.size, options.size);
    const auto sequence = std::to_integer<std::uint8_t>(message.back());
    if (sequence == 0 && message.front() == std::byte{0}) continue;  // never used
    ++came;
    if (const auto fault = pingpong::find_fault(message, Direction::ping, sequence, options.payload))
      throw std::runtime_error(*fault);
  }
  if (came == 0) throw std::runtime_error("nothing of the stream is in the target's memory");
}

}  // namespace longhaul::workloads::stream
