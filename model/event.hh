// The child contract: what a workload process tells its supervisor, one JSON document a frame (common/frame.hh) on the
// descriptor that LONGHAUL_EVENT_FD names.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "model/record.hh"

namespace longhaul {

enum class BenchEventKind {
  ready,         ///< a server listens on `port`; a client has connected
  window_start,  ///< warm-up is over, the measured window opens
  window_stop,   ///< it closes
  progress,      ///< `done` in [0, 1]
  record,        ///< `record`; the last event of a good run
  unsupported,   ///< `message`: the transport or device cannot do it
  failed         ///< `message`
};
BOOST_DESCRIBE_ENUM(BenchEventKind, ready, window_start, window_stop, progress, record, unsupported, failed)

struct BenchEvent {
  BenchEventKind kind = BenchEventKind::failed;
  std::int64_t time = 0;  ///< CLOCK_REALTIME ns at the node
  std::optional<std::uint16_t> port;
  std::optional<double> done;
  std::optional<std::string> message;
  std::optional<NodeRecord> record;
};
BOOST_DESCRIBE_STRUCT(BenchEvent, (), (kind, time, port, done, message, record))

std::string to_json(const BenchEvent& event);
Result<BenchEvent> bench_event_from_json(std::string_view text);

}  // namespace longhaul
