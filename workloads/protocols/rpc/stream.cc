#include "workloads/protocols/rpc/stream.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace longhaul::workloads::rpc {
namespace {

// A record of `length` bytes, which lie behind the place of its mark.
void post_record(Connection& connection, std::size_t place, std::size_t length, bool signaled) {
  XdrWriter mark{connection.memory().subspan(place, kRecordMark)};
  put(mark, RecordMark{static_cast<std::uint32_t>(length), true});
  connection.post({.operation = Operation::send, .local = place, .length = kRecordMark + length, .signaled = signaled});
}

}  // namespace

RecordReader::RecordReader(Connection& connection, std::size_t offset, std::size_t most)
    : connection_(connection), offset_(offset), most_(most) {
  next();
}

void RecordReader::next() {
  length_ = 0;
  connection_.post_receive(offset_, kRecordMark);
}

std::span<const std::byte> RecordReader::received() {
  const auto bytes = connection_.memory().subspan(offset_, std::max(kRecordMark, length_));
  if (length_ > 0) return bytes;
  XdrReader in{bytes};
  const auto mark = get_mark(in);
  if (!mark.last) throw std::runtime_error("the peer sent a record in several fragments");
  if (mark.length == 0 || mark.length > most_)
    throw std::runtime_error(fmt::format("the peer sent a record of {} bytes, {} are the most", mark.length, most_));
  length_ = mark.length;
  connection_.post_receive(offset_, length_);
  return {};
}

StreamServer::StreamServer(Connection& connection, const Options& options, MemoryStore& store)
    : connection_(connection),
      store_(store),
      layout_(options, Role::server, true),
      records_(connection, layout_.in, layout_.stride) {}

bool StreamServer::advance() {
  std::array<Completion, 1> done;
  bool answered = false;
  if (call_) {
    if (observe::raw_time() < due_) return false;
    answer();
    answered = true;
  }
  // One record at a time: the next is awaited when the kernel has the reply to this one.
  while (connection_.poll(done) == 1) {
    if (done.front().kind == Completion::Kind::sent) {
      records_.next();
      continue;
    }
    const auto record = records_.received();
    if (record.empty()) continue;
    take(record);
    if (call_) return answered;
    answered = true;
  }
  return answered;
}

void StreamServer::take(std::span<const std::byte> record) {
  auto call = get_server_call(record, nfs::Payload::inside);
  if (!call) throw std::runtime_error(call.error().message);
  const auto now = observe::raw_time();
  call_ = std::move(*call);
  due_ = observe::RawTime{ready(store_, *call_, now.time_since_epoch())};
  if (due_ <= now) answer();
}

void StreamServer::answer() {
  const auto reply = execute(store_, *call_);
  call_.reset();
  const auto bytes = connection_.memory().subspan(layout_.out, layout_.stride);
  XdrWriter out{bytes.subspan(kRecordMark)};
  put_reply(out, reply, nfs::Payload::inside);
  if (!out.good()) throw std::runtime_error(fmt::format("a reply does not fit into {} bytes", bytes.size()));
  post_record(connection_, layout_.out, out.size(), true);
}

StreamClient::StreamClient(Connection& connection, const Options& options)
    : Client(options),
      connection_(connection),
      options_(options),
      layout_(options, Role::client, true),
      records_(connection, layout_.in, layout_.stride),
      under_way_(options.lines()) {}

void StreamClient::send_ready() {
  for (;;) {
    const auto& lines = caller_.next();
    if (lines.empty()) return;
    send_call(lines.front());
  }
}

void StreamClient::send_call(std::size_t line) {
  const auto& operation = caller_.call(line);
  const auto place = layout_.out + line * layout_.stride;
  const auto bytes = connection_.memory().subspan(place, layout_.stride);
  XdrWriter out{bytes.subspan(kRecordMark)};
  if (operation.procedure == nfs::Procedure::write) {
    // The payload is made where it goes out from.
    const auto position = put_call(out, options_.handles, operation, {}, nfs::Payload::elsewhere);
    fill_content(bytes.subspan(kRecordMark + position, operation.size), operation.offset);
    out.skip(operation.size);
  } else {
    put_call(out, options_.handles, operation, {}, nfs::Payload::inside);
  }
  post_record(connection_, place, out.size(), false);
}

void StreamClient::progress() {
  std::array<Completion, 1> all;
  while (connection_.poll(all) == 1) {
    if (all.front().kind != Completion::Kind::received) continue;
    const auto record = records_.received();
    if (record.empty()) continue;
    take(record);
    records_.next();
  }
}

void StreamClient::take(std::span<const std::byte> record) {
  XdrReader in{record};
  const auto xid = in.word();
  // A stream's flow control is TCP's: the server takes what comes.
  const auto line = caller_.replied(xid, caller_.credits());
  const auto& operation = caller_.call(line);
  const auto reply = check_reply(record, operation, nfs::Payload::inside);
  if (operation.procedure == nfs::Procedure::read)
    if (const auto fault = content_fault_at_ends(reply.payload, operation.offset); !fault.empty())
      throw std::runtime_error(fmt::format("{}: {}", name_of(operation.procedure, xid), fault));
  under_way_[line] = false;
  send_ready();
}

}  // namespace longhaul::workloads::rpc
