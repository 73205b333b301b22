#include "workloads/protocols/frrwp/endpoint.hh"

#include <stdexcept>

#include "observe/clock.hh"

namespace longhaul::workloads::frrwp {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kSends = 512;       // of the send queue: messages, writes, and what is not yet known to be over
constexpr std::size_t kMostRequests = 128;  // of writes, with the adapter
constexpr std::uint32_t kReserve = 2;       // slots that only a word about flow control may take
constexpr std::uint32_t kQuiet = Layout::kSlots / 2;  // messages taken before that word is said
constexpr Nanoseconds kGlance = 1ms;                  // between looks for what has waited too long

}  // namespace

Layout::Layout(std::size_t bytes)
    : scratch(0),
      out(whole_pages(1)),
      in(out + kSlots * kStride),
      buffers(in + kSlots * kStride),
      total(buffers + whole_pages(bytes)) {}

ConnectionPlan plan_of(std::size_t buffers, std::size_t longest, bool registers) {
  const Layout layout{buffers};
  ConnectionPlan plan;
  plan.memory = registers ? layout.buffers : layout.total;
  plan.application = layout.total - plan.memory;
  plan.message = std::max(longest, kMessageSize);
  plan.in_flight = longest;
  plan.sends = kSends;
  plan.receives = Layout::kSlots;
  plan.receive_offset = layout.in;
  plan.receive_stride = Layout::kStride;
  plan.receive_length = Layout::kStride;
  return plan;
}

Endpoint::Endpoint(Connection& connection, const Layout& layout, Nanoseconds patience)
    : connection_(connection), layout_(layout), matcher_(patience) {}

void Endpoint::send(Message message) {
  if (!backlog_.empty() || !post_message(message)) backlog_.emplace_back(std::move(message));
}

void Endpoint::write(WriteOrder order, std::vector<Segment> segments) {
  submit({std::move(order), std::move(segments), kNever});
}

void Endpoint::hold(WriteOrder order) {
  perform(matcher_.post(std::move(order), observe::raw_time()));
}

void Endpoint::cancel(Tag tag) {
  perform(matcher_.cancel(tag));
}

void Endpoint::submit(Submit submit) {
  if (!backlog_.empty() || !post_write(submit)) backlog_.emplace_back(std::move(submit));
}

void Endpoint::perform(std::vector<Action> actions) {
  for (auto& action : actions) {
    if (auto* const matched = std::get_if<Submit>(&action)) {
      submit(std::move(*matched));
    } else if (auto* const failed = std::get_if<Fail>(&action)) {
      events_.push_back({.kind = Event::Kind::failed, .message = {}, .tag = failed->tag, .reason = failed->reason});
    } else {
      const auto& rejected = std::get<Reject>(action);
      send({.kind = Kind::refuse, .tag = rejected.tag, .segments = {}, .moments = {}, .reason = rejected.reason});
    }
  }
}

// True: it is on its way, and FIN behind it.
bool Endpoint::post_write(const Submit& submit) {
  if (sent_ - peer_took_ >= Layout::kSlots - kReserve) return false;
  auto parts = requests_between(Operation::write, submit.order.from, submit.order.begin, submit.segments);
  if (parts.empty()) throw std::runtime_error("the peer's key names no place for the data");
  if (requests_ > 0 && requests_ + parts.size() > kMostRequests) return false;
  for (auto& part : parts) {
    part.more = true;
    part.signaled = false;
  }
  // Before it is acknowledged the buffer must stay as it is.
  parts.back().signaled = true;
  // A software provider may send all of it before it returns.
  const auto posted = observe::raw_time();
  for (const auto& part : parts) connection_.post(part);
  Message fin{.kind = Kind::fin,
              .tag = submit.order.tag,
              .length = submit.order.length,
              .segments = {},
              .moments = {},
              .reason = {}};
  post_message(fin);
  writing_.push_back({submit.order.tag, parts.size()});
  requests_ += parts.size();
  events_.push_back({.kind = Event::Kind::posted,
                     .message = {},
                     .tag = submit.order.tag,
                     .at = posted,
                     .matched = submit.matched,
                     .reason = {}});
  return true;
}

// A slot is free again when the peer has taken the message that was there.
bool Endpoint::post_message(Message& message) {
  const auto under_way = sent_ - peer_took_;
  if (under_way >= Layout::kSlots - (message.kind == Kind::credit ? 0 : kReserve)) return false;
  const auto at = layout_.out + sent_ % Layout::kSlots * Layout::kStride;
  message.taken = told_ = taken_;
  Request request;
  request.operation = Operation::send;
  request.local = at;
  request.length = encode(connection_.memory().subspan(at, Layout::kStride), message);
  request.signaled = false;
  connection_.post(request);
  ++sent_;
  return true;
}

void Endpoint::drain() {
  while (!backlog_.empty()) {
    auto& first = backlog_.front();
    auto* const message = std::get_if<Message>(&first);
    if (!(message != nullptr ? post_message(*message) : post_write(std::get<Submit>(first)))) return;
    backlog_.pop_front();
  }
}

std::optional<Event> Endpoint::next() {
  if (events_.empty()) {
    std::array<Completion, 1> done;
    while (events_.empty() && connection_.poll(done) == 1) {
      if (done.front().kind == Completion::Kind::received) {
        take();
      } else {
        const auto written = writing_.front();
        writing_.pop_front();
        requests_ -= written.requests;
        events_.push_back({.kind = Event::Kind::written, .message = {}, .tag = written.tag, .reason = {}});
      }
      if (!backlog_.empty()) drain();
    }
    if (events_.empty() && matcher_.deadline()) {
      const auto now = observe::raw_time();
      if (now >= glance_) {
        glance_ = now + kGlance;
        perform(matcher_.expire(now));
      }
    }
  }
  if (events_.empty()) return std::nullopt;
  auto event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void Endpoint::take() {
  const auto now = observe::raw_time();
  const auto at = layout_.in + taken_ % Layout::kSlots * Layout::kStride;
  auto message = decode(connection_.memory().subspan(at, Layout::kStride));
  if (!message) throw std::runtime_error(message.error().message);
  connection_.post_receive(at, Layout::kStride);
  ++taken_;
  peer_took_ = message->taken;
  say_taken();
  switch (message->kind) {
    case Kind::credit:
      return;
    case Kind::stcrw:
      perform(matcher_.key(message->tag, message->length, std::move(message->segments), now));
      return;
    case Kind::refuse:
      perform(matcher_.refused(message->tag, message->reason));
      break;
    default:
      break;
  }
  events_.push_back({.kind = Event::Kind::message, .message = std::move(*message), .tag = 0, .at = now, .reason = {}});
}

// A peer that only sends would wait for ever otherwise.
void Endpoint::say_taken() {
  if (taken_ - told_ < kQuiet) return;
  Message credit{.kind = Kind::credit, .segments = {}, .moments = {}, .reason = {}};
  post_message(credit);
}

}  // namespace longhaul::workloads::frrwp
