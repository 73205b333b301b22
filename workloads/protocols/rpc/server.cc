#include "workloads/protocols/rpc/server.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "workloads/protocols/rpc/chunks.hh"

namespace longhaul::workloads::rpc {

ServerCounters& ServerCounters::operator+=(const ServerCounters& other) {
  calls += other.calls;
  most_reads = std::max(most_reads, other.most_reads);
  blocked += other.blocked;
  exposed += other.exposed;
  exposures += other.exposures;
  errors += other.errors;
  return *this;
}

RdmaServer::RdmaServer(Connection& connection, const Options& options, MemoryStore& store, ServerThreads& threads)
    : connection_(connection),
      options_(options),
      store_(store),
      threads_(threads),
      layout_(options, Role::server, false),
      buffers_(connection, options.server_buffers),
      slots_(connection, buffers_, options),
      sends_(layout_.out, layout_.stride, layout_.out_slots),
      reads_(options.ord),
      works_(layout_.buffer_slots),
      message_(layout_.buffer_stride) {
  for (std::size_t i = 0; i < layout_.in_slots; ++i) receives_.push_back(layout_.in + i * layout_.stride);
}

RdmaServer::~RdmaServer() {
  threads_.waiting -= working();
}

void RdmaServer::reset() {
  counters_ = {};
  slots_.reset();
  buffers_.reset();
  if (auto* const disks = store_.disks()) disks->reset();
}

ServerCounters RdmaServer::counters() const {
  auto counters = counters_;
  counters.exposed += slots_.exposed();
  counters.exposures += slots_.exposures();
  // A region whose deregistration is deferred is open for as long as that takes.
  if (const auto buffers = buffers_.counters(); buffers && rights_of(options_, Role::server) != Rights::none)
    counters.exposed += Nanoseconds{buffers->exposed};
  return counters;
}

std::size_t RdmaServer::withheld() const {
  return static_cast<std::size_t>(
      std::count_if(works_.begin(), works_.end(), [](const Work& one) { return one.state == Work::State::exposed; }));
}

// Calls that have no reply yet.
std::size_t RdmaServer::working() const {
  return static_cast<std::size_t>(std::count_if(works_.begin(), works_.end(), [](const Work& one) {
    return one.state == Work::State::reading || one.state == Work::State::storing;
  }));
}

std::size_t RdmaServer::buffer_of(const Work& work) const {
  return layout_.buffers + static_cast<std::size_t>(&work - works_.data()) * layout_.buffer_stride;
}

bool RdmaServer::advance() {
  std::array<Completion, 16> done;
  answered_ = false;
  if (options_.give_back > Nanoseconds{}) take_back_late();
  const auto count = connection_.poll(done);
  for (const auto& one : std::span{done}.first(count)) {
    if (one.kind == Completion::Kind::received) {
      receive(one.length);
      continue;
    }
    if (one.kind == Completion::Kind::fetched) {
      auto& work = works_[reads_.completed()];
      if (--work.reads_left == 0) fetched(work);
      continue;
    }
    const auto replied = sending_.front();
    sending_.pop_front();
    sends_.retire();
    if (!replied) continue;
    works_[*replied].sent = true;
    finish_if_through(works_[*replied]);
  }
  const bool due = !storing_.empty() && serve_due();
  // A call may have waited for a thread that another connection had.
  if (count == 0 && waiting_.empty() && !due) return false;
  post_reads();
  dispatch();
  slots_.prepare();
  return answered_;
}

void RdmaServer::receive(std::size_t length) {
  const auto offset = receives_.front();
  receives_.pop_front();
  auto decoded = decode_header(connection_.memory().subspan(offset, length), Sender::client);
  if (!decoded || decoded->header.kind == HeaderKind::done || decoded->header.kind == HeaderKind::error) {
    post_receive(offset);
    if (!decoded && decoded.error().xid) {
      ++counters_.errors;
      send(error_to(*decoded.error().xid, decoded.error().fault), {}, {}, std::nullopt);
    }
    if (decoded && decoded->header.kind == HeaderKind::done) take_back(decoded->header.xid);
    return;
  }
  if (seen_) seen_(decoded->header);
  // Each record of a call that asks for several is a call of its own from here on.
  std::vector<Chunk> records;
  if (decoded->header.kind == HeaderKind::ahead) records = std::exchange(decoded->header.writes, {});
  const auto count = std::max<std::size_t>(records.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    if (waiting_.size() + working() >= options_.credits)
      throw std::runtime_error(fmt::format("call {:#010x} is one more than the {} that the client was granted",
                                           decoded->header.xid + i, options_.credits));
    waiting_.push_back({offset, length, *decoded, i, i + 1 == count});
    auto& header = waiting_.back().decoded.header;
    header.xid += static_cast<std::uint32_t>(i);
    if (!records.empty()) header.writes = {std::move(records[i])};
  }
}

// RDMA_DONE: the client has read what was offered. Of a call that offered nothing it means nothing (RFC 8166).
void RdmaServer::take_back(std::uint32_t xid) {
  for (auto& work : works_) {
    if (work.state == Work::State::free || work.done || work.header.xid != xid) continue;
    counters_.exposed += observe::raw_time() - work.since;
    ++counters_.exposures;
    work.done = true;
    finish_if_through(work);
    return;
  }
}

// The remedy for a client that never says RDMA_DONE. One that reads later finds its key void where buffers are
// registered for each call, else the bytes of another reply of its own.
void RdmaServer::take_back_late() {
  const auto now = observe::raw_time();
  for (auto& work : works_) {
    if (work.state != Work::State::exposed || now - work.since < options_.give_back) continue;
    counters_.exposed += now - work.since;
    ++counters_.exposures;
    ++overdue_;
    work.done = true;
    finish_if_through(work);
  }
}

void RdmaServer::dispatch() {
  while (!waiting_.empty() && !(options_.blocking && threads_.waiting >= threads_.all)) {
    const auto free =
        std::find_if(works_.begin(), works_.end(), [](const Work& one) { return one.state == Work::State::free; });
    if (free == works_.end()) return;
    auto received = std::move(waiting_.front());
    waiting_.pop_front();
    begin(*free, std::move(received));
  }
}

void RdmaServer::begin(Work& work, Received received) {
  ++counters_.calls;
  work = {};
  work.header = std::move(received.decoded.header);
  if (received.last) work.receive = received.offset;
  work.done = true;
  const auto& reads = work.header.reads;
  const bool long_call = work.header.kind == HeaderKind::nomsg;
  const auto message = connection_.memory().subspan(received.offset, received.length).subspan(received.decoded.size);
  if (!long_call) {
    const bool inside = reads.empty() && work.header.kind != HeaderKind::slot;
    auto call = get_server_call(message, inside ? nfs::Payload::inside : nfs::Payload::elsewhere);
    if (!call) return refuse(work);
    work.call = std::move(*call);
  }
  if (work.header.kind == HeaderKind::slot) return take_pushed(work);
  if (work.header.kind == HeaderKind::ahead) {
    if (work.call.procedure != nfs::Procedure::read || !reads.empty() || work.header.reply) return refuse(work);
    work.call.header.xid += static_cast<std::uint32_t>(received.record);
    work.call.read.offset += received.record * work.call.read.count;
  }
  Chunk chunk;
  for (const auto& read : reads)
    if (read.position == reads.front().position) chunk.push_back(read.target);
  const bool in_order = chunk.size() == reads.size() && (!long_call || (!chunk.empty() && reads[0].position == 0));
  const auto wanted = long_call ? length_of(chunk) : work.call.write.length;
  if (!in_order || length_of(chunk) > layout_.buffer_stride || (!chunk.empty() && length_of(chunk) < wanted))
    return refuse(work);
  if (chunk.empty())
    serve(work);
  else
    fetch(work, chunk);
}

// The payload of WRITE is here already, in a slot.
void RdmaServer::take_pushed(Work& work) {
  const auto buffer = connection_.memory().subspan(buffer_of(work), layout_.buffer_stride);
  const auto payload = slots_.take(work.header.slot, buffer);
  if (!work.header.reads.empty() || !payload || payload->size() != work.call.write.length) return refuse(work);
  work.call.write.payload = *payload;
  serve(work);
}

// The payload of WRITE, or a long call, from the client's memory into a buffer here.
void RdmaServer::fetch(Work& work, const Chunk& chunk) {
  const auto length = static_cast<std::size_t>(length_of(chunk));
  work.state = Work::State::reading;
  ++threads_.waiting;
  work.use = buffers_.begin(buffer_of(work), length);
  buffers_.complete(work.use);
  auto requests = requests_to(Operation::read, work.use.pieces(), buffer_of(work), length, chunk);
  work.reads_left = requests.size();
  work.since = observe::raw_time();
  reads_.add(std::move(requests), static_cast<std::size_t>(&work - works_.data()));
  post_reads();
}

void RdmaServer::post_reads() {
  while (const auto request = reads_.next()) connection_.post(*request);
  counters_.most_reads = std::max<std::uint64_t>(counters_.most_reads, reads_.under_way());
}

void RdmaServer::fetched(Work& work) {
  --threads_.waiting;
  if (options_.blocking) counters_.blocked += observe::raw_time() - work.since;
  const auto bytes = connection_.memory().subspan(buffer_of(work), layout_.buffer_stride);
  if (work.header.kind == HeaderKind::nomsg) {
    std::uint64_t length = 0;
    for (const auto& read : work.header.reads) length += read.target.length;
    auto call = get_server_call(bytes.first(static_cast<std::size_t>(length)), nfs::Payload::inside);
    if (!call) return refuse(work);
    work.call = std::move(*call);
  } else {
    work.call.write.payload = bytes.first(work.call.write.length);
  }
  serve(work);
}

// The store may be on disks: the reply waits for them, and so does the thread. The connection goes on.
void RdmaServer::serve(Work& work) {
  const auto now = observe::raw_time();
  const auto when = ready(store_, work.call, now.time_since_epoch());
  if (when <= now.time_since_epoch()) return answer(work);
  work.state = Work::State::storing;
  work.due = observe::RawTime{when};
  ++threads_.waiting;
  storing_.push_back(static_cast<std::size_t>(&work - works_.data()));
}

// True if the disks are through with any.
bool RdmaServer::serve_due() {
  const auto now = observe::raw_time();
  const auto late = std::stable_partition(storing_.begin(), storing_.end(),
                                          [&](std::size_t index) { return works_[index].due > now; });
  const std::vector<std::size_t> through{late, storing_.end()};
  storing_.erase(late, storing_.end());
  for (const auto index : through) {
    --threads_.waiting;
    answer(works_[index]);
  }
  return !through.empty();
}

void RdmaServer::answer(Work& work) {
  const auto reply = execute(store_, work.call);
  const auto payload = reply.payload();
  XdrWriter out{message_};
  const auto position = put_reply(out, reply, nfs::Payload::elsewhere);
  const auto message = std::span<const std::byte>{message_}.first(out.size());
  Header header{.xid = work.header.xid, .credits = static_cast<std::uint32_t>(options_.credits)};
  header.writes = work.header.writes;
  for (auto& chunk : header.writes) chunk = used_of(std::move(chunk), 0);
  if (work.header.reply) header.reply = used_of(*work.header.reply, 0);
  if (options_.pushes() && (work.header.kind == HeaderKind::slot || !work.header.reads.empty())) {
    header.slot = slots_.grant();
    if (!header.slot.empty()) header.kind = HeaderKind::slot;
  }
  ReplyShape shape{.message = message.size(), .payload = payload.size()};
  if (!work.header.writes.empty()) shape.write_room = length_of(work.header.writes.front());
  if (work.header.reply) shape.reply_room = length_of(*work.header.reply);
  shape.header = encoded_size(header);
  const auto way = plan_reply(options_.design, shape, options_.threshold);
  // The bytes that move by RDMA, in a buffer of ours: the payload, or the whole reply.
  const bool whole = way == ReplyWay::reply_chunk || way == ReplyWay::long_read_chunk;
  const auto length = whole ? message.size() + padded(payload.size()) : payload.size();
  // A client may ask for more than any buffer has room for.
  if (way == ReplyWay::too_long || !out.good() || length > layout_.buffer_stride) return refuse(work);
  if (way == ReplyWay::inside) return send_reply(work, header, message, payload);
  const auto buffer = buffer_of(work);
  XdrWriter moved{connection_.memory().subspan(buffer, layout_.buffer_stride)};
  if (whole) moved.fixed(message);
  moved.fixed(payload);
  work.use = {};  // of a long call
  work.use = buffers_.begin(buffer, length);
  buffers_.complete(work.use);
  if (way == ReplyWay::write_chunk || way == ReplyWay::reply_chunk) {
    const auto& target = whole ? *work.header.reply : work.header.writes.front();
    for (auto request :
         requests_to(Operation::write, work.use.pieces(), buffer, length, target, longest_write(options_))) {
      request.signaled = false;
      request.more = true;
      connection_.post(request);
    }
    if (whole)
      header.reply = used_of(*work.header.reply, length);
    else
      header.writes.front() = used_of(work.header.writes.front(), length);
  } else {
    for (const auto& segment : chunk_of(connection_, work.use.pieces(), length, options_.segment))
      header.reads.push_back({whole ? 0 : static_cast<std::uint32_t>(position), segment});
    work.done = false;
    work.since = observe::raw_time();
  }
  if (whole) header.kind = HeaderKind::nomsg;
  send_reply(work, header, whole ? std::span<const std::byte>{} : message, {});
}

void RdmaServer::send_reply(Work& work, const Header& header, std::span<const std::byte> message,
                            std::span<const std::byte> payload) {
  // The call's bytes are not needed any more, and the client may send the next as soon as it has the reply.
  give_back_receive(work);
  work.state = Work::State::replying;
  send(header, message, payload, static_cast<std::size_t>(&work - works_.data()));
}

// The call's chunks cannot be what it says.
void RdmaServer::refuse(Work& work) {
  ++counters_.errors;
  send_reply(work, error_to(work.header.xid, {}), {}, {});
}

Header RdmaServer::error_to(std::uint32_t xid, WireFault fault) const {
  return {
      .xid = xid, .credits = static_cast<std::uint32_t>(options_.credits), .kind = HeaderKind::error, .fault = fault};
}

void RdmaServer::send(const Header& header, std::span<const std::byte> message, std::span<const std::byte> payload,
                      std::optional<std::size_t> work) {
  if (sends_.full()) throw std::runtime_error("the adapter holds more replies than calls were granted");
  const auto offset = sends_.take();
  const auto bytes = connection_.memory().subspan(offset, options_.threshold);
  const auto begins = encode(bytes, header);
  XdrWriter out{bytes.subspan(begins)};
  out.fixed(message);
  out.fixed(payload);
  if (!out.good())
    throw std::runtime_error(
        fmt::format("the reply to call {:#010x} does not fit behind {} bytes of segments", header.xid, begins));
  sending_.push_back(work);
  Request request{.operation = Operation::send, .local = offset, .length = begins + out.size()};
  if (options_.remote_invalidation && work && header.kind != HeaderKind::error)
    request.closes = offered_key(works_[*work].header);
  connection_.post(request);
  answered_ = true;
}

void RdmaServer::give_back_receive(Work& work) {
  if (!work.receive) return;
  post_receive(*work.receive);
  work.receive.reset();
}

void RdmaServer::post_receive(std::size_t offset) {
  connection_.post_receive(offset, options_.threshold);
  receives_.push_back(offset);
}

void RdmaServer::finish_if_through(Work& work) {
  if (!work.sent) return;
  if (!work.done) {
    work.state = Work::State::exposed;
    return;
  }
  work.use = {};
  work.state = Work::State::free;
  buffers_.tidy();
}

}  // namespace longhaul::workloads::rpc
