#include "workloads/suite/packets/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::packets {
namespace {

constexpr std::int64_t kLargest = 1472;  // what fits into a frame of 1500 bytes behind IP and UDP

std::vector<Capability> needs(const Parameters&) {
  return {};
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "packets",
      .summary =
          "numbered datagrams, paced, from client to server: what the path itself does to packets (loss, duplicates, "
          "reordering, how their delay varies, whether bursts keep their spacing)",
      .parameters = with_harness({{.name = "size",
                                   .kind = Kind::size,
                                   .help = "bytes of a datagram",
                                   .fallback = Value{64},
                                   .min = kHeader,
                                   .max = kLargest,
                                   .choices = {}},
                                  {.name = "burst",
                                   .kind = Kind::count,
                                   .help = "datagrams sent back to back each time",
                                   .fallback = Value{1},
                                   .min = 1,
                                   .max = 256,
                                   .choices = {}},
                                  {.name = "interval",
                                   .kind = Kind::duration,
                                   .help = "from the start of one burst to that of the next",
                                   .fallback = Value{1'000'000},
                                   .min = 10'000,
                                   .max = 1'000'000'000,
                                   .choices = {}}}),
      .metrics =
          {{.name = "variation",
            .unit = "ns",
            .better = Better::lower,
            .help = "one-way delay of a packet less the smallest of the run (packet delay variation, RFC 5481, section "
                    "4.2): no clock needs to agree with another"},
           {.name = "spread",
            .unit = "ns",
            .better = Better::lower,
            .help = "between the quartiles of the one-way delay: what jitter leaves of equal delays"},
           {.name = "loss", .unit = "1", .better = Better::lower, .help = "share of the packets that never came"},
           {.name = "lost_in_row",
            .unit = "1",
            .better = Better::neither,
            .help = "packets that were lost one after another (mean): 1.0 and a little where losses are independent, "
                    "loss_burst where they come in bursts; only where any was lost",
            .detail = true},
           {.name = "duplicates",
            .unit = "1",
            .better = Better::lower,
            .help = "copies that came beside the first, by packet sent"},
           {.name = "reordered",
            .unit = "1",
            .better = Better::lower,
            .help = "share of the packets that overtook one sent before them"},
           {.name = "stretch",
            .unit = "1",
            .better = Better::neither,
            .help =
                "how long a burst took to arrive / to be sent (median): 1 where the path keeps its spacing, as many "
                "delays as it has packets where each waits for the one before it"},
           {.name = "sent", .unit = "1", .better = Better::neither, .help = "datagrams"}},
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
      .predict = {},
      .window_may_shrink = false,  // one packet in a hundred or a thousand must be lost often enough
  };
}

}  // namespace longhaul::workloads::packets
