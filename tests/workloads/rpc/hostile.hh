// A peer that sends what it likes: the messages of one end, the other end being ours.
#pragma once

#include <array>

#include "tests/workloads/rpc/table.hh"
#include "workloads/protocols/rpc/call.hh"

namespace longhaul::workloads::rpc {

struct Hostile {
  explicit Hostile(Options of_both) : table(std::move(of_both)) {}
  void send(const Header& header) {
    const auto bytes = table.client_end.memory().subspan(table.client_plan.receive_offset - 4096, 4096);
    const auto length = encode(bytes, header);
    table.client_end.post({.operation = Operation::send,
                           .local = table.client_plan.receive_offset - 4096,
                           .length = length,
                           .signaled = false});
    table.server->advance();
  }
  void send(std::span<const std::byte> message) {
    const auto place = table.client_plan.receive_offset - 4096;
    std::copy(message.begin(), message.end(), table.client_end.memory().begin() + static_cast<std::ptrdiff_t>(place));
    table.client_end.post({.operation = Operation::send, .local = place, .length = message.size(), .signaled = false});
    table.server->advance();
  }
  // A whole call, its header changed.
  void call(const Options& options, const ClientCall& operation, Header header,
            nfs::Payload where = nfs::Payload::elsewhere) {
    std::array<std::byte, 1024> bytes{};
    header.xid = operation.xid;
    const auto begins = encode(bytes, header);
    XdrWriter out{std::span{bytes}.subspan(begins)};
    put_call(out, options.handles, call_of(options, operation.xid, operation.offset), {}, where);
    send(std::span{bytes}.first(begins + out.size()));
  }
  // What the server answered last.
  Header answer() {
    std::array<Completion, 16> done;
    std::size_t offset = table.client_plan.receive_offset + taken_ * table.client_plan.receive_stride;
    Header last{.kind = HeaderKind::msgp};
    for (const auto& one : std::span{done}.first(table.client_end.poll(done))) {
      if (one.kind != Completion::Kind::received) continue;
      last = decode_header(table.client_end.memory().subspan(offset, one.length), Sender::server)->header;
      offset += table.client_plan.receive_stride;
      ++taken_;
    }
    return last;
  }
  Table table;

 private:
  std::size_t taken_ = 0;
};

}  // namespace longhaul::workloads::rpc
