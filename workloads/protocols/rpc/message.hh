// The headers of RPC messages (RFC 5531, version 2) with the flavours AUTH_NONE and AUTH_SYS, and record marking, by
// which messages are told apart in a stream. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "workloads/protocols/rpc/xdr.hh"

namespace longhaul::workloads::rpc {

/// AUTH_SYS: a name, an owner and its groups, believed by the server.
struct SystemCredential {
  std::uint32_t stamp = 0;
  std::string machine;  ///< at most 255 bytes
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups = {};  ///< at most 16
  bool operator==(const SystemCredential&) const = default;
};

struct CallHeader {
  std::uint32_t xid = 0;
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t procedure = 0;
  std::optional<SystemCredential> credential = {};  ///< none: AUTH_NONE
  bool operator==(const CallHeader&) const = default;
};

/// The outcome of a call as RPC knows it; a procedure's own errors are in its results.
enum class Outcome {
  success,
  program_unavailable,
  program_mismatch,  ///< another version of the program
  procedure_unavailable,
  garbage_arguments,
  system_error,
  rpc_mismatch,  ///< denied: another version of RPC
  auth_error     ///< denied: the credential
};
const char* to_text(Outcome outcome);

struct ReplyHeader {
  std::uint32_t xid = 0;
  Outcome outcome = Outcome::success;
  std::uint32_t low = 0;   ///< the mismatches: versions that the server has
  std::uint32_t high = 0;  ///< auth_error: its number, RFC 5531, section 9
  bool operator==(const ReplyHeader&) const = default;
};

void put(XdrWriter& out, const CallHeader& header);
void put(XdrWriter& out, const ReplyHeader& header);
/// Refuses what is no call, another version of RPC, and credentials that are not whole. Flavours other than AUTH_SYS
/// are read over.
Result<CallHeader> get_call(XdrReader& in);
Result<ReplyHeader> get_reply(XdrReader& in);

/// Record marking (RFC 5531, section 11): the length of a fragment, and whether it is a record's last.
inline constexpr std::size_t kRecordMark = 4;
struct RecordMark {
  std::uint32_t length = 0;
  bool last = true;
  bool operator==(const RecordMark&) const = default;
};
void put(XdrWriter& out, const RecordMark& mark);
RecordMark get_mark(XdrReader& in);

}  // namespace longhaul::workloads::rpc
