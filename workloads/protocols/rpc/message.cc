#include "workloads/protocols/rpc/message.hh"

#include <array>

namespace longhaul::workloads::rpc {
namespace {

constexpr std::uint32_t kCall = 0;
constexpr std::uint32_t kReply = 1;
constexpr std::uint32_t kRpcVersion = 2;
constexpr std::uint32_t kAccepted = 0;
constexpr std::uint32_t kDenied = 1;
constexpr std::uint32_t kAuthNone = 0;
constexpr std::uint32_t kAuthSystem = 1;
constexpr std::size_t kMostAuth = 400;
constexpr std::size_t kMostMachine = 255;
constexpr std::size_t kMostGroups = 16;
constexpr std::uint32_t kLastFragment = 0x80000000U;

void put_none(XdrWriter& out) {
  out.word(kAuthNone);
  out.word(0);
}

void put(XdrWriter& out, const SystemCredential& credential) {
  out.word(kAuthSystem);
  out.word(static_cast<std::uint32_t>(20 + padded(credential.machine.size()) + 4 * credential.groups.size()));
  out.word(credential.stamp);
  out.text(credential.machine);
  out.word(credential.uid);
  out.word(credential.gid);
  out.word(static_cast<std::uint32_t>(credential.groups.size()));
  for (const auto group : credential.groups) out.word(group);
}

std::optional<SystemCredential> get_credential(XdrReader& in) {
  const auto flavour = in.word();
  const auto body = in.opaque(kMostAuth);
  if (flavour != kAuthSystem || !in.good()) return std::nullopt;
  XdrReader inner{body};
  SystemCredential credential;
  credential.stamp = inner.word();
  credential.machine = inner.text(kMostMachine);
  credential.uid = inner.word();
  credential.gid = inner.word();
  const std::size_t groups = inner.word();
  if (groups > kMostGroups) inner.fail();
  for (std::size_t i = 0; inner.good() && i < groups; ++i) credential.groups.push_back(inner.word());
  if (!inner.good() || inner.left() != 0) in.fail();
  return credential;
}

}  // namespace

const char* to_text(Outcome outcome) {
  constexpr std::array names{"success",
                             "the program is unavailable",
                             "the program has another version",
                             "the procedure is unavailable",
                             "the arguments are garbage",
                             "a system error",
                             "RPC has another version",
                             "the credential was refused"};
  return names[static_cast<std::size_t>(outcome)];
}

void put(XdrWriter& out, const CallHeader& header) {
  out.word(header.xid);
  out.word(kCall);
  out.word(kRpcVersion);
  out.word(header.program);
  out.word(header.version);
  out.word(header.procedure);
  if (header.credential)
    put(out, *header.credential);
  else
    put_none(out);
  put_none(out);
}

void put(XdrWriter& out, const ReplyHeader& header) {
  out.word(header.xid);
  out.word(kReply);
  switch (header.outcome) {
    case Outcome::rpc_mismatch:
      out.word(kDenied);
      out.word(0);
      out.word(header.low);
      out.word(header.high);
      return;
    case Outcome::auth_error:
      out.word(kDenied);
      out.word(1);
      out.word(header.high);
      return;
    default:
      out.word(kAccepted);
      put_none(out);
      out.word(static_cast<std::uint32_t>(header.outcome));
      if (header.outcome != Outcome::program_mismatch) return;
      out.word(header.low);
      out.word(header.high);
  }
}

Result<CallHeader> get_call(XdrReader& in) {
  CallHeader header;
  header.xid = in.word();
  const auto type = in.word();
  const auto version = in.word();
  header.program = in.word();
  header.version = in.word();
  header.procedure = in.word();
  if (in.good() && type != kCall) return fail("RPC message {:#010x} is no call", header.xid);
  if (in.good() && version != kRpcVersion)
    return fail("RPC call {:#010x} has version {} of RPC, not {}", header.xid, version, kRpcVersion);
  header.credential = get_credential(in);
  in.word();
  in.opaque(kMostAuth);
  if (!in.good()) return fail("RPC call {:#010x} is not whole", header.xid);
  return header;
}

Result<ReplyHeader> get_reply(XdrReader& in) {
  ReplyHeader header;
  header.xid = in.word();
  const auto type = in.word();
  const auto stat = in.word();
  if (in.good() && type != kReply) return fail("RPC message {:#010x} is no reply", header.xid);
  if (stat == kDenied) {
    const auto why = in.word();
    if (why > 1) in.fail();
    header.outcome = why == 0 ? Outcome::rpc_mismatch : Outcome::auth_error;
    if (why == 0) header.low = in.word();
    header.high = in.word();
  } else {
    if (stat != kAccepted) in.fail();
    in.word();
    in.opaque(kMostAuth);
    const auto outcome = in.word();
    if (outcome > static_cast<std::uint32_t>(Outcome::system_error)) in.fail();
    header.outcome = static_cast<Outcome>(in.good() ? outcome : 0);
    if (header.outcome == Outcome::program_mismatch) {
      header.low = in.word();
      header.high = in.word();
    }
  }
  if (!in.good()) return fail("RPC reply {:#010x} is not whole", header.xid);
  return header;
}

void put(XdrWriter& out, const RecordMark& mark) {
  out.word(mark.length | (mark.last ? kLastFragment : 0));
}

RecordMark get_mark(XdrReader& in) {
  const auto word = in.word();
  return {word & ~kLastFragment, (word & kLastFragment) != 0};
}

}  // namespace longhaul::workloads::rpc
