// The record: one described struct, one JSON document. The bench emits a NodeRecord per node; the wire relays it; the
// orchestrator assembles the RunRecord; the store keeps it verbatim.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/cell.hh"
#include "model/histogram.hh"
#include "model/virtual_clock.hh"

namespace longhaul {

inline constexpr int kRecordSchema = 1;

BOOST_DESCRIBE_ENUM(Kind, duration, size, rate, fraction, count, flag, choice)
BOOST_DESCRIBE_ENUM(Role, client, server, router, local)
BOOST_DESCRIBE_ENUM(Better, lower, higher, neither)

/// The outcome of a run. limited: by window, queue or time-out; refused: the WAN was not as asked.
enum class Status { ok, limited, unsupported, refused, failed };
BOOST_DESCRIBE_ENUM(Status, ok, limited, unsupported, refused, failed)
/// Whether the figures of such a run are of use, and it need not be made again.
constexpr bool counts(Status status) {
  return status == Status::ok || status == Status::limited;
}

/// A histogram as data: alternating bucket index and count (model/histogram.hh), exact extremes and sum.
struct HistogramData {
  std::vector<std::uint64_t> buckets;
  std::int64_t min = 0;
  std::int64_t max = 0;
  double sum = 0;
};
BOOST_DESCRIBE_STRUCT(HistogramData, (), (buckets, min, max, sum))
HistogramData to_data(const Histogram& histogram);
Result<Histogram> from_data(const HistogramData& data);

/// One metric of one run, in its spec's base unit. With a distribution, `value` is its median.
struct Metric {
  double value = 0;
  std::uint64_t samples = 0;
  std::optional<HistogramData> distribution;
  std::vector<std::int64_t> raw;  ///< the first samples in order, bounded by the harness
};
BOOST_DESCRIBE_STRUCT(Metric, (), (value, samples, distribution, raw))

/// Facts about the transport as it was used on this node.
struct TransportFacts {
  std::string transport;  ///< tcp, rdma
  std::string provider;   ///< kernel, rxe, siw ...
  std::string device;     ///< RDMA device, or the netdev for tcp
  std::string netdev;
  std::string local_address;
  std::string peer_address;
  std::string gid;               ///< empty for tcp and iWARP without one
  std::int64_t mtu = 0;          ///< RDMA path MTU, or the netdev's MTU for tcp, bytes
  std::int64_t queue_depth = 0;  ///< send queue entries, or socket send buffer in bytes for tcp
  std::int64_t retry_count = 0;
  std::int64_t timeout_ns = 0;             ///< RDMA ack time-out, or TCP RTO as found
  std::string congestion_control;          ///< tcp only
  std::map<std::string, double> counters;  ///< deltas over the window: TCP_INFO, RDMA hardware counters
};
BOOST_DESCRIBE_STRUCT(TransportFacts, (),
                      (transport, provider, device, netdev, local_address, peer_address, gid, mtu, queue_depth,
                       retry_count, timeout_ns, congestion_control, counters))

/// CPU time of the measured window, nanoseconds; the node's are summed over its processors.
struct CpuUse {
  std::int64_t wall = 0;
  std::int64_t node_user = 0;
  std::int64_t node_nice = 0;
  std::int64_t node_system = 0;
  std::int64_t node_irq = 0;
  std::int64_t node_softirq = 0;
  std::int64_t node_steal = 0;
  std::int64_t node_idle = 0;
  std::int64_t process_user = 0;
  std::int64_t process_system = 0;
  std::optional<std::int64_t> process_cycles = {};  ///< where the processor counts them and lets us read it
  /// Of user and system: rounds of the measuring loop that found nothing. Absent where another loop measures.
  std::optional<std::int64_t> process_polling = {};
};
BOOST_DESCRIBE_STRUCT(CpuUse, (),
                      (wall, node_user, node_nice, node_system, node_irq, node_softirq, node_steal, node_idle,
                       process_user, process_system, process_cycles, process_polling))

/// The result of one bench process.
struct NodeRecord {
  int schema = kRecordSchema;
  std::string workload;
  Role role = Role::client;
  Parameters parameters;  ///< the workload's, as used
  std::map<std::string, Metric> metrics;
  std::optional<TransportFacts> transport;
  std::optional<CpuUse> cpu;
  std::int64_t window_start = 0;  ///< CLOCK_REALTIME ns of the measured window
  std::int64_t window_stop = 0;
  std::vector<std::string> limits;  ///< why the result is limited; empty: it is not
};
BOOST_DESCRIBE_STRUCT(NodeRecord, (),
                      (schema, workload, role, parameters, metrics, transport, cpu, window_start, window_stop, limits))

/// One direction of the router: residence times in ns.
struct PathDirection {
  std::int64_t asked = 0;       ///< one-way delay of the campaign
  std::int64_t programmed = 0;  ///< what the engine was told: asked less its systematic lateness
  std::int64_t achieved = 0;    ///< median residence less the residence without impairment
  std::int64_t p99 = 0;         ///< of the residence, same subtraction
  std::int64_t unimpaired = 0;  ///< the residence subtracted
  std::uint64_t samples = 0;
  std::uint64_t dropped = 0;  ///< probes that entered the router and did not leave, and the engine's own drop counter
  std::optional<std::uint64_t> packets = {};  ///< of the whole run, where faults were asked for (axis `faults`)
};
BOOST_DESCRIBE_STRUCT(PathDirection, (), (asked, programmed, achieved, p99, unimpaired, samples, dropped, packets))

/// The WAN as measured while the run's window was open (before and after in `before`, `after`: achieved medians).
struct PathRecord {
  std::string engine;     ///< the one that was used
  PathDirection forward;  ///< client to server
  PathDirection back;
  std::int64_t rtt = 0;             ///< median round trip at the ends, ns
  std::int64_t rtt_unimpaired = 0;  ///< the same without impairment
  std::uint64_t rtt_samples = 0;
  std::vector<std::int64_t> before;  ///< achieved forward, back
  std::vector<std::int64_t> after;
  bool within_tolerance = true;
  std::optional<std::string> chosen = {};  ///< why this engine, where the campaign says `engine: auto`
  std::optional<std::uint64_t> seed = {};  ///< of its random parts; absent: there are none, or the kernel drew them
};
BOOST_DESCRIBE_STRUCT(PathRecord, (),
                      (engine, forward, back, rtt, rtt_unimpaired, rtt_samples, before, after, within_tolerance, chosen,
                       seed))

/// A run: one execution of a cell.
struct RunRecord {
  int schema = kRecordSchema;
  std::string run_id;  ///< unique in the campaign: "<cell id>/<repetition>/<attempt>"
  std::string cell_id;
  std::string workload;
  Parameters parameters;  ///< the cell's, defaults left out
  int repetition = 0;     ///< the block's number, from 0
  int attempt = 0;        ///< refused and failed runs are repeated
  Status status = Status::ok;
  std::string message;  ///< why it is not ok
  std::string topology;
  std::int64_t started = 0;  ///< CLOCK_REALTIME ns at the orchestrator
  std::int64_t finished = 0;
  std::map<std::string, NodeRecord> nodes;  ///< by node name
  std::optional<PathRecord> path;
  std::map<std::string, std::string> facts;        ///< node name -> digest of its NodeFacts in the store
  std::optional<VirtualClock> virtual_clock = {};  ///< empty: it was timed by the host's clock
};
BOOST_DESCRIBE_STRUCT(RunRecord, (),
                      (schema, run_id, cell_id, workload, parameters, repetition, attempt, status, message, topology,
                       started, finished, nodes, path, facts, virtual_clock))

std::string to_json(const NodeRecord& record);
std::string to_json(const RunRecord& record);
/// Refuse a newer schema; upgrade an older one.
Result<NodeRecord> node_record_from_json(std::string_view text);
Result<RunRecord> run_record_from_json(std::string_view text);

/// SHA-256 in hex over what the nodes measured: every sample that was kept, every distribution, counter and processor
/// time, by node name. Equal measurements give equal digests, also after a record was written and read. Left out is
/// when it was (window_start, window_stop). Doubles count by nine digits: JSON does not give the last ones back.
std::string samples_digest(const RunRecord& run);

}  // namespace longhaul
