#include "workloads/protocols/rpc/client.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "workloads/protocols/rpc/chunks.hh"

namespace longhaul::workloads::rpc {

void Client::start(std::size_t thread) {
  for (const auto line : caller_.start(thread)) begin(line);
  if (done(thread)) ++found_;
  send_ready();
}

bool Client::idle(std::size_t thread) const {
  for (auto line = thread * kept_; line < (thread + 1) * kept_; ++line)
    if (!over(line)) return false;
  return true;
}

void Client::reset() {
  caller_.reset();
  found_ = 0;
}

RdmaClient::RdmaClient(Connection& connection, const Options& options)
    : Client(options),
      connection_(connection),
      options_(options),
      layout_(options, Role::client, false),
      plan_(plan_call(options.design, shape_of(options.handles, call_of(options, 0)), options.threshold,
                      options.long_calls)),
      buffers_(connection, options.client_buffers),
      sends_(layout_.out, layout_.stride, layout_.out_slots),
      reads_(options.ord),
      calls_(options.lines()),
      application_(options.copy || options.long_calls ? options.lines() : 0, std::vector<std::byte>(options.size)) {
  if (plan_.long_call && !options.long_calls)
    throw std::runtime_error(fmt::format("calls of {} bytes do not fit into messages of {}: raise --inline",
                                         shape_of(options.handles, call_of(options, 0)).message, options.threshold));
  for (std::size_t i = 0; i < layout_.in_slots; ++i) receives_.push_back(layout_.in + i * layout_.stride);
}

void RdmaClient::reset() {
  Client::reset();
  trips_ = finished_ = 0;
  buffers_.reset();
}

double RdmaClient::trips() const {
  return finished_ == 0 ? 0 : static_cast<double>(trips_) / static_cast<double>(finished_);
}

double RdmaClient::ceiling(Nanoseconds round_trip) const {
  const Window window{.threads = options_.lines() * options_.clients,
                      .credits = options_.credits * options_.clients,
                      .segments = segments_,
                      .ord = options_.ord * options_.clients,
                      .server_threads = options_.blocking ? options_.server_threads : 0};
  return rpc::ceiling(window, plan_, way_, round_trip);
}

void RdmaClient::start(std::size_t thread) {
  Client::start(thread);
  buffers_.tidy();  // while the calls are on their way
}

void RdmaClient::send_ready() {
  for (; !dones_.empty() && !sends_.full(); dones_.pop_front()) send_done(dones_.front());
  while (!sends_.full()) {
    const auto& lines = caller_.next(options_.design == Design::push ? options_.kept() : 1);
    if (lines.empty()) return;
    if (lines.size() == 1)
      send_call(lines.front());
    else
      send_row(lines);
  }
}

void RdmaClient::send_call(std::size_t line) {
  auto& call = calls_[line];
  const auto& operation = caller_.call(line);
  call.plan = plan_of(operation);
  call.sent = false;
  Header header{.xid = operation.xid, .credits = caller_.credits()};
  const auto payload = payload_of(line, operation);
  if (call.plan.long_call) return send_long(line, payload);
  if (call.plan.read_chunk || call.plan.write_chunk || call.plan.reply_chunk) {
    auto chunk = offer(line, operation.size + (call.plan.reply_chunk ? kMostMessage : 0));
    call.plan.pushed = call.plan.read_chunk && push(line, header);
    if (call.plan.read_chunk && !call.plan.pushed)
      for (const auto& segment : chunk) header.reads.push_back({0, segment});
    else if (call.plan.write_chunk)
      header.writes.push_back(std::move(chunk));
    else if (call.plan.reply_chunk)
      header.reply = std::move(chunk);
  }
  const bool inside = !call.plan.read_chunk;
  send_message(std::move(header), operation, inside ? payload : std::span<const std::byte>{},
               inside ? nfs::Payload::inside : nfs::Payload::elsewhere, call.segments);
}

// READs of records that lie one behind another. Each has a chunk, however short it is.
void RdmaClient::send_row(const std::vector<std::size_t>& lines) {
  const auto& operation = caller_.call(lines.front());
  Header header{.xid = operation.xid, .credits = caller_.credits(), .kind = HeaderKind::ahead};
  std::size_t segments = 0;
  for (const auto line : lines) {
    calls_[line].plan = {.write_chunk = true};
    header.writes.push_back(offer(line, operation.size));
    segments += calls_[line].segments;
  }
  send_message(std::move(header), operation, {}, nfs::Payload::inside, segments);
}

void RdmaClient::send_message(Header header, const ClientCall& operation, std::span<const std::byte> payload,
                              nfs::Payload where, std::size_t segments) {
  const auto offset = sends_.take();
  const auto bytes = connection_.memory().subspan(offset, options_.threshold);
  // The message first: the header says where its payload would be.
  const auto begins = encoded_size(header);
  XdrWriter out{bytes.subspan(std::min(begins, bytes.size()))};
  const auto position = put_call(out, options_.handles, operation, payload, where);
  if (!out.good()) no_room(operation, segments);
  for (auto& read : header.reads) read.position = static_cast<std::uint32_t>(position);
  encode(bytes, header);
  post_message(offset, begins + out.size(), operation.xid);
}

void RdmaClient::no_room(const ClientCall& operation, std::size_t segments) const {
  throw std::runtime_error(fmt::format("{}: {} segments leave no room in messages of {} bytes: raise --inline",
                                       name_of(operation.procedure, operation.xid), segments, options_.threshold));
}

// RDMA_NOMSG: the server reads the whole call, the message is its header alone.
void RdmaClient::send_long(std::size_t line, std::span<const std::byte> payload) {
  const auto& operation = caller_.call(line);
  XdrWriter whole{bytes_of(line, layout_.buffer_stride)};
  put_call(whole, options_.handles, operation, payload, nfs::Payload::inside);
  Header header{.xid = operation.xid, .credits = caller_.credits(), .kind = HeaderKind::nomsg};
  for (const auto& segment : offer(line, whole.size())) header.reads.push_back({0, segment});
  if (encoded_size(header) > options_.threshold) no_room(operation, calls_[line].segments);
  const auto offset = sends_.take();
  const auto length = encode(connection_.memory().subspan(offset, options_.threshold), header);
  post_message(offset, length, operation.xid);
}

// The first bytes of the line's buffer, open to the server until close().
Chunk RdmaClient::offer(std::size_t line, std::size_t length) {
  auto& call = calls_[line];
  call.use = buffers_.begin(buffer_of(line), length);
  buffers_.complete(call.use);
  auto chunk = chunk_of(connection_, call.use.pieces(), length, options_.segment);
  call.segments = chunk.size();
  if (options_.misdeed == Misdeed::misleads)
    for (auto& segment : chunk) segment.handle = ~segment.handle;
  return chunk;
}

CallPlan RdmaClient::plan_of(const ClientCall& operation) const {
  if (!options_.mix) return plan_;
  return plan_call(options_.design, shape_of(options_.handles, operation), options_.threshold, options_.long_calls);
}

std::span<const std::byte> RdmaClient::payload_of(std::size_t line, const ClientCall& operation) {
  if (operation.procedure != nfs::Procedure::write) return {};
  const auto buffer = bytes_of(line, operation.size);
  const bool within = calls_[line].plan.long_call;  // its message's place is the buffer
  if (!options_.copy && !within) {
    fill_content(buffer, operation.offset);
    return buffer;
  }
  const auto own = std::span{application_[line]}.first(operation.size);
  fill_content(own, operation.offset);
  if (within) return own;
  std::copy(own.begin(), own.end(), buffer.begin());
  return buffer;
}

// The payload goes into a slot of the server's, before the call. False: the client has none, as before the first reply;
// the server has to read it then.
bool RdmaClient::push(std::size_t line, Header& header) {
  if (slots_.empty()) return false;
  header.kind = HeaderKind::slot;
  const auto size = caller_.call(line).size;
  header.slot = first_of(std::move(slots_.front()), size);
  slots_.pop_front();
  const auto& pieces = calls_[line].use.pieces();
  for (auto request : requests_to(Operation::write, pieces, buffer_of(line), size, header.slot)) {
    request.signaled = false;
    request.more = true;
    connection_.post(request);
  }
  return true;
}

void RdmaClient::post_message(std::size_t offset, std::size_t length, std::uint32_t xid) {
  sending_.push_back(xid);
  connection_.post({.operation = Operation::send, .local = offset, .length = length});
}

void RdmaClient::progress() {
  std::array<Completion, 16> all;
  const auto count = connection_.poll(all);
  for (const auto& one : std::span{all}.first(count)) {
    if (one.kind == Completion::Kind::received) {
      const auto offset = receives_.front();
      receives_.pop_front();
      receive(offset, one.length);
      if (options_.misdeed == Misdeed::stalls) continue;
      connection_.post_receive(offset, options_.threshold);
      receives_.push_back(offset);
      continue;
    }
    // Each kind completes in its order; over siw a message may be through before a read that was posted earlier.
    if (one.kind == Completion::Kind::sent) {
      sends_.retire();
      sent(sending_.front());
      sending_.pop_front();
      continue;
    }
    const auto line = reads_.completed();
    if (--calls_[line].reads_left == 0) fetched(line);
  }
  if (!closing_.empty()) conclude_closed();
  if (count == 0) return;
  post_reads();
  send_ready();
}

// A line's call before the last may be acknowledged later than it was answered.
void RdmaClient::sent(std::uint32_t xid) {
  for (std::size_t line = 0; line < calls_.size(); ++line) {
    if (caller_.call(line).xid != xid) continue;
    calls_[line].sent = true;
    if (calls_[line].state == Call::State::acknowledging) close_kept(line);
    return;
  }
}

void RdmaClient::receive(std::size_t offset, std::size_t length) {
  const auto bytes = connection_.memory().subspan(offset, length);
  const auto decoded = decode_header(bytes, Sender::server);
  if (!decoded) throw std::runtime_error(decoded.error().message);
  const auto& header = decoded->header;
  const auto line = caller_.replied(header.xid, header.credits);
  if (header.kind == HeaderKind::error)
    throw std::runtime_error(
        fmt::format("{}: the server refused its header: {}", name_of(caller_.call(line).procedure, header.xid),
                    header.fault.kind == WireFault::Kind::version
                        ? fmt::format("it speaks versions {} to {}", header.fault.low, header.fault.high)
                        : std::string{"its chunks"}));
  take_reply(line, header, bytes.subspan(decoded->size));
}

void RdmaClient::take_reply(std::size_t line, const Header& header, std::span<const std::byte> message) {
  auto& call = calls_[line];
  if (header.kind == HeaderKind::slot) take_slot(header);
  const auto keep = [&] {
    call.header = header;
    call.reply.assign(message.begin(), message.end());
  };
  if (call.plan.pushed) {
    // Not over yet where the adapter may have to send the payload again: its memory stays registered until then.
    keep();
    call.state = Call::State::acknowledging;
    if (call.sent) close_kept(line);
    return;
  }
  if (!header.reads.empty()) {
    fetch(line, header, message);
    return;
  }
  if (close(line)) return conclude(line, header, message);
  keep();
}

bool RdmaClient::close(std::size_t line) {
  auto& call = calls_[line];
  call.use = {};
  call.closing = buffers_.ended();
  if (buffers_.closed(call.closing)) return true;
  call.state = Call::State::closing;
  closing_.push_back(line);
  return false;
}

void RdmaClient::close_kept(std::size_t line) {
  if (close(line)) conclude(line, calls_[line].header, calls_[line].reply);
}

void RdmaClient::conclude_closed() {
  while (!closing_.empty() && buffers_.closed(calls_[closing_.front()].closing)) {
    const auto line = closing_.front();
    closing_.pop_front();
    conclude(line, calls_[line].header, calls_[line].reply);
  }
}

void RdmaClient::conclude(std::size_t line, const Header& header, std::span<const std::byte> message) {
  const auto& call = calls_[line];
  const auto& operation = caller_.call(line);
  if (header.kind == HeaderKind::nomsg) {
    const auto length = header.reply ? static_cast<std::size_t>(length_of(*header.reply)) : 0;
    if (!call.plan.reply_chunk || length > operation.size + kMostMessage)
      throw std::runtime_error(
          fmt::format("{}: the reply's {} bytes are nowhere", name_of(operation.procedure, operation.xid), length));
    check_reply(bytes_of(line, length), operation, nfs::Payload::inside);
    finish(line, ReplyWay::reply_chunk);
    return;
  }
  const bool elsewhere = call.plan.write_chunk && !header.writes.empty() && length_of(header.writes.front()) > 0;
  const auto reply = check_reply(message, operation, elsewhere ? nfs::Payload::elsewhere : nfs::Payload::inside);
  if (elsewhere && length_of(header.writes.front()) != reply.length)
    throw std::runtime_error(fmt::format("{}: {} bytes were written, the reply says {}",
                                         name_of(operation.procedure, operation.xid), length_of(header.writes.front()),
                                         reply.length));
  if (!elsewhere && operation.procedure == nfs::Procedure::read)
    std::copy(reply.payload.begin(), reply.payload.end(), bytes_of(line, reply.length).begin());
  finish(line, elsewhere ? ReplyWay::write_chunk : ReplyWay::inside);
}

void RdmaClient::take_slot(const Header& header) {
  if (length_of(header.slot) < options_.size)
    throw std::runtime_error(fmt::format("{}: the server grants a slot of {} bytes for payloads of {}",
                                         name_of(nfs::Procedure::write, header.xid), length_of(header.slot),
                                         options_.size));
  slots_.push_back(header.slot);
}

void RdmaClient::fetch(std::size_t line, const Header& header, std::span<const std::byte> message) {
  auto& call = calls_[line];
  const auto& operation = caller_.call(line);
  Chunk chunk;
  for (const auto& read : header.reads) chunk.push_back(read.target);
  call.length = static_cast<std::size_t>(length_of(chunk));
  call.whole = header.kind == HeaderKind::nomsg;
  if (call.length > layout_.buffer_stride)
    throw std::runtime_error(fmt::format("{}: the server offers {} bytes for a buffer of {}",
                                         name_of(operation.procedure, operation.xid), call.length,
                                         layout_.buffer_stride));
  call.reply.assign(message.begin(), message.end());
  call.use = buffers_.begin(buffer_of(line), call.length);
  buffers_.complete(call.use);
  auto requests = requests_to(Operation::read, call.use.pieces(), buffer_of(line), call.length, chunk);
  call.segments = call.reads_left = requests.size();
  call.state = Call::State::fetching;
  reads_.add(std::move(requests), line);
  post_reads();
}

void RdmaClient::post_reads() {
  while (const auto request = reads_.next()) connection_.post(*request);
}

void RdmaClient::fetched(std::size_t line) {
  auto& call = calls_[line];
  const auto& operation = caller_.call(line);
  if (options_.misdeed != Misdeed::withholds) dones_.push_back(operation.xid);  // goes out before any further call
  call.use = {};
  if (call.whole) {
    check_reply(bytes_of(line, call.length), operation, nfs::Payload::inside);
  } else {
    const auto reply = check_reply(call.reply, operation, nfs::Payload::elsewhere);
    if (reply.length != call.length)
      throw std::runtime_error(fmt::format("{}: {} bytes were offered, the reply says {}",
                                           name_of(operation.procedure, operation.xid), call.length, reply.length));
  }
  finish(line, call.whole ? ReplyWay::long_read_chunk : ReplyWay::read_chunk);
}

void RdmaClient::send_done(std::uint32_t xid) {
  const auto offset = sends_.take();
  const auto length = encode(connection_.memory().subspan(offset, options_.threshold),
                             {.xid = xid, .credits = caller_.credits(), .kind = HeaderKind::done});
  post_message(offset, length, xid);
}

void RdmaClient::finish(std::size_t line, ReplyWay way) {
  auto& call = calls_[line];
  const auto& operation = caller_.call(line);
  if (operation.procedure == nfs::Procedure::read) {
    const auto bytes = bytes_of(line, operation.size);
    if (const auto fault = content_fault_at_ends(bytes, operation.offset); !fault.empty())
      throw std::runtime_error(fmt::format("{}: {}", name_of(operation.procedure, operation.xid), fault));
    last_read_ = line;
    if (options_.copy) std::copy(bytes.begin(), bytes.end(), application_[line].begin());
  }
  trips_ += static_cast<std::uint64_t>(trips_of(way, call.plan, call.segments, options_.ord).latency);
  ++finished_;
  way_ = way;
  plan_.pushed = call.plan.pushed;
  segments_ = std::max<std::size_t>(call.segments, 1);
  call.state = Call::State::idle;
}

std::string RdmaClient::fault_of(std::size_t line) const {
  const auto& operation = caller_.call(line);
  const auto bytes =
      (options_.copy ? std::span<const std::byte>{application_[line]} : connection_.memory().subspan(buffer_of(line)))
          .first(operation.size);
  return content_fault(bytes, operation.offset);
}

void RdmaClient::verify_last() const {
  if (!last_read_ || !over(*last_read_)) return;
  if (caller_.call(*last_read_).procedure != nfs::Procedure::read) return;  // a mix went on with a WRITE
  if (const auto found = fault_of(*last_read_); !found.empty()) throw std::runtime_error(found);
}

}  // namespace longhaul::workloads::rpc
