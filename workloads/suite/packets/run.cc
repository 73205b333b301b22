#include "workloads/suite/packets/run.hh"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "observe/clock.hh"
#include "workloads/suite/packets/datagrams.hh"

namespace longhaul::workloads::packets {
namespace {

using namespace std::chrono_literals;

// Each phase (warm-up, window) numbers its own datagrams.
constexpr std::uint32_t kWindowPhase = 2;
constexpr Nanoseconds kGlance = 20ms;  // how long the sender may be deaf
// Behind the last datagram, beyond the round trip: whatever was held on the way is there by then.
constexpr Nanoseconds kAfterwards = 50ms;

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport, Role) {
  if (!offers(transport, Capability::stream))
    return unsupported(
        "packets are datagrams of the kernel's own stack: give transport tcp, beside the provider whose network "
        "interface is meant");
  ConnectionPlan plan;
  adapt(plan, spec, parameters, transport);
  plan.memory = plan.message = 1;
  return plan;
}

// Sends at the times that the pace gives; a sender that was held up does not make good for it.
class Sender : public Lane {
 public:
  Sender(Connection& connection, Datagrams datagrams, const PairedSession& session)
      : connection_(connection),
        datagrams_(std::move(datagrams)),
        size_(static_cast<std::size_t>(session.number("size"))),
        burst_(session.number("burst")),
        interval_(session.duration("interval")) {}

  void reset() override {
    ++phase_;
    sequence_ = 0;
    due_ = observe::raw_time();
  }
  void start() override {}
  bool advance() override {
    const auto now = observe::raw_time();
    if (now < due_) {
      // A sender that spun would keep a processor from the router, which may share it.
      std::this_thread::sleep_for(std::min(due_ - now, kGlance));
      return false;
    }
    for (std::int64_t i = 0; i < burst_; ++i) datagrams_.send(phase_, sequence_++, size_);
    due_ = std::max(due_ + interval_, now + interval_ / 2);
    return true;
  }
  Waitable& waitable() override { return connection_; }
  std::uint64_t sent() const { return sequence_; }

 private:
  Connection& connection_;
  Datagrams datagrams_;
  std::size_t size_;
  std::int64_t burst_;
  Nanoseconds interval_;
  observe::RawTime due_;
  std::uint32_t phase_ = 0;
  std::uint64_t sequence_ = 0;
};

// The kernel stamps and keeps what comes; it is fetched every now and then.
class Collector : public Lane {
 public:
  Collector(Connection& connection, Datagrams datagrams) : connection_(connection), datagrams_(std::move(datagrams)) {}
  void start() override {}
  bool advance() override {
    datagrams_.drain(kWindowPhase, arrivals_);
    return false;
  }
  Waitable& waitable() override { return connection_; }
  const std::vector<DatagramArrival>& arrivals() const { return arrivals_; }

 private:
  Connection& connection_;
  Datagrams datagrams_;
  std::vector<DatagramArrival> arrivals_;
};

std::map<std::string, Metric> client(ClientSession& session) {
  auto lane =
      std::make_unique<Sender>(*session.connections().front(), Datagrams{session.here(), session.there()}, session);
  const auto* sender = lane.get();
  Lanes lanes;
  lanes.push_back(std::move(lane));
  session.await_prepared();
  session.measure(lanes, {});
  session.idle(session.round_trip() + kAfterwards);
  session.check_clock();
  return {{"sent", to_metric(static_cast<double>(sender->sent()), 1)}};
}

std::map<std::string, Metric> server(ServerSession& session) {
  // Else two processors that emit the router's packets deliver them through a queue each, which nothing keeps in order.
  auto lane = std::make_unique<Collector>(*session.connections().front(), Datagrams{session.here(), session.there()});
  auto* collector = lane.get();
  Lanes lanes;
  lanes.push_back(std::move(lane));
  session.prepared();
  session.serve(lanes, true);
  collector->advance();
  session.check_clock();
  const auto sent = session.peer_metric("sent");
  const auto findings = assess(collector->arrivals(), static_cast<std::size_t>(session.number("burst")));
  if (findings.came == 0) throw std::runtime_error(fmt::format("none of {} datagrams came", sent));
  const auto count = static_cast<std::uint64_t>(sent);
  const auto share = [&](double of) { return to_metric(of / sent, count); };
  std::map<std::string, Metric> metrics{{"variation", to_metric({.histogram = findings.variation, .raw = {}})},
                                        {"spread", to_metric(static_cast<double>(findings.spread), findings.came)},
                                        {"loss", share(sent - static_cast<double>(findings.came))},
                                        {"duplicates", share(static_cast<double>(findings.duplicates))},
                                        {"reordered", share(static_cast<double>(findings.overtaking))}};
  if (findings.lost_in_row) metrics["lost_in_row"] = to_metric(*findings.lost_in_row, count);
  if (findings.stretch) metrics["stretch"] = to_metric(*findings.stretch, count);
  return metrics;
}

}  // namespace

Runner runner() {
  return {.workload = "packets", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::packets
