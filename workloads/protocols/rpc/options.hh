// The settings of an RPC connection that both ends have alike, and the layout of either end's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/protocols/rpc/nfs.hh"
#include "workloads/protocols/rpc/plan.hh"
#include "workloads/protocols/rpc/store.hh"
#include "workloads/protocols/strategy.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads::rpc {

/// What calls name: of our own server, unless another one is asked.
struct Handles {
  nfs::FileHandle file = MemoryStore::file();
  nfs::FileHandle directory = MemoryStore::directory();
  nfs::FileHandle link = MemoryStore::link();
};

/// What a hostile client does.
enum class Misdeed {
  none,
  withholds,  ///< never says RDMA_DONE
  floods,     ///< sends calls that it was not granted
  stalls,     ///< takes no more messages than it had room for at the beginning
  misleads    ///< offers memory under a wrong key: the server's read of it ends the connection
};

struct Options {
  nfs::Procedure procedure = nfs::Procedure::read;
  bool mix = false;  ///< in its place READs and WRITEs as a database makes them, of varying size (mix.hh)
  Design design = Design::read_write;
  std::size_t size = 4096;  ///< READ, WRITE: bytes, of a mix at the most; READDIR: of the result; READLINK: of the path
  std::size_t clients = 1;  ///< of the server, a connection each
  std::size_t client = 0;   ///< which of them, at the client's end
  std::size_t threads = 1;  ///< of a client: each has one call under way, and those for what it reads ahead
  std::size_t ahead = 0;    ///< READ: records that a client asks for before its thread wants them
  std::size_t credits = 32;        ///< calls under way that the server grants
  std::size_t threshold = 4096;    ///< bytes of the largest message that is sent, header included
  std::size_t segment = 1 << 20;   ///< bytes that one segment of a chunk has at the most
  std::size_t ord = 16;            ///< RDMA reads that either end has under way
  std::size_t server_threads = 8;  ///< for all clients together
  bool blocking = true;            ///< a server thread waits for its RDMA reads, as Linux's does
  bool long_calls = false;         ///< WRITEs that do not fit into a message go as one chunk, not their payload alone
  bool copy = false;  ///< the client moves payloads between its registered buffers and the application's memory
  /// The server's reply closes the memory window that the call has opened to it (client_buffers.windows()).
  bool remote_invalidation = false;
  bool shared_domain = false;  ///< the server's connections have one protection domain
  Misdeed misdeed = Misdeed::none;
  Nanoseconds
      give_back{};  ///< a buffer for which RDMA_DONE does not come is the server's again after so long; 0: never
  StrategyOptions client_buffers = {};
  StrategyOptions server_buffers = {};
  Handles handles = {};

  bool pushes() const { return design == Design::push && !long_calls && (mix || procedure == nfs::Procedure::write); }
  bool moves_payload() const { return mix || procedure == nfs::Procedure::read || procedure == nfs::Procedure::write; }
  /// Records of a thread that are asked for, or held, at a time.
  std::size_t kept() const { return ahead + 1; }
  /// Calls that a client has under way at the most, if it is granted as many.
  std::size_t lines() const { return threads * kept(); }
  /// Each thread of each client has records of its own.
  std::size_t records() const { return kRecords * kept(); }
  std::uint64_t file_size() const { return size * threads * clients * records(); }
  static constexpr std::size_t kRecords = 4;
};

/// Bytes behind a message's header that an RPC call or reply of ours takes at the most, without payload.
inline constexpr std::size_t kMostMessage = 512;

/// Bytes of one RDMA write of a reply. rxe has 128 packets under way and acknowledges a write at its end or after 64:
/// shorter writes let several replies' windows move evenly.
std::size_t longest_write(const Options& options);

/// What the peer of an end may do to its memory: no more than the design makes use of.
Rights rights_of(const Options& options, Role role);

/// Either end's memory: messages out, messages in, buffers.
struct Layout {
  Layout(const Options& options, Role role, bool stream);

  std::size_t stride;  ///< from one message's place to the next's
  std::size_t out;     ///< a ring
  std::size_t out_slots;
  std::size_t in;  ///< receives
  std::size_t in_slots;
  std::size_t buffers;  ///< of payloads and long messages, whole pages each
  std::size_t buffer_stride;
  std::size_t buffer_slots;
  std::size_t pushed;  ///< of design push, at the server: where clients write payloads, buffer_stride each
  std::size_t pushed_slots;
  std::size_t total;
};

/// Bytes that the server may have registered for one client at the most. A page that is registered twice counts twice,
/// as it does for the limit of locked memory: deferred regions lie over the same buffers.
std::size_t pinned_by(const Options& options);

/// What an end needs of each of its connections. Refuses what the sizes do not allow.
Attempt<ConnectionPlan> plan_of(const Options& options, Role role, bool stream);

}  // namespace longhaul::workloads::rpc
