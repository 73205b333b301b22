#include "workloads/suite/cpu_load/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::cpu_load {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

std::vector<Capability> needs(const Parameters& parameters) {
  if (streams(parameters)) return {Capability::stream, Capability::event_completion};
  return {Capability::write};
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "cpu_load",
      .summary =
          "an application computes on the server while clients send to it without pause: how much longer it takes",
      .parameters = with_harness(
          {size_parameter(16384),
           {.name = "clients",
            .kind = Kind::count,
            .help = "connections that send, driven by one thread a node; over tcp one thread of the server receives, "
                    "by RDMA "
                    "write nobody does",
            .fallback = Value{40},
            .min = 1,
            .max = 256,
            .choices = {}},
           {.name = "client_nodes",
            .kind = Kind::count,
            .help = "over how many client nodes they are spread; by hand: start a client with the same options on each",
            .fallback = Value{1},
            .min = 1,
            .max = 64,
            .choices = {}},
           {.name = "send_rate",  // `rate` is the link's
            .kind = Kind::rate,
            .help = "payload of all clients together, each message sent when the one before it is through; 0: without "
                    "pause",
            .fallback = Value{0},
            .min = 0,
            .max = 1'000'000'000'000,
            .choices = {}},
           {.name = "depth",
            .kind = Kind::count,
            .help = "messages under way on each connection",
            .fallback = Value{4},
            .min = 1,
            .max = 1024,
            .choices = {}},
           {.name = "work",
            .kind = Kind::duration,
            .help = "how long one run of the application lasts when nothing else does",
            .fallback = Value{20 * kMillisecond},
            .min = kMillisecond,
            .max = 10'000 * kMillisecond,
            .choices = {}},
           {.name = "alone",
            .kind = Kind::duration,
            .help = "how long the application is timed without traffic, before the clients send; they spin meanwhile, "
                    "so that "
                    "a machine shared by both ends is as busy as later",
            .fallback = Value{400 * kMillisecond},
            .min = kMillisecond,
            .max = 60'000 * kMillisecond,
            .choices = {}}}),
      .metrics = {{.name = "slowdown",
                   .unit = "1",
                   .better = Better::lower,
                   .help = "run time of the application under traffic / without (WAN paper, section 4.4)"},
                  {.name = "run_time",
                   .unit = "ns",
                   .better = Better::lower,
                   .help = "of the application under traffic: at the pace that it kept while the window was open"},
                  {.name = "run_time_alone",
                   .unit = "ns",
                   .better = Better::neither,
                   .help = "at its pace without traffic, before it"},
                  {.name = "received",
                   .unit = "bit/s",
                   .better = Better::higher,
                   .help = "payload that arrived meanwhile: the same slowdown at more of it is the cheaper one"},
                  {.name = "sent",
                   .unit = "bit/s",
                   .better = Better::neither,
                   .help = "of it, what this client's RDMA writes brought"},
                  {.name = "cpu_per_byte",
                   .unit = "ns/B",
                   .better = Better::lower,
                   .help = "time of the server's processor that the application lost, by byte received"},
                  {.name = "cycles_per_byte",
                   .unit = "1/B",
                   .better = Better::lower,
                   .help = "the same in cycles; only where the processor counts them and lets us read it"}},
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "size",
      .predict = {},
      .window_may_shrink = false,  // a starved application gets on by fits and starts
  };
}

}  // namespace longhaul::workloads::cpu_load
