#include "workloads/protocols/frrwp/transfer.hh"

#include <fmt/format.h>

#include "observe/clock.hh"

namespace longhaul::workloads::frrwp {

Transfer::Transfer(Port& port, Connection& connection, std::size_t area, const Options& options, Role role)
    : port_(port),
      connection_(connection),
      area_(area),
      options_(options),
      role_(role),
      pattern_(options.direction == Direction::write ? pingpong::Direction::ping : pingpong::Direction::pong),
      buffers_(connection, options.strategy) {
  if (source()) {
    fill(connection_.memory().subspan(area_), options_.reuse, pattern_);
  } else if (ahead()) {
    for (std::uint64_t i = 0; i < options_.credits; ++i) advertise();
  }
}

void Transfer::reset() {
  computations_ = {};
  buffers_.reset();
}

void Transfer::start() {
  begin(tag_ + 1, observe::raw_time());
  try {
    proceed();
  } catch (const TransferFailed&) {
    throw;
  } catch (const std::runtime_error& error) {
    give_up(error.what(), true);
  }
}

bool Transfer::advance() {
  while (auto event = port_.next())
    if (handle(*event)) return true;
  return false;
}

void Transfer::begin(Tag tag, observe::RawTime now) {
  tag_ = tag;
  active_ = true;
  ordered_ = closed_ = false;
  moments_ = {};
  moments_.started = now;
}

void Transfer::proceed() {
  if (const auto it = refused_.find(tag_); it != refused_.end()) {
    const auto why = std::move(it->second);
    refused_.erase(it);
    throw std::runtime_error(why);
  }
  // The key that the source has of a write says all that START would.
  const bool starts = client() && !(ahead() && source());
  if (starts && overlapped()) start_message();
  prepare();
  if (starts && !overlapped()) start_message();
  offer();
}

void Transfer::start_message() {
  const bool tells = !overlapped() && !source();
  moments_.told = observe::raw_time();
  if (tells) moments_.key_sent = moments_.told;
  send(Kind::start, tells ? segments_of(use_.pieces()) : std::vector<Segment>{});
}

// The buffer becomes usable; that of an advertised key is already.
void Transfer::prepare() {
  const auto& buffer = extent(tag_);
  if (const auto it = advertised_.find(tag_); it != advertised_.end()) {
    use_ = std::move(it->second.use);
    moments_.key_sent = it->second.told;
    advertised_.erase(it);
  } else {
    if (source())
      pingpong::stamp(connection_.memory().subspan(area_ + buffer.offset, buffer.length), pingpong::stamp_of(tag_));
    moments_.registering = observe::raw_time();
    use_ = buffers_.begin(area_ + buffer.offset, buffer.length);
    buffers_.complete(use_);
    moments_.registered = observe::raw_time();
  }
}

void Transfer::offer() {
  if (source()) {
    if (conditional()) {
      ordered_ = true;
      port_.hold({tag_, use_.pieces(), area_ + extent(tag_).offset, extent(tag_).length});
    }
    if (options_.computation != nullptr && (conditional() || !keys_.contains(tag_)))
      computations_.record(options_.computation->time().count());
    write_if_ready();
    if (conditional()) buffers_.tidy();
    return;
  }
  if (moments_.key_sent != kNever) return;
  moments_.key_sent = observe::raw_time();
  send(conditional() ? Kind::stcrw : Kind::key, segments_of(use_.pieces()));
  buffers_.tidy();
}

// The sink: a buffer of a transfer to come. Where there is none, that transfer will fail.
void Transfer::advertise() {
  const auto tag = ++last_advertised_;
  const auto& buffer = extent(tag);
  auto use = buffers_.begin(area_ + buffer.offset, buffer.length);
  try {
    buffers_.complete(use);
  } catch (const std::runtime_error& error) {
    port_.send({.kind = Kind::refuse, .tag = tag, .length = 0, .segments = {}, .moments = {}, .reason = error.what()});
    return;
  }
  const auto told = observe::raw_time();
  port_.send({.kind = Kind::key,
              .tag = tag,
              .length = buffer.length,
              .segments = segments_of(use.pieces()),
              .moments = {},
              .reason = {}});
  advertised_.emplace(tag, Advertised{std::move(use), told});
}

void Transfer::write_if_ready() {
  if (!active_ || moments_.registered == kNever || ordered_) return;
  const auto it = keys_.find(tag_);
  if (it == keys_.end()) return;
  moments_.key_came = std::max(it->second.came, moments_.started);
  ordered_ = true;
  auto segments = std::move(it->second.segments);
  keys_.erase(it);
  port_.write({tag_, use_.pieces(), area_ + extent(tag_).offset, extent(tag_).length}, std::move(segments));
  buffers_.tidy();
}

// True: an operation of the client is complete, or the server has answered.
bool Transfer::handle(Event& event) {
  switch (event.kind) {
    case Event::Kind::message:
      return take(event.message, event.at);
    case Event::Kind::posted:
      if (event.tag != tag_ || !active_) return false;
      moments_.posted = event.at;
      if (event.matched != kNever) moments_.key_came = event.matched;
      return false;
    case Event::Kind::written:
      lingering_.erase(event.tag);
      if (event.tag != tag_ || !active_) return false;
      use_ = {};
      moments_.released = observe::raw_time();
      return close_if_through();
    case Event::Kind::failed:
      if (event.tag == tag_ && active_) give_up(event.reason, false);
      return false;
  }
  return false;
}

bool Transfer::take(Message& message, observe::RawTime at) {
  const bool current = active_ && message.tag == tag_;
  switch (message.kind) {
    case Kind::start:
      if (client()) throw std::runtime_error("the peer sent START, which is the client's to send");
      begin(message.tag, at);
      if (!message.segments.empty()) keys_[tag_] = {std::move(message.segments), at};
      try {
        proceed();
      } catch (const std::runtime_error& error) {
        give_up(error.what(), true);
      }
      return false;
    case Kind::key:
      if (!source()) throw std::runtime_error("the peer sent KEY to the end that has the key");
      if (!current && !ahead()) return false;  // of one that was given up
      keys_[message.tag] = {std::move(message.segments), at};
      write_if_ready();
      return false;
    case Kind::fin:
      if (source()) throw std::runtime_error("the peer sent FIN to the end that has the data");
      if (!current && ahead() && !client()) {
        begin(message.tag, at);
        prepare();
      } else if (!current) {
        return false;
      }
      data_is_here(at);
      return close_if_through();
    case Kind::closed:
      if (!current) return false;
      peer_ = message.moments;
      closed_ = true;
      return close_if_through();
    case Kind::refuse:
      if (current)
        give_up(message.reason, false);
      else if (ahead())
        refused_ahead(message);
      return false;
    case Kind::stcrw:
    case Kind::credit:
      break;
  }
  return false;
}

// Of a transfer that this end has not begun: its key will not come (source), or will not be used (sink).
void Transfer::refused_ahead(const Message& message) {
  if (source()) {
    if (message.tag > tag_) refused_[message.tag] = message.reason;
    return;
  }
  advertised_.erase(message.tag);
  if (message.tag > tag_ && message.tag <= last_advertised_) advertise();
}

void Transfer::data_is_here(observe::RawTime now) {
  const auto& buffer = extent(tag_);
  const auto data = connection_.memory().subspan(area_ + buffer.offset, buffer.length);
  pingpong::check_stamp(data, pingpong::stamp_of(tag_), "transfer", tag_);
  moments_.arrived = now;
  use_ = {};
  moments_.released = observe::raw_time();
}

// True: this end is done with the transfer.
bool Transfer::close_if_through() {
  if (moments_.released == kNever || (client() && !closed_)) return false;
  active_ = false;
  if (client()) {
    if (on_closed) on_closed(tag_, moments_, peer_);
  } else {
    port_.send({.kind = Kind::closed, .tag = tag_, .length = 0, .segments = {}, .moments = moments_, .reason = {}});
  }
  if (ahead() && !source()) advertise();
  return true;
}

// Nothing of it is left, and the next may begin.
void Transfer::give_up(const std::string& why, bool tell) {
  active_ = false;
  keys_.erase(tag_);
  if (moments_.posted != kNever && moments_.released == kNever) lingering_.emplace(tag_, std::move(use_));
  use_ = {};
  if (ordered_) port_.cancel(tag_);
  if (tell) port_.send({.kind = Kind::refuse, .tag = tag_, .length = 0, .segments = {}, .moments = {}, .reason = why});
  if (ahead() && !source()) advertise();
  if (client()) throw TransferFailed(fmt::format("transfer {}: {}", tag_, why));
}

void Transfer::send(Kind kind, std::vector<Segment> segments) {
  port_.send({.kind = kind,
              .tag = tag_,
              .length = extent(tag_).length,
              .segments = std::move(segments),
              .moments = {},
              .reason = {}});
}

void Transfer::verify_last() const {
  if (tag_ == 0 || source() || !options_.reuse.disjoint) return;
  const auto& buffer = extent(tag_);
  const auto data = connection_.memory().subspan(area_ + buffer.offset, buffer.length);
  if (const auto fault = pingpong::find_fault(data, pattern_, pingpong::stamp_of(tag_), options_.reuse.payload))
    throw std::runtime_error(*fault);
}

}  // namespace longhaul::workloads::frrwp
