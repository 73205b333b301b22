#include "workloads/suite/throughput/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::throughput {
namespace {

std::vector<Capability> needs(const Parameters& parameters) {
  if (choice_of(parameters, "transport", "rdma") == "tcp") return {Capability::stream};
  return {choice_of(parameters, "op", "write") == "read" ? Capability::read : Capability::write};
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "throughput",
      .summary = "streams of messages in one direction with queues kept full: what arrives in a second",
      .parameters = with_harness(
          {size_parameter(65536),
           {.name = "op",
            .kind = Kind::choice,
            .help = "write: client to server; read: server to client. tcp has only its stream: leave it out there",
            .fallback = Value{"write"},
            .choices = {"write", "read"},
            .transport = "rdma"},
           {.name = "streams",
            .kind = Kind::count,
            .help = "connections side by side, driven by one thread at either end",
            .fallback = Value{1},
            .min = 1,
            .max = 64,
            .choices = {}},
           {.name = "depth",
            .kind = Kind::count,
            .help = "messages under way on a connection; 0: as many as the bandwidth-delay product asks for (tcp: its "
                    "buffers decide)",
            .fallback = Value{0},
            .min = 0,
            .max = 1024,
            .choices = {}}}),
      .metrics = {{.name = "throughput",
                   .unit = "bit/s",
                   .better = Better::higher,
                   .help = "payload from the first arrival to the last, over all streams: at the receiver for tcp, by "
                           "acknowledged writes or completed reads for RDMA"},
                  {.name = "ceiling",
                   .unit = "bit/s",
                   .better = Better::neither,
                   .help =
                       "what may be under way at a time / round trip: no more can get through (tcp: its send buffer; "
                       "RDMA: its queue, rxe also its 128 packets)"}},
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
      .predict = {},
  };
}

}  // namespace longhaul::workloads::throughput
