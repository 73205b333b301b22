// The messages between controllers and agents: JSON documents, one a frame (common/frame.hh), over TLS 1.3.
//
//   agent: Hello, when the handshake has proved that the peer is a controller
//   controller: Request, each with its own id       agent: Reply with that id, in any order; RunEvents in between
//
// A message that cannot be understood, or that asks for too much, is answered by a ServerMessage of kind `error` and
// the connection is closed. A request that is understood and refused gets a Reply with `failure`; the connection lives
// on.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "degen/client/messages.hh"
#include "model/event.hh"
#include "model/facts.hh"

namespace longhaul::agents {

/// Raised with every change that an older peer would misread. Peers of another version are refused by both sides.
inline constexpr int kProtocol = 4;

inline constexpr std::size_t kMaxRequest = std::size_t{256} << 10;  ///< bytes; what a controller may send in one frame
inline constexpr std::int64_t kMaxProbes = 100'000;                 ///< in one request
inline constexpr std::int64_t kMinProbeInterval = 100'000;          ///< ns
inline constexpr std::int64_t kMaxProbeTime = 600'000'000'000;  ///< ns that one request may take, its time-out included

inline constexpr std::int64_t kMaxPadding = 65536;

inline constexpr std::size_t kTokenDigits = 32;  ///< hexadecimal: 128 random bits

struct Hello {
  int protocol = kProtocol;
  std::string node;        ///< as in the agent's certificate
  std::string version;     ///< of longhaul
  std::int64_t lease = 0;  ///< ns without a word from the controller after which the agent lets go of everything
};
BOOST_DESCRIBE_STRUCT(Hello, (), (protocol, node, version, lease))

/// Start longhaul-bench. Only workloads of the catalog, with parameters that their spec admits. A client waits until a
/// ConnectRequest names its server: so it can be started before there is one. A local one measures at once.
struct StartRequest {
  std::string run_id;  ///< names the run in events and in stop; at most one run of a name at a time
  Role role = Role::client;
  std::string workload;
  Parameters parameters;  ///< the workload's axes only; the server is told by its client and gets none
  std::string transport;  ///< tcp or rdma; empty: a local one that has none
  std::string device;     ///< RDMA device; empty: the workload's choice
  std::string bind;       ///< source (client), listening (server) or own (local) address
  /// Bytes that its environment is longer, kMaxPadding at most: where its stack lies should not matter to a result, and
  /// that is found out by moving it.
  std::optional<std::int64_t> padding = {};
  /// A secret of this run, kTokenDigits long: its server serves nobody who does not have it. Server and clients need
  /// one, a local run has none.
  std::string token = {};
};
BOOST_DESCRIBE_STRUCT(StartRequest, (), (run_id, role, workload, parameters, transport, device, bind, padding, token))

/// A clock (CLOCK_MONOTONIC_RAW) less another's, ns.
struct ClockOffset {
  std::int64_t offset = 0;
  std::int64_t error = 0;  ///< by which that may be wrong at the most
};
BOOST_DESCRIBE_STRUCT(ClockOffset, (), (offset, error))

/// Tell a client that was started where its server is. Once a run.
struct ConnectRequest {
  std::string run_id;
  std::string peer;                              ///< the server's address
  std::uint16_t peer_port = 0;                   ///< of the server's `ready` event
  std::optional<ClockOffset> server_clock = {};  ///< less the client's, where they have two; found off the path
};
BOOST_DESCRIBE_STRUCT(ConnectRequest, (), (run_id, peer, peer_port, server_clock))

struct StopRequest {
  std::string run_id;
};
BOOST_DESCRIBE_STRUCT(StopRequest, (), (run_id))

/// Answer probes at this address of the node, until told otherwise or the controller goes.
struct EchoRequest {
  std::string address;
  bool on = true;
  std::string token;  ///< of the probes that are answered, kTokenDigits long; to end it none is needed
};
BOOST_DESCRIBE_STRUCT(EchoRequest, (), (address, on, token))

/// Send probes, each at a random time of its own `interval`; the reply comes when all are back or `timeout` after the
/// last.
struct ProbeRequest {
  std::string local;  ///< address of this node
  std::string peer;   ///< address of a node that echoes
  std::string token;  ///< of the EchoRequest there
  std::int64_t count = 0;
  std::int64_t interval = 10'000'000;    ///< ns
  std::int64_t timeout = 1'000'000'000;  ///< ns
  std::uint64_t seed = 0;                ///< of the times
};
BOOST_DESCRIBE_STRUCT(ProbeRequest, (), (local, peer, token, count, interval, timeout, seed))

struct ProbeResult {
  std::uint32_t session = 0;  ///< as in the packets, for matching with captures
  std::uint32_t sent = 0;
  std::vector<std::int64_t> round_trips;  ///< ns, those that returned
};
BOOST_DESCRIBE_STRUCT(ProbeResult, (), (session, sent, round_trips))

enum class RequestKind { heartbeat, facts, clock, start, connect, stop, echo, probe, degen };
BOOST_DESCRIBE_ENUM(RequestKind, heartbeat, facts, clock, start, connect, stop, echo, probe, degen)

/// `kind` says which one of the bodies is there.
struct Request {
  std::uint64_t id = 0;
  RequestKind kind = RequestKind::heartbeat;
  std::optional<StartRequest> start;
  std::optional<ConnectRequest> connect;
  std::optional<StopRequest> stop;
  std::optional<EchoRequest> echo;
  std::optional<ProbeRequest> probe;
  std::optional<longhaul::degen::Request> degen;  ///< passed on to the node's degen
};
BOOST_DESCRIBE_STRUCT(Request, (), (id, kind, start, connect, stop, echo, probe, degen))

struct Failure {
  std::string message;
  int exit_code = static_cast<int>(ExitCode::failure);
};
BOOST_DESCRIBE_STRUCT(Failure, (), (message, exit_code))

struct Reply {
  std::uint64_t id = 0;
  std::optional<Failure> failure;
  std::optional<NodeFacts> facts;
  std::optional<std::int64_t> clock;  ///< CLOCK_MONOTONIC_RAW of the node, ns
  std::optional<ProbeResult> probe;
  std::optional<longhaul::degen::Reply> degen;
};
BOOST_DESCRIBE_STRUCT(Reply, (), (id, failure, facts, clock, probe, degen))

/// One event of a run. The last event of a run has `exit`, and before it there was exactly one bench event of kind
/// record, unsupported or failed (the agent makes the last where the process ended without one).
struct RunEvent {
  std::string run_id;
  std::optional<BenchEvent> bench;
  std::optional<std::string> exit;  ///< how the process ended: "exit code 0", "killed by signal 9 (Killed)"
};
BOOST_DESCRIBE_STRUCT(RunEvent, (), (run_id, bench, exit))

enum class ServerMessageKind { hello, reply, event, error };
BOOST_DESCRIBE_ENUM(ServerMessageKind, hello, reply, event, error)

struct ServerMessage {
  ServerMessageKind kind = ServerMessageKind::error;
  std::optional<Hello> hello;
  std::optional<Reply> reply;
  std::optional<RunEvent> event;
  std::optional<std::string> error;
};
BOOST_DESCRIBE_STRUCT(ServerMessage, (), (kind, hello, reply, event, error))

std::string to_json(const Request& request);
std::string to_json(const ServerMessage& message);

/// Parse and check everything that can be checked without knowing the node: bodies that fit the kind, lengths, ranges,
/// numeric addresses. The errors name the member.
Result<Request> request_from_json(std::string_view text);
Result<ServerMessage> server_message_from_json(std::string_view text);

}  // namespace longhaul::agents
