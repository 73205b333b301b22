// Specs that stay as they are whatever the catalog becomes, and a campaign made of them.
#pragma once

#include "degen/impairment/spec.hh"
#include "model/cell.hh"
#include "orchestrator/campaign/cells.hh"

namespace longhaul::orchestrator::testing {

inline WorkloadSpec ping() {
  WorkloadSpec spec;
  spec.name = "ping";
  spec.parameters = {
      {.name = "size", .kind = Kind::size, .help = "", .fallback = Value{64}, .min = 1, .max = 4 << 20, .choices = {}},
      {.name = "op",
       .kind = Kind::choice,
       .help = "",
       .fallback = Value{"write"},
       .choices = {"write", "write_imm", "send"},
       .needs = Capability::send_receive},
      {.name = "duration", .kind = Kind::duration, .help = "", .fallback = Value{1'000'000'000}, .choices = {}},
      {.name = "warmup", .kind = Kind::duration, .help = "", .fallback = Value{100'000'000}, .choices = {}},
      {.name = "client_nodes",
       .kind = Kind::count,
       .help = "",
       .fallback = Value{1},
       .min = 1,
       .max = 8,
       .choices = {}}};
  spec.metrics = {{.name = "latency", .unit = "ns", .better = Better::lower, .help = ""}};
  spec.roles = {Role::client, Role::server};
  spec.needs = [](const Parameters& parameters) -> std::vector<Capability> {
    const auto it = parameters.find("op");
    if (it != parameters.end() && it->second == Value{"write_imm"}) return {Capability::write_with_immediate};
    return {};
  };
  spec.plot_axis = "delay";
  return spec;
}

/// The same by another name, with a metric of its own.
inline WorkloadSpec pong() {
  auto spec = ping();
  spec.name = "pong";
  spec.metrics = {{.name = "ratio", .unit = "1", .better = Better::higher, .help = ""}};
  return spec;
}

/// Computes on one node, without a transport and without a duration.
inline WorkloadSpec solo() {
  WorkloadSpec spec;
  spec.name = "solo";
  spec.parameters = {{.name = "policy", .kind = Kind::choice, .fallback = Value{"lru"}},
                     {.name = "capacity", .kind = Kind::size, .fallback = Value{4096}}};
  spec.metrics = {{.name = "hits", .unit = "1", .better = Better::higher, .help = ""}};
  spec.roles = {Role::local};
  spec.transports = {};
  spec.plot_axis = "capacity";
  return spec;
}

/// Measures one node's RDMA device.
inline WorkloadSpec card() {
  auto spec = solo();
  spec.name = "card";
  spec.parameters = {{.name = "size", .kind = Kind::size, .fallback = Value{64}},
                     {.name = "duration", .kind = Kind::duration, .fallback = Value{100'000'000}}};
  spec.transports = {"rdma"};
  spec.plot_axis = "size";
  return spec;
}

inline Vocabulary vocabulary() {
  return {
      .common = common_axes(), .impairment = degen::impairment_axes(), .workloads = {ping(), pong(), solo(), card()}};
}

inline Result<Campaign> read(std::string text) {
  auto file = parse_campaign("c.yaml", std::move(text));
  if (!file) return tl::unexpected(file.error());
  return understand(std::move(*file), vocabulary());
}

/// The cells, or the error of whatever step refuses.
inline Result<std::vector<CampaignCell>> cells_of(std::string text) {
  const auto campaign = read(std::move(text));
  if (!campaign) return tl::unexpected(campaign.error());
  return expand(*campaign);
}

}  // namespace longhaul::orchestrator::testing
