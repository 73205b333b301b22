#include "workloads/suite/rpc_attack/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::rpc_attack {
namespace {

constexpr std::int64_t kBytes = 256;  // that a key's last byte can be

std::vector<Capability> needs(const Parameters&) {
  return {Capability::send_receive, Capability::write, Capability::read, Capability::registration};
}

std::vector<ParameterSpec> parameters() {
  auto size = size_parameter(16384);
  size.help = "bytes of a READ";
  size.min = 8192;
  size.max = std::int64_t{1} << 20;
  std::vector<ParameterSpec> all{
      {.name = "attack",
       .kind = Kind::choice,
       .help =
           "none; guess: RDMA reads of another client's buffer at the server, by guessed keys, a connection for each; "
           "withhold: RDMA_DONE is never said, so that the server's buffers stay taken; late-write: here the server is "
           "hostile, and writes into a client's buffer whose call is over; flood: more WRITEs than were granted, a "
           "connection for each try; mislead: WRITEs from memory that is not there, which ends the connection while a "
           "thread of the server waits; stall: replies are not taken",
       .fallback = Value{"guess"},
       .choices = {"none", "guess", "withhold", "late-write", "flood", "mislead", "stall"}},
      {.name = "design",
       .kind = Kind::choice,
       .help = "of long replies: read-write or read-read (workload rpc)",
       .fallback = Value{"read-read"},
       .choices = {"read-write", "read-read"}},
      {.name = "domain",
       .kind = Kind::choice,
       .help = "protection domain of the server's connections: own, one for each; or shared by all",
       .fallback = Value{"shared"},
       .choices = {"own", "shared"}},
      {.name = "known",
       .kind = Kind::choice,
       .help =
           "guess: neighbour, the attacker knows the key but for its last byte, as a neighbouring key tells it on rxe; "
           "nothing: any 32 bits; the buffer's address it knows in any case",
       .fallback = Value{"neighbour"},
       .choices = {"neighbour", "nothing"}},
      std::move(size),
      {.name = "tries",
       .kind = Kind::count,
       .help = "guess: keys; withhold, stall: calls; late-write: calls whose buffers are written to; flood, mislead: "
               "connections",
       .fallback = Value{kBytes},
       .min = 1,
       .max = kBytes,
       .choices = {}},
      {.name = "credits",
       .kind = Kind::count,
       .help = "calls under way that the server grants to each client; it has twice as many buffers for it",
       .fallback = Value{std::int64_t{4}},
       .min = 1,
       .max = 64,
       .choices = {}},
      {.name = "give_back",
       .kind = Kind::duration,
       .help = "a buffer for which RDMA_DONE does not come is the server's again after so long; 0: never",
       .fallback = Value{std::int64_t{0}},
       .min = 0,
       .choices = {}},
      {.name = "deferred",
       .kind = Kind::count,
       .help = "late-write: regions that the client, which registers its buffers for each call, keeps registered after "
               "their use (workload rpc)",
       .fallback = Value{std::int64_t{0}},
       .min = 0,
       .max = kBytes,
       .choices = {}}};
  return with_harness(std::move(all));
}

std::vector<MetricSpec> metrics() {
  return {
      {.name = "successes",
       .unit = "1",
       .better = Better::lower,
       .help =
           "guess: keys by which the attacker read another client's buffer; withhold: buffers of the server that stay "
           "taken; late-write: buffers of the client that were changed after their calls; flood, mislead, stall: "
           "calls of the honest client that had no answer afterwards"},
      {.name = "tries",
       .unit = "1",
       .better = Better::neither,
       .help = "keys, calls, late writes or connections",
       .detail = true},
      {.name = "operation",
       .unit = "ns",
       .better = Better::lower,
       .help = "a READ of the honest client, after the attack"},
      {.name = "try_time", .unit = "ns", .better = Better::neither, .help = "mean time of a try", .detail = true},
      {.name = "withheld",
       .unit = "B",
       .better = Better::lower,
       .help = "bytes of the server's buffers that stay taken"},
      {.name = "overdue",
       .unit = "1",
       .better = Better::neither,
       .help = "buffers that the server took back without RDMA_DONE",
       .detail = true}};
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "rpc_attack",
      .summary =
          "a hostile end of RPC over RDMA: guessed keys, RDMA_DONE withheld, late writes, floods; counted (a lab, or "
          "--under-test)",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
  };
}

}  // namespace longhaul::workloads::rpc_attack
