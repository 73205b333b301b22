// A procedure's call and reply as messages: which bytes, which payload. The same for every transport. Pure, but for the
// store that is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "workloads/protocols/rpc/message.hh"
#include "workloads/protocols/rpc/nfs.hh"
#include "workloads/protocols/rpc/options.hh"
#include "workloads/protocols/rpc/store.hh"

namespace longhaul::workloads::rpc {

/// One call of the client's.
struct ClientCall {
  std::uint32_t xid = 0;
  nfs::Procedure procedure = nfs::Procedure::read;
  std::size_t size = 0;      ///< as Options::size
  std::uint64_t offset = 0;  ///< READ, WRITE
};
/// That of the options' procedure and size.
ClientCall call_of(const Options& options, std::uint32_t xid, std::uint64_t offset = 0);

/// The sizes of such a call and of its reply.
CallShape shape_of(const Handles& handles, const ClientCall& operation);

/// Writes the call; of WRITE the payload is `payload` bytes of the file from the operation's offset on. Returns the
/// position of the payload in the message.
std::size_t put_call(XdrWriter& out, const Handles& handles, const ClientCall& operation,
                     std::span<const std::byte> payload, nfs::Payload where);

/// A call as the server has it. The payload of WRITE may be still to come.
struct ServerCall {
  CallHeader header;
  Outcome outcome = Outcome::success;  ///< another one: the call is answered with it, and not executed
  nfs::Procedure procedure = nfs::Procedure::null;
  nfs::ReadArguments read = {};
  nfs::WriteArguments write = {};
  nfs::ReaddirArguments readdir = {};
  nfs::FileHandle link = {};
};
/// Refuses what is no RPC call; unknown programs, procedures and bad arguments are outcomes.
Result<ServerCall> get_server_call(std::span<const std::byte> message, nfs::Payload where);

/// A reply that is made in two steps: its payload's length decides how it goes.
struct ServerReply {
  ReplyHeader header;
  nfs::Procedure procedure = nfs::Procedure::null;
  nfs::ReadResult read = {};
  nfs::WriteResult write = {};
  nfs::ReaddirResult readdir = {};
  nfs::ReadlinkResult link = {};

  /// Of READ, in the store; else empty.
  std::span<const std::byte> payload() const { return read.payload; }
};
/// When the store has what the call needs: `now`, unless it is on disks.
Nanoseconds ready(MemoryStore& store, const ServerCall& call, Nanoseconds now);
ServerReply execute(MemoryStore& store, const ServerCall& call);
/// Returns the position of the payload.
std::size_t put_reply(XdrWriter& out, const ServerReply& reply, nfs::Payload where);

/// What a reply says of the client's operation, after its results were compared with what they should be.
struct ClientReply {
  std::uint32_t length = 0;                 ///< of the payload of READ
  std::span<const std::byte> payload = {};  ///< where it is inside
};
/// Throws std::runtime_error, which names the call, where the server refused it or the results are wrong.
ClientReply check_reply(std::span<const std::byte> message, const ClientCall& operation, nfs::Payload where);

/// "READ call 0x00000007": for errors.
std::string name_of(nfs::Procedure procedure, std::uint32_t xid);

}  // namespace longhaul::workloads::rpc
