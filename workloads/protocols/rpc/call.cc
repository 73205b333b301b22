#include "workloads/protocols/rpc/call.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kReplyHeader = 24;  // accepted, without a verifier
constexpr std::size_t kStatus = 4;
constexpr std::size_t kPostAttributes = 4 + nfs::kAttributesSize;
constexpr std::size_t kChange = 2 * 4 + 24 + nfs::kAttributesSize;  // wcc_data of any server

// The owner: AUTH_SYS as a kernel's client would send it.
SystemCredential credential() {
  return {.machine = "longhaul"};
}

std::size_t reply_size(const ClientCall& operation) {
  switch (operation.procedure) {
    case nfs::Procedure::null:
      return kReplyHeader;
    case nfs::Procedure::read:
      return kReplyHeader + kStatus + kPostAttributes + 12;
    case nfs::Procedure::write:
      return kReplyHeader + kStatus + kChange + 16;
    case nfs::Procedure::readdir:
      return kReplyHeader + operation.size;
    case nfs::Procedure::readlink:
      return kReplyHeader + kStatus + kPostAttributes + 4 + padded(operation.size);
  }
  return kReplyHeader;
}

[[noreturn]] void wrong(const ClientCall& operation, std::string_view why) {
  throw std::runtime_error(fmt::format("{}: {}", name_of(operation.procedure, operation.xid), why));
}

void check_status(nfs::Status status, const ClientCall& operation) {
  if (status != nfs::Status::ok)
    wrong(operation, fmt::format("the server answered NFS error {}", static_cast<std::uint32_t>(status)));
}

template <typename T>
T checked(Result<T> result, const ClientCall& operation) {
  if (!result) wrong(operation, result.error().message);
  check_status(result->status, operation);
  return std::move(*result);
}

}  // namespace

std::string name_of(nfs::Procedure procedure, std::uint32_t xid) {
  return fmt::format("{} call {:#010x}", nfs::to_text(procedure), xid);
}

ClientCall call_of(const Options& options, std::uint32_t xid, std::uint64_t offset) {
  return {.xid = xid, .procedure = options.procedure, .size = options.size, .offset = offset};
}

CallShape shape_of(const Handles& handles, const ClientCall& operation) {
  std::array<std::byte, kMostMessage> scratch;
  XdrWriter out{scratch};
  put_call(out, handles, operation, {}, nfs::Payload::elsewhere);
  return {.message = out.size(),
          .payload = operation.procedure == nfs::Procedure::write ? operation.size : 0,
          .reply = reply_size(operation),
          .reply_payload = operation.procedure == nfs::Procedure::read ? operation.size : 0};
}

std::size_t put_call(XdrWriter& out, const Handles& handles, const ClientCall& operation,
                     std::span<const std::byte> payload, nfs::Payload where) {
  put(out, CallHeader{.xid = operation.xid,
                      .program = nfs::kProgram,
                      .version = nfs::kVersion,
                      .procedure = static_cast<std::uint32_t>(operation.procedure),
                      .credential = credential()});
  const auto size = static_cast<std::uint32_t>(operation.size);
  switch (operation.procedure) {
    case nfs::Procedure::null:
      break;
    case nfs::Procedure::read:
      nfs::put(out, nfs::ReadArguments{.file = handles.file, .offset = operation.offset, .count = size});
      break;
    case nfs::Procedure::write:
      return nfs::put(
          out,
          nfs::WriteArguments{.file = handles.file, .offset = operation.offset, .length = size, .payload = payload},
          where);
    case nfs::Procedure::readdir:
      nfs::put(out, nfs::ReaddirArguments{.directory = handles.directory, .count = size});
      break;
    case nfs::Procedure::readlink:
      nfs::put(out, handles.link);
      break;
  }
  return out.size();
}

Result<ServerCall> get_server_call(std::span<const std::byte> message, nfs::Payload where) {
  XdrReader in{message};
  auto header = get_call(in);
  if (!header) return tl::unexpected(header.error());
  ServerCall call;
  call.header = std::move(*header);
  if (call.header.program != nfs::kProgram) {
    call.outcome = Outcome::program_unavailable;
    return call;
  }
  if (call.header.version != nfs::kVersion) {
    call.outcome = Outcome::program_mismatch;
    return call;
  }
  call.procedure = static_cast<nfs::Procedure>(call.header.procedure);
  const auto keep = [&](auto result, auto& into) {
    if (result)
      into = std::move(*result);
    else
      call.outcome = Outcome::garbage_arguments;
  };
  switch (call.procedure) {
    case nfs::Procedure::null:
      break;
    case nfs::Procedure::read:
      keep(nfs::get_read_arguments(in), call.read);
      break;
    case nfs::Procedure::write:
      keep(nfs::get_write_arguments(in, where), call.write);
      break;
    case nfs::Procedure::readdir:
      keep(nfs::get_readdir_arguments(in), call.readdir);
      break;
    case nfs::Procedure::readlink:
      keep(nfs::get_handle(in), call.link);
      break;
    default:
      call.outcome = Outcome::procedure_unavailable;
  }
  return call;
}

Nanoseconds ready(MemoryStore& store, const ServerCall& call, Nanoseconds now) {
  auto* const disks = store.disks();
  if (disks == nullptr || call.outcome != Outcome::success) return now;
  // Beyond the file's end there is nothing to wait for.
  const auto part = [&](std::uint64_t offset, std::uint64_t length) {
    return offset < store.file_size() ? std::min(length, store.file_size() - offset) : 0;
  };
  if (call.procedure == nfs::Procedure::read)
    return disks->read(now, call.read.offset, part(call.read.offset, call.read.count));
  if (call.procedure == nfs::Procedure::write)
    return disks->write(now, call.write.offset, part(call.write.offset, call.write.length));
  return now;
}

ServerReply execute(MemoryStore& store, const ServerCall& call) {
  ServerReply reply;
  reply.header = {.xid = call.header.xid, .outcome = call.outcome, .low = nfs::kVersion, .high = nfs::kVersion};
  reply.procedure = call.procedure;
  if (call.outcome != Outcome::success) return reply;
  switch (call.procedure) {
    case nfs::Procedure::null:
      break;
    case nfs::Procedure::read:
      reply.read = store.read(call.read);
      break;
    case nfs::Procedure::write:
      reply.write = store.write(call.write);
      break;
    case nfs::Procedure::readdir:
      reply.readdir = store.readdir(call.readdir);
      break;
    case nfs::Procedure::readlink:
      reply.link = store.readlink(call.link);
      break;
  }
  return reply;
}

std::size_t put_reply(XdrWriter& out, const ServerReply& reply, nfs::Payload where) {
  put(out, reply.header);
  if (reply.header.outcome != Outcome::success) return out.size();
  switch (reply.procedure) {
    case nfs::Procedure::null:
      break;
    case nfs::Procedure::read:
      return nfs::put(out, reply.read, where);
    case nfs::Procedure::write:
      nfs::put(out, reply.write);
      break;
    case nfs::Procedure::readdir:
      nfs::put(out, reply.readdir);
      break;
    case nfs::Procedure::readlink:
      nfs::put(out, reply.link);
      break;
  }
  return out.size();
}

ClientReply check_reply(std::span<const std::byte> message, const ClientCall& operation, nfs::Payload where) {
  XdrReader in{message};
  const auto header = get_reply(in);
  if (!header) wrong(operation, header.error().message);
  if (header->xid != operation.xid)
    wrong(operation, fmt::format("the RPC reply behind the header is of call {:#010x}", header->xid));
  if (header->outcome != Outcome::success) wrong(operation, to_text(header->outcome));
  switch (operation.procedure) {
    case nfs::Procedure::null:
      break;
    case nfs::Procedure::read: {
      const auto result = checked(nfs::get_read_result(in, where), operation);
      if (result.length != operation.size)
        wrong(operation, fmt::format("{} bytes came, not {}", result.length, operation.size));
      return {result.length, result.payload};
    }
    case nfs::Procedure::write: {
      const auto result = checked(nfs::get_write_result(in), operation);
      if (result.count != operation.size)
        wrong(operation, fmt::format("the server took {} bytes, not {}", result.count, operation.size));
      break;
    }
    case nfs::Procedure::readdir: {
      const auto result = checked(nfs::get_readdir_result(in), operation);
      if (result.entries.empty()) wrong(operation, "no entry came");
      for (const auto& entry : result.entries)
        if (!MemoryStore::has_name(entry.name))
          wrong(operation, fmt::format("'{}' is none of the directory's names", entry.name));
      break;
    }
    case nfs::Procedure::readlink: {
      const auto result = checked(nfs::get_readlink_result(in), operation);
      if (result.path.size() != operation.size)
        wrong(operation, fmt::format("a path of {} bytes came, not {}", result.path.size(), operation.size));
      if (result.path != MemoryStore::path(operation.size)) wrong(operation, "another path came");
      break;
    }
  }
  return {};
}

}  // namespace longhaul::workloads::rpc
