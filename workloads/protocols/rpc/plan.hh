// Decides by which parts of RPC over RDMA a call and its reply move, in either design of paper N. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/units.hh"
#include "workloads/protocols/rpc/nfs.hh"
#include "workloads/protocols/rpc/wire.hh"

namespace longhaul::workloads::rpc {

/// Who moves long replies (paper N, section 4). read_write: the server writes into memory that the call offers.
/// read_read: the server offers memory of its own, the client reads it and says RDMA_DONE. push is ours: as read_write,
/// but the server grants memory with its replies, into which the client writes the payload of its next WRITE.
enum class Design { read_write, read_read, push };
Design design_of(const std::string& word);

/// The sizes of a call, in bytes.
struct CallShape {
  std::size_t message = 0;        ///< the RPC call without its payload
  std::size_t payload = 0;        ///< of the arguments: WRITE
  std::size_t reply = 0;          ///< the longest RPC reply, without its payload
  std::size_t reply_payload = 0;  ///< the longest: READ
};

struct CallPlan {
  bool read_chunk = false;   ///< the server reads the payload
  bool long_call = false;    ///< the server reads the whole call: RDMA_NOMSG
  bool pushed = false;       ///< the payload is not read: it is written into a slot that the server granted
  bool write_chunk = false;  ///< offered for the payload of the reply
  bool reply_chunk = false;  ///< offered for the whole reply
  bool operator==(const CallPlan&) const = default;
};

/// `threshold`: bytes of the largest message that may be sent either way, header included. `long_calls`: a call that is
/// longer is read as a whole, its payload with it.
CallPlan plan_call(Design design, const CallShape& shape, std::size_t threshold, bool long_calls = false);

/// A reply as it is, and what the call offered for it.
struct ReplyShape {
  std::size_t message = 0;                  ///< without its payload
  std::size_t payload = 0;                  ///< of READ
  std::optional<std::uint64_t> write_room;  ///< bytes of the write chunk
  std::optional<std::uint64_t> reply_room;  ///< bytes of the reply chunk
  std::size_t header = 0;                   ///< bytes of the header that gives the chunks back
};

enum class ReplyWay {
  inside,           ///< all of it behind the header
  write_chunk,      ///< the payload by RDMA write, the rest behind the header
  reply_chunk,      ///< all of it by RDMA write
  read_chunk,       ///< the client reads the payload
  long_read_chunk,  ///< the client reads all of it
  too_long          ///< the call offered too little: an error
};

ReplyWay plan_reply(Design design, const ReplyShape& shape, std::size_t threshold);

/// One-way trips of the critical path, by the sequences of docs/rpc.md. `reads`: RDMA reads that the longest row of
/// them on one connection makes one after another: ceil(segments / ord).
struct Trips {
  int latency = 2;  ///< until the client has its result
  int exposed = 0;  ///< for which a buffer of the server is open to the client
};
Trips trips_of(ReplyWay way, const CallPlan& call, std::size_t segments, std::size_t ord);

/// What may be under way at a time, and so lets no more calls through than ceiling() says.
struct Window {
  std::size_t threads = 1;
  std::size_t credits = 1;
  std::size_t segments = 1;        ///< RDMA reads of a call
  std::size_t ord = 1;             ///< of the end that reads
  std::size_t server_threads = 0;  ///< that wait for their reads; 0: none does
};

/// Calls a second over a path of this round trip, whatever link and processors could do: min(threads / latency, credits
/// / time to the reply, ord / (segments x round trip), server threads / round trip).
double ceiling(const Window& window, const CallPlan& call, ReplyWay way, Nanoseconds round_trip);

/// The header of messages without chunks.
inline constexpr std::size_t kPlainHeader = 28;

}  // namespace longhaul::workloads::rpc
