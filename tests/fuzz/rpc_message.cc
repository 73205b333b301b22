// RPC's calls and replies with NFS in them. A call that is understood is executed, as a server does.
#include <array>
#include <stdexcept>

#include "tests/fuzz/input.hh"
#include "workloads/protocols/rpc/call.hh"

namespace {

using namespace longhaul;
using namespace longhaul::workloads::rpc;

constexpr std::size_t kReply = 8192;

void serve(std::span<const std::byte> message, nfs::Payload where) {
  static MemoryStore store{1024, 3, 10};
  const auto call = get_server_call(message, where);
  if (!call) return;
  std::array<std::byte, kReply> buffer{};
  XdrWriter out{buffer};
  if (call->outcome == Outcome::success) (void)put_reply(out, execute(store, *call), where);
}

void receive(std::span<const std::byte> message, nfs::Payload where) {
  for (const auto procedure : {nfs::Procedure::null, nfs::Procedure::read, nfs::Procedure::write,
                               nfs::Procedure::readdir, nfs::Procedure::readlink}) {
    const ClientCall call{.xid = 1, .procedure = procedure, .size = 256};
    try {
      (void)check_reply(message, call, where);
    } catch (const std::runtime_error&) {
      // Refused, as most replies are.
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = fuzz::bytes_of(data, size);
  for (const auto where : {nfs::Payload::inside, nfs::Payload::elsewhere}) {
    serve(message, where);
    receive(message, where);
  }
  XdrReader in{message};
  if (const auto header = get_reply(in)) {
    std::array<std::byte, kReply> buffer{};
    XdrWriter out{buffer};
    put(out, *header);
    XdrReader back{std::span<const std::byte>{buffer}.first(out.size())};
    const auto again = get_reply(back);
    fuzz::require(again.has_value() && *again == *header, "a reply's header reads back the same");
  }
  return 0;
}
