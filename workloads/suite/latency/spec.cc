#include "workloads/suite/latency/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::latency {
namespace {

// No message is faster than the emulated path: half of the round trip, all of it for a read.
std::optional<double> predict(const Parameters& parameters) {
  const auto round_trip = delays_of(parameters).round_trip();
  if (round_trip == 0) return std::nullopt;
  return choice_of(parameters, "op", "write") == "read" ? round_trip : round_trip / 2;
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "latency",
      .summary = "one message at a time, to and fro: half of the round trip (all of it for an RDMA read)",
      .parameters = with_harness(
          {size_parameter(64),
           op_parameter({"write", "write_imm", "write_send", "send", "read"}),
           completion_parameter(),
           {.name = "tool",
            .kind = Kind::choice,
            .help = "own: our messages; peer: the tool that people use, as a child: ib_write_lat, ib_send_lat or "
                    "ib_read_lat (the median of 500 messages), qperf (tcp; sleeps; the mean of whole seconds)",
            .fallback = Value{"own"},
            .choices = {"own", "peer"}},
           {.name = "clients",
            .kind = Kind::count,
            .help = "connections, each with one message on its way, all driven by one thread at either end",
            .fallback = Value{1},
            .min = 1,
            .max = 256,
            .choices = {}},
           verify_parameter(),
           payload_parameter()}),
      .metrics =
          {{.name = "latency",
            .unit = "ns",
            .better = Better::lower,
            .help =
                "half of the round trip of a message and its reply of equal size; for op read the whole time of the "
                "fetch, which is one round trip (as ib_read_lat reports it)"}},
      .roles = {Role::client, Role::server},
      .needs = ping_pong_needs,
      .plot_axis = "delay",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::latency
