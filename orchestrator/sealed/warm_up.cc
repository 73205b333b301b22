#include "orchestrator/sealed/warm_up.hh"

#include <fmt/ranges.h>

#include "degen/engines/planner.hh"
#include "model/cell.hh"

namespace longhaul::orchestrator {
namespace {

constexpr const char* kSettling = R"(name: settling
series:
  - {transport: rdma, provider: rxe}
  - {transport: tcp, rival: rxe}
  - {transport: rdma, provider: siw}
  - {transport: tcp, rival: siw}
fixed: {delay: 100us, size: 16KiB, warmup: 2ms, duration: 10ms}
experiments:
  - workload: latency
  - workload: latency
    axes: {completion: [event]}
    fixed: {delay: 100us, size: 16KiB, warmup: 2ms, duration: 10ms, op: send}
  - workload: latency             # so that the direct links are known, too
    series: [{transport: rdma, provider: rxe}, {transport: rdma, provider: siw}]
    fixed: {path: lan, warmup: 2ms, duration: 10ms}
  - workload: rendezvous
  - workload: overlap
    fixed: {delay: 100us, size: 16KiB, warmup: 2ms, duration: 10ms, compute: 100us}
)";

constexpr const char* kRehearsal = R"(name: rehearsal
series:
  - {transport: rdma, provider: rxe}
  - {transport: tcp, rival: rxe}
  - {transport: rdma, provider: siw}
fixed: {delay: 100us, size: 16KiB, warmup: 2ms, duration: 10ms}
experiments:
  - workload: latency
  - workload: rendezvous
    series: [{transport: rdma, provider: rxe}, {transport: tcp, rival: rxe}]
)";

SealedOrder order_of(std::string campaign) {
  SealedOrder order;
  order.campaign_text = std::move(campaign);
  order.clock = kVirtualClock;
  order.variation = vary(0, 0, 0);
  order.limit = Nanoseconds{std::chrono::minutes{2}}.count();
  return order;
}

}  // namespace

SealedOrder settling_order() {
  return order_of(kSettling);
}

// The window is long enough for as many probes as degen learns from.
SealedOrder engines_order() {
  return order_of(
      fmt::format("name: engines\n"
                  "workload: latency\n"
                  "series: [{{transport: tcp, rival: rxe}}]\n"
                  "axes: {{engine: [{}], delay: [100us, 5ms]}}\n"
                  "fixed: {{size: 1KiB, warmup: 2ms, duration: 150ms}}\n",
                  fmt::join(degen::engine_names(), ", ")));
}

SealedOrder rehearsal_order() {
  return order_of(kRehearsal);
}

}  // namespace longhaul::orchestrator
