// NFS version 3 (RFC 1813), of it: NULL, READ, WRITE, READLINK and READDIR, arguments and results. The payload of READ
// and WRITE may lie elsewhere (RFC 8267): then its length word stands alone. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "workloads/protocols/rpc/xdr.hh"

namespace longhaul::workloads::rpc::nfs {

inline constexpr std::uint32_t kProgram = 100003;
inline constexpr std::uint32_t kVersion = 3;
inline constexpr std::size_t kMostHandle = 64;
inline constexpr std::size_t kMostPath = 4096;
inline constexpr std::size_t kMostName = 255;

enum class Procedure : std::uint32_t { null = 0, readlink = 5, read = 6, write = 7, readdir = 16 };
const char* to_text(Procedure procedure);

/// nfsstat3, those that we send; others come as their numbers.
enum class Status : std::uint32_t { ok = 0, no_entry = 2, io = 5, invalid = 22, stale = 70, bad_handle = 10001 };

/// Where the payload of a message is.
enum class Payload { inside, elsewhere };

/// Names a file or directory for its server, at most 64 bytes.
struct FileHandle {
  std::array<std::byte, kMostHandle> bytes{};
  std::size_t size = 0;

  static FileHandle of(std::span<const std::byte> bytes);
  std::span<const std::byte> span() const { return std::span{bytes}.first(size); }
  bool operator==(const FileHandle&) const = default;
};

struct Attributes {
  enum class Type : std::uint32_t { regular = 1, directory = 2, link = 5 } type = Type::regular;
  std::uint32_t mode = 0644;
  std::uint64_t size = 0;
  std::uint64_t file_id = 0;
  bool operator==(const Attributes&) const = default;
};
inline constexpr std::size_t kAttributesSize = 84;

struct ReadArguments {
  FileHandle file;
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
};
struct ReadResult {
  Status status = Status::ok;
  std::optional<Attributes> attributes = {};
  bool end = false;
  std::uint32_t length = 0;                 ///< of the payload
  std::span<const std::byte> payload = {};  ///< empty where it lies elsewhere
};

enum class Stable : std::uint32_t { unstable = 0, data = 1, file = 2 };
struct WriteArguments {
  FileHandle file;
  std::uint64_t offset = 0;
  Stable stable = Stable::file;
  std::uint32_t length = 0;  ///< of the payload
  std::span<const std::byte> payload = {};
};
struct WriteResult {
  Status status = Status::ok;
  std::uint32_t count = 0;
  Stable committed = Stable::file;
};

struct ReaddirArguments {
  FileHandle directory;
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  std::uint32_t count = 0;  ///< bytes of the result at the most
};
struct Entry {
  std::uint64_t file_id = 0;
  std::string name;
  std::uint64_t cookie = 0;
  bool operator==(const Entry&) const = default;
};
/// The bytes of an entry in a result.
constexpr std::size_t size_of_entry(std::string_view name) {
  return 24 + padded(name.size());
}
struct ReaddirResult {
  Status status = Status::ok;
  std::uint64_t verifier = 0;
  std::vector<Entry> entries = {};
  bool end = false;
};

struct ReadlinkResult {
  Status status = Status::ok;
  std::string path = {};
};

void put(XdrWriter& out, const FileHandle& file);
void put(XdrWriter& out, const ReadArguments& arguments);
/// Returns the position of the payload in `out`: behind its length word.
std::size_t put(XdrWriter& out, const WriteArguments& arguments, Payload payload);
void put(XdrWriter& out, const ReaddirArguments& arguments);
std::size_t put(XdrWriter& out, const ReadResult& result, Payload payload);
void put(XdrWriter& out, const WriteResult& result);
void put(XdrWriter& out, const ReaddirResult& result);
void put(XdrWriter& out, const ReadlinkResult& result);

/// Each refuses what is not whole, and sizes beyond the limits above.
Result<FileHandle> get_handle(XdrReader& in);
Result<ReadArguments> get_read_arguments(XdrReader& in);
Result<WriteArguments> get_write_arguments(XdrReader& in, Payload payload);
Result<ReaddirArguments> get_readdir_arguments(XdrReader& in);
Result<ReadResult> get_read_result(XdrReader& in, Payload payload);
Result<WriteResult> get_write_result(XdrReader& in);
Result<ReaddirResult> get_readdir_result(XdrReader& in);
Result<ReadlinkResult> get_readlink_result(XdrReader& in);

}  // namespace longhaul::workloads::rpc::nfs
