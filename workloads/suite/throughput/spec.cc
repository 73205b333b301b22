#include "workloads/suite/throughput/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::throughput {
namespace {

std::vector<Capability> needs(const Parameters& parameters) {
  if (streams(parameters)) return {Capability::stream};
  const auto op = choice_of(parameters, "op", "write");
  if (op == "send") return {Capability::send_receive, Capability::write};  // credits are written
  return {op == "read" ? Capability::read : Capability::write};
}

std::vector<ParameterSpec> parameters() {
  std::vector<ParameterSpec> all{
      size_parameter(65536),
      {.name = "op",
       .kind = Kind::choice,
       .help = "write, send: client to server; read: server to client. tcp has only its stream: leave it out there",
       .fallback = Value{"write"},
       .choices = {"write", "read", "send"},
       .needs = Capability::send_receive},
      {.name = "streams",
       .kind = Kind::count,
       .help = "connections side by side, driven by one thread at either end",
       .fallback = Value{1},
       .min = 1,
       .max = 64,
       .choices = {}},
      {.name = "tool",
       .kind = Kind::choice,
       .help = "own: our streams; peer: the tool that people use, as a child: iperf3 (tcp; whole seconds), "
               "ib_write_bw or ib_read_bw",
       .fallback = Value{"own"},
       .choices = {"own", "peer"}},
      {.name = "depth",
       .kind = Kind::count,
       .help = "messages under way on a connection; 0: twice what the path delivers in a round trip, as it turns out "
               "(tcp: its buffers decide)",
       .fallback = Value{0},
       .min = 0,
       .max = 1024,
       .choices = {}},
      payload_parameter()};
  for (auto& parameter : strategy_parameters()) all.push_back(std::move(parameter));
  return with_harness(std::move(all));
}

std::vector<MetricSpec> metrics() {
  std::vector<MetricSpec> all{
      {.name = "throughput",
       .unit = "bit/s",
       .better = Better::higher,
       .help = "payload from the first arrival to the last, over all streams: at the receiver for tcp and "
               "send, by acknowledged writes or completed reads"},
      {.name = "ceiling",
       .unit = "bit/s",
       .better = Better::neither,
       .help = "what may be under way at a time / round trip: no more can get through (tcp: its send buffer; "
               "RDMA: its queue, rxe also its 128 packets)"}};
  return with_strategy(std::move(all));
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "throughput",
      .summary = "streams of messages in one direction with queues kept full: what arrives in a second",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
      .predict = {},
  };
}

}  // namespace longhaul::workloads::throughput
