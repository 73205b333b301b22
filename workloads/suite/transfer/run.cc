#include "workloads/suite/transfer/run.hh"

#include <stdexcept>

#include "workloads/protocols/frrwp/endpoint.hh"
#include "workloads/protocols/frrwp/engine.hh"
#include "workloads/protocols/frrwp/transfer.hh"
#include "workloads/suite/transfer/moments.hh"
#include "workloads/suite/transfer/overheads.hh"
#include "workloads/suite/transfer/sockets.hh"

namespace longhaul::workloads::transfer {
namespace {

using frrwp::Direction;
using frrwp::Protocol;

Protocol protocol_of(const std::string& word) {
  if (word == "frrwp") return Protocol::frrwp;
  if (word == "frrwp+crw") return Protocol::crw;
  return word == "advertised" ? Protocol::advertised : Protocol::typical;
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport, Role) {
  const auto reuse = reuse_of(spec, parameters);
  if (!reuse) return tl::unexpected(reuse.error());
  const auto protocol = text(parameters, spec.parameters, "protocol");
  const bool stream = offers(transport, Capability::stream);
  if (!stream && integer(parameters, spec.parameters, "paired") != 0 &&
      (protocol == "typical" || protocol == "advertised"))
    return wrong_input("--paired compares frrwp and frrwp+crw with the typical process: not --protocol {}", protocol);
  auto plan = stream
                  ? sockets_plan(*reuse)
                  : frrwp::plan_of(reuse->area, reuse->longest, strategy_of(spec, parameters, transport).registers());
  if (plan) adapt(*plan, spec, parameters, transport);
  return plan;
}

/// One end: who drives the connection, and the transfers over it.
struct End {
  std::unique_ptr<Computation> computation;
  std::unique_ptr<frrwp::Port> port;
  Lanes lanes;
  frrwp::Options options;  // rdma
  frrwp::Transfer* rdma = nullptr;
  SocketTransfer* sockets = nullptr;

  void verify_last() const {
    if (rdma != nullptr) rdma->verify_last();
    if (sockets != nullptr) sockets->verify_last();
  }
  void log_to(MomentLog& log) const {
    const auto typical_of_pair = [this](frrwp::Tag tag) {
      return options.paired && frrwp::Transfer::is_typical(options, tag);
    };
    (rdma != nullptr ? rdma->on_closed : sockets->on_closed) =
        [typical_of_pair, &log](frrwp::Tag tag, const frrwp::Moments& here, const frrwp::Moments& there) {
          if (typical_of_pair(tag))
            log.add_typical(here, there);
          else
            log.add(here, there);
        };
  }
};

bool writes(const PairedSession& session) {
  return session.word("direction") == "write";
}

End make(PairedSession& session, Role role) {
  auto& connection = *session.connections().front();
  auto reuse = reuse_of(session.spec(), session.parameters());
  if (!reuse) throw std::runtime_error(reuse.error().message);
  const bool write = writes(session);
  End end;
  if (session.streams()) {
    auto lane = std::make_unique<SocketTransfer>(connection, *reuse, write, role);
    end.sockets = lane.get();
    end.lanes.push_back(std::move(lane));
    return end;
  }
  auto& options = end.options;
  options = {.protocol = protocol_of(session.word("protocol")),
             .direction = write ? Direction::write : Direction::read,
             .reuse = *reuse,
             .strategy = strategy_of(session.spec(), session.parameters(), session.transport()),
             .credits = static_cast<std::uint64_t>(session.number("credits")),
             .paired = session.number("paired") != 0};
  const bool source = (role == Role::client) == write;
  if (source && session.duration("compute") > Nanoseconds{0}) {
    end.computation = std::make_unique<Computation>(session.duration("compute"));
    options.computation = end.computation.get();
  }
  const frrwp::Layout layout{reuse->area};
  const auto patience = session.duration("timeout");
  if (source && options.protocol == Protocol::crw) {
    session.leave(connection);
    end.port = std::make_unique<frrwp::Engine>(
        connection, layout, patience,
        session.word("progress") == "poll" ? frrwp::Engine::Waiting::spin : frrwp::Engine::Waiting::sleep);
  } else {
    end.port = std::make_unique<frrwp::Endpoint>(connection, layout, patience);
  }
  auto lane = std::make_unique<frrwp::Transfer>(*end.port, connection, layout.buffers, options, role);
  end.rdma = lane.get();
  end.lanes.push_back(std::move(lane));
  return end;
}

// Of whichever end is the source.
void add_computation(std::map<std::string, Metric>& metrics, const End& end) {
  if (end.rdma != nullptr && end.rdma->computations().count() > 0)
    metrics["computation"] = to_metric({.histogram = end.rdma->computations(), .raw = {}});
}

// Forgets what was logged when the window opens.
class LoggedLane final : public Lane {
 public:
  LoggedLane(Lane& lane, MomentLog& log) : lane_(lane), log_(log) {}
  void start() override { lane_.start(); }
  bool advance() override { return lane_.advance(); }
  Waitable& waitable() override { return lane_.waitable(); }
  void reset() override {
    log_.reset();
    lane_.reset();
  }

 private:
  Lane& lane_;
  MomentLog& log_;
};

std::map<std::string, Metric> client(ClientSession& session) {
  std::map<std::string, Metric> metrics;
  // Before the server's first word, which comes after the clock's.
  if (!session.streams()) metrics = measure_overheads(*session.connections().front(), frrwp::Layout{0}.scratch);
  const auto clock = session.peer_clock();
  MomentLog log{writes(session), clock};
  const auto end = make(session, Role::client);
  end.log_to(log);
  Lanes lanes;
  lanes.push_back(std::make_unique<LoggedLane>(*end.lanes.front(), log));
  session.measure(lanes, {.sleeping = session.sleeps()});
  end.verify_last();
  metrics.merge(log.metrics());
  add_computation(metrics, end);
  session.count("peer_clock_offset_ns", static_cast<double>(clock.offset.count()));
  session.count("peer_clock_error_ns", static_cast<double>(clock.error.count()));
  if (log.left_out())
    session.limit("the clocks of the two ends may differ by more than the times from one to the other: left out");
  if (end.rdma != nullptr) {
    if (const auto counters = end.rdma->registrations()) {
      metrics.merge(registration_metrics(*counters, counters->requests));
      session.count("registrations_out_of_memory", static_cast<double>(counters->out_of_memory));
    }
  }
  return metrics;
}

std::map<std::string, Metric> server(ServerSession& session) {
  session.tell_clock();
  const auto end = make(session, Role::server);
  session.serve(end.lanes, session.sleeps());
  end.verify_last();
  std::map<std::string, Metric> metrics;
  add_computation(metrics, end);
  return metrics;
}

}  // namespace

Runner runner() {
  return {.workload = "transfer", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::transfer
