#include "workloads/protocols/rpc/stream.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace longhaul::workloads::rpc {

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
  // One record at a time: the next is awaited when the kernel has the reply to this one.
  while (connection_.poll(done) == 1) {
    if (done.front().kind == Completion::Kind::sent) {
      records_.next();
      continue;
    }
    const auto record = records_.received();
    if (record.empty()) continue;
    answer(record);
    answered = true;
  }
  return answered;
}

void StreamServer::answer(std::span<const std::byte> record) {
  const auto call = get_server_call(record, nfs::Payload::inside);
  if (!call) throw std::runtime_error(call.error().message);
  const auto reply = execute(store_, *call);
  const auto bytes = connection_.memory().subspan(layout_.out, layout_.stride);
  XdrWriter out{bytes.subspan(kRecordMark)};
  put_reply(out, reply, nfs::Payload::inside);
  if (!out.good()) throw std::runtime_error(fmt::format("a reply does not fit into {} bytes", bytes.size()));
  XdrWriter mark{bytes};
  put(mark, RecordMark{static_cast<std::uint32_t>(out.size()), true});
  connection_.post({.operation = Operation::send, .local = layout_.out, .length = kRecordMark + out.size()});
}

StreamClient::StreamClient(Connection& connection, const Options& options)
    : connection_(connection),
      options_(options),
      layout_(options, Role::client, true),
      records_(connection, layout_.in, layout_.stride),
      credits_(static_cast<std::uint32_t>(options.credits)),
      calls_(options.threads) {}

void StreamClient::start(std::size_t thread) {
  auto& call = calls_[thread];
  call.under_way = true;
  const bool payload = options_.procedure == nfs::Procedure::read || options_.procedure == nfs::Procedure::write;
  const auto record = thread * Options::kRecords + call.number++ % Options::kRecords;
  call.operation = {.xid = next_xid_++, .offset = payload ? record * options_.size : 0};
  ready_.push_back(thread);
  send_ready();
}

void StreamClient::send_ready() {
  while (!ready_.empty() && credits_.take()) {
    const auto thread = ready_.front();
    ready_.pop_front();
    send_call(thread);
  }
}

void StreamClient::send_call(std::size_t thread) {
  const auto& call = calls_[thread];
  const auto place = layout_.out + thread * layout_.stride;
  const auto bytes = connection_.memory().subspan(place, layout_.stride);
  XdrWriter out{bytes.subspan(kRecordMark)};
  if (options_.procedure == nfs::Procedure::write) {
    // The payload is made where it goes out from.
    const auto position = put_call(out, options_, call.operation, {}, nfs::Payload::elsewhere);
    fill_content(bytes.subspan(kRecordMark + position, options_.size), call.operation.offset);
    out.skip(options_.size);
  } else {
    put_call(out, options_, call.operation, {}, nfs::Payload::inside);
  }
  XdrWriter mark{bytes};
  put(mark, RecordMark{static_cast<std::uint32_t>(out.size()), true});
  by_xid_[call.operation.xid] = thread;
  connection_.post(
      {.operation = Operation::send, .local = place, .length = kRecordMark + out.size(), .signaled = false});
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
  const auto found = by_xid_.find(xid);
  if (found == by_xid_.end())
    throw std::runtime_error(fmt::format("a reply came to call {:#010x}, of which none is under way", xid));
  auto& call = calls_[found->second];
  by_xid_.erase(found);
  // A stream's flow control is TCP's: the server takes what comes.
  credits_.replied(credits_.wanted());
  const auto reply = check_reply(record, options_, call.operation, nfs::Payload::inside);
  if (options_.procedure == nfs::Procedure::read)
    if (const auto fault = content_fault_at_ends(reply.payload, call.operation.offset); !fault.empty())
      throw std::runtime_error(fmt::format("{}: {}", name_of(options_.procedure, xid), fault));
  call.under_way = false;
  send_ready();
}

}  // namespace longhaul::workloads::rpc
