// The protocol of degen's unix socket: frames (common/frame.hh) of JSON, one Reply a Request, in order. A connection is
// one client. What a client applied is cleared when its connection ends, and when nothing came from it for kLease.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "degen/impairment/lack.hh"
#include "model/parameter.hh"

namespace longhaul::degen {

inline constexpr int kProtocolVersion = 1;
inline constexpr std::string_view kDefaultSocket = "/run/degen/degen.sock";

/// A holder from whom neither request nor heartbeat came for this long loses its impairment.
inline constexpr std::chrono::milliseconds kLease{5000};
/// Interval of a holder's heartbeats when it sends nothing else.
inline constexpr std::chrono::milliseconds kHeartbeat{1000};
/// Longest request that degen takes, bytes.
inline constexpr std::size_t kMaxRequest = 64 * 1024;
/// Fewest probes from which `measure` learns an engine's lateness.
inline constexpr std::uint64_t kEnoughSamples = 20;

enum class RequestKind {
  apply,     ///< impair: `engine`, `parameters`; replaces what this client applied before. Refused while another client
             ///< holds
  clear,     ///< take away what this client applied; ok when it applied nothing. With `force`: what any client applied
  show,      ///< what is applied by whom and measured so far; changes nothing; anyone may
  measure,   ///< the measured window; ends it and begins the next. Refused while another client holds
  heartbeat  ///< renew the lease; see Reply::held
};
BOOST_DESCRIBE_ENUM(RequestKind, apply, clear, show, measure, heartbeat)

struct Request {
  int version = kProtocolVersion;
  RequestKind kind = RequestKind::heartbeat;
  std::optional<std::string> engine;  ///< apply: one of degen/engines, or auto; absent: netem
  Parameters parameters;              ///< apply: impairment axes (degen/impairment/spec.hh), base units
  std::optional<bool> force;          ///< clear only
  std::optional<std::string> client;  ///< who is asking, for people: "longhaul-agent on router"; any request may set it
  std::optional<std::uint32_t> seed = {};  ///< apply: of what is random; absent: degen draws one
};
BOOST_DESCRIBE_STRUCT(Request, (), (version, kind, engine, parameters, force, client, seed))

/// One direction of the router. Times in ns. Residence = time from arrival on one interface to transmission on the
/// other, by the kernel's own timestamps on one clock, of the probes since the last apply, clear or measure.
struct DirectionReport {
  std::int64_t asked = 0;       ///< one-way delay of the impairment
  std::int64_t programmed = 0;  ///< what the engine was told: asked less its lateness, never below 0
  std::int64_t achieved = 0;    ///< median - unimpaired; 0 without samples
  std::int64_t median = 0;      ///< residence
  std::int64_t p99 = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int64_t unimpaired =
      0;  ///< median residence in the last window (kEnoughSamples or more) in which nobody held the router
  std::uint64_t unimpaired_samples = 0;  ///< 0: it was never measured, and `unimpaired` is 0
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;         ///< probes that entered the router and did not leave
  std::uint64_t duplicated = 0;   ///< probes that left more than once
  std::uint64_t reordered = 0;    ///< probes that left before one that had arrived earlier
  std::uint64_t dropped = 0;      ///< packets, by the engine's own counters: asked losses and full queues together
  std::uint64_t overflowed = 0;   ///< of these, lost to a full queue, where the engine can tell
  std::uint64_t queue_limit = 0;  ///< packets; 0: nothing is applied in this direction
  std::int64_t lateness = 0;      ///< degen's estimate for this engine and delay, used by the next apply
  std::optional<std::uint64_t> packets;  ///< that came since the last apply, without probes; where faults are asked for
};
BOOST_DESCRIBE_STRUCT(DirectionReport, (),
                      (asked, programmed, achieved, median, p99, min, max, unimpaired, unimpaired_samples, samples,
                       lost, duplicated, reordered, dropped, overflowed, queue_limit, lateness, packets))

struct Report {
  bool impaired = false;  ///< something is applied (a delay of 0 in every direction applies nothing)
  std::string engine;     ///< empty: nobody holds the router
  std::string holder;     ///< who applied it, with pid; empty: nobody
  Parameters parameters;  ///< as applied, defaults left out
  DirectionReport forward;
  DirectionReport back;
  /// Why the last impairment is not in force any more although nobody cleared it: a qdisc that a stranger removed, an
  /// interface that was made anew. Until the next apply.
  std::optional<std::string> problem;
  std::optional<std::string> chosen = {};  ///< why this engine, where `auto` was asked for
  /// That the engine drew by; absent: nothing is random, or it draws from the kernel's random numbers.
  std::optional<std::uint32_t> seed = {};
  std::vector<Lack> lacks = {};  ///< show only: what degen could not have here when it started
};
BOOST_DESCRIBE_STRUCT(Report, (), (impaired, engine, holder, parameters, forward, back, problem, chosen, seed, lacks))

struct Reply {
  int version = kProtocolVersion;
  bool ok = false;
  std::optional<std::string> error;  ///< when not ok: what, why, remedy
  bool held = false;                 ///< this client holds the router now; false on a heartbeat: the lease was lost
  std::optional<Report> report;      ///< apply, show, measure, clear
};
BOOST_DESCRIBE_STRUCT(Reply, (), (version, ok, error, held, report))

std::string to_json(const Request& request);
std::string to_json(const Report& report);
std::string to_json(const Reply& reply);
/// Refuse what is not a document of this shape, and a newer version.
Result<Request> request_from_json(std::string_view text);
Result<Reply> reply_from_json(std::string_view text);

}  // namespace longhaul::degen
