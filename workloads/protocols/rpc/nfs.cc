#include "workloads/protocols/rpc/nfs.hh"

#include <algorithm>
#include <stdexcept>

namespace longhaul::workloads::rpc::nfs {
namespace {

constexpr std::uint32_t kMostPayload = std::uint32_t{1} << 30;
constexpr std::size_t kMostEntries = std::size_t{1} << 16;
constexpr std::size_t kPreviousAttributes = 24;  // wcc_attr

void put(XdrWriter& out, const Attributes& attributes) {
  out.word(static_cast<std::uint32_t>(attributes.type));
  out.word(attributes.mode);
  out.word(1);  // links
  out.word(0);  // owner and group
  out.word(0);
  out.hyper(attributes.size);
  out.hyper(attributes.size);  // used
  out.hyper(0);                // device
  out.hyper(1);                // file system
  out.hyper(attributes.file_id);
  for (int i = 0; i < 3; ++i) out.hyper(0);  // times
}

void put_optional(XdrWriter& out, const std::optional<Attributes>& attributes) {
  out.flag(attributes.has_value());
  if (attributes) put(out, *attributes);
}

std::optional<Attributes> get_optional(XdrReader& in) {
  if (!in.flag()) return std::nullopt;
  Attributes attributes;
  attributes.type = static_cast<Attributes::Type>(in.word());
  attributes.mode = in.word();
  in.fixed(12);
  attributes.size = in.hyper();
  in.fixed(24);
  attributes.file_id = in.hyper();
  in.fixed(24);
  return attributes;
}

// wcc_data: the attributes before and after; ours has neither.
void put_no_change(XdrWriter& out) {
  out.flag(false);
  out.flag(false);
}

void get_change(XdrReader& in) {
  if (in.flag()) in.fixed(kPreviousAttributes);
  get_optional(in);
}

std::size_t put_payload(XdrWriter& out, std::span<const std::byte> bytes, std::uint32_t length, Payload payload) {
  out.word(length);
  const auto position = out.size();
  if (payload == Payload::inside) out.fixed(bytes);
  return position;
}

// The length word, and the bytes where they are there.
std::uint32_t get_payload(XdrReader& in, std::span<const std::byte>& bytes, Payload payload) {
  const auto length = in.word();
  if (length > kMostPayload) in.fail();
  if (payload == Payload::inside) bytes = in.fixed(length);
  return length;
}

FileHandle read_handle(XdrReader& in) {
  return FileHandle::of(in.opaque(kMostHandle));
}

template <typename T>
Result<T> whole(const XdrReader& in, T value, const char* what) {
  if (!in.good()) return fail("{} are not whole", what);
  return value;
}

}  // namespace

const char* to_text(Procedure procedure) {
  switch (procedure) {
    case Procedure::null:
      return "NULL";
    case Procedure::readlink:
      return "READLINK";
    case Procedure::read:
      return "READ";
    case Procedure::write:
      return "WRITE";
    case Procedure::readdir:
      return "READDIR";
  }
  return "?";
}

FileHandle FileHandle::of(std::span<const std::byte> bytes) {
  if (bytes.size() > kMostHandle) throw std::length_error("a file handle has at most 64 bytes");
  FileHandle handle;
  std::copy(bytes.begin(), bytes.end(), handle.bytes.begin());
  handle.size = bytes.size();
  return handle;
}

void put(XdrWriter& out, const FileHandle& file) {
  out.opaque(file.span());
}

void put(XdrWriter& out, const ReadArguments& arguments) {
  put(out, arguments.file);
  out.hyper(arguments.offset);
  out.word(arguments.count);
}

std::size_t put(XdrWriter& out, const WriteArguments& arguments, Payload payload) {
  put(out, arguments.file);
  out.hyper(arguments.offset);
  out.word(arguments.length);
  out.word(static_cast<std::uint32_t>(arguments.stable));
  return put_payload(out, arguments.payload, arguments.length, payload);
}

void put(XdrWriter& out, const ReaddirArguments& arguments) {
  put(out, arguments.directory);
  out.hyper(arguments.cookie);
  out.hyper(arguments.verifier);
  out.word(arguments.count);
}

std::size_t put(XdrWriter& out, const ReadResult& result, Payload payload) {
  out.word(static_cast<std::uint32_t>(result.status));
  put_optional(out, result.attributes);
  if (result.status != Status::ok) return out.size();
  out.word(result.length);
  out.flag(result.end);
  return put_payload(out, result.payload, result.length, payload);
}

void put(XdrWriter& out, const WriteResult& result) {
  out.word(static_cast<std::uint32_t>(result.status));
  put_no_change(out);
  if (result.status != Status::ok) return;
  out.word(result.count);
  out.word(static_cast<std::uint32_t>(result.committed));
  out.hyper(0);  // the verifier: this server never loses what it has taken
}

void put(XdrWriter& out, const ReaddirResult& result) {
  out.word(static_cast<std::uint32_t>(result.status));
  put_optional(out, {});
  if (result.status != Status::ok) return;
  out.hyper(result.verifier);
  for (const auto& entry : result.entries) {
    out.flag(true);
    out.hyper(entry.file_id);
    out.text(entry.name);
    out.hyper(entry.cookie);
  }
  out.flag(false);
  out.flag(result.end);
}

void put(XdrWriter& out, const ReadlinkResult& result) {
  out.word(static_cast<std::uint32_t>(result.status));
  put_optional(out, {});
  if (result.status == Status::ok) out.text(result.path);
}

Result<FileHandle> get_handle(XdrReader& in) {
  return whole(in, read_handle(in), "the arguments of READLINK");
}

Result<ReadArguments> get_read_arguments(XdrReader& in) {
  ReadArguments arguments;
  arguments.file = read_handle(in);
  arguments.offset = in.hyper();
  arguments.count = in.word();
  return whole(in, arguments, "the arguments of READ");
}

Result<WriteArguments> get_write_arguments(XdrReader& in, Payload payload) {
  WriteArguments arguments;
  arguments.file = read_handle(in);
  arguments.offset = in.hyper();
  const auto count = in.word();
  const auto stable = in.word();
  if (stable > static_cast<std::uint32_t>(Stable::file)) in.fail();
  arguments.stable = static_cast<Stable>(in.good() ? stable : 0);
  arguments.length = get_payload(in, arguments.payload, payload);
  if (count != arguments.length) in.fail();
  return whole(in, arguments, "the arguments of WRITE");
}

Result<ReaddirArguments> get_readdir_arguments(XdrReader& in) {
  ReaddirArguments arguments;
  arguments.directory = read_handle(in);
  arguments.cookie = in.hyper();
  arguments.verifier = in.hyper();
  arguments.count = in.word();
  return whole(in, arguments, "the arguments of READDIR");
}

Result<ReadResult> get_read_result(XdrReader& in, Payload payload) {
  ReadResult result;
  result.status = static_cast<Status>(in.word());
  result.attributes = get_optional(in);
  if (result.status == Status::ok) {
    const auto count = in.word();
    result.end = in.flag();
    result.length = get_payload(in, result.payload, payload);
    if (count != result.length) in.fail();
  }
  return whole(in, result, "the results of READ");
}

Result<WriteResult> get_write_result(XdrReader& in) {
  WriteResult result;
  result.status = static_cast<Status>(in.word());
  get_change(in);
  if (result.status == Status::ok) {
    result.count = in.word();
    const auto committed = in.word();
    if (committed > static_cast<std::uint32_t>(Stable::file)) in.fail();
    result.committed = static_cast<Stable>(in.good() ? committed : 0);
    in.hyper();
  }
  return whole(in, result, "the results of WRITE");
}

Result<ReaddirResult> get_readdir_result(XdrReader& in) {
  ReaddirResult result;
  result.status = static_cast<Status>(in.word());
  get_optional(in);
  if (result.status == Status::ok) {
    result.verifier = in.hyper();
    while (in.flag()) {
      Entry entry;
      entry.file_id = in.hyper();
      entry.name = in.text(kMostName);
      entry.cookie = in.hyper();
      if (result.entries.size() == kMostEntries) in.fail();
      result.entries.push_back(std::move(entry));
    }
    result.end = in.flag();
  }
  return whole(in, std::move(result), "the results of READDIR");
}

Result<ReadlinkResult> get_readlink_result(XdrReader& in) {
  ReadlinkResult result;
  result.status = static_cast<Status>(in.word());
  get_optional(in);
  if (result.status == Status::ok) result.path = in.text(kMostPath);
  return whole(in, std::move(result), "the results of READLINK");
}

}  // namespace longhaul::workloads::rpc::nfs
