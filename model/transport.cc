#include "model/transport.hh"

#include <algorithm>

namespace longhaul {

const std::vector<TransportSpec>& transports() {
  using enum Capability;
  static const std::vector<TransportSpec> all{
      {.name = "tcp", .title = "sockets", .offers = {stream, event_completion, any_link}, .provider = "kernel"},
      {.name = "rdma",
       .title = "RDMA",
       .offers = {send_receive, write, write_with_immediate, read, event_completion, registration},
       // iWARP has write-with-immediate since RFC 7306 only; siw of Linux does not do it.
       .lacking = {{"siw", {write_with_immediate}}}},
      // UCX speaks InfiniBand and RoCE, no iWARP.
      {.name = "ucx",
       .title = "UCX",
       .offers = {send_receive, write, read, event_completion},
       .lacking = {{"siw", {send_receive, write, read, event_completion}}}},
      // Its put and get over TCP need the target's processor: no remote write or read.
      {.name = "ucx_tcp",
       .title = "UCX over TCP",
       .offers = {send_receive, event_completion, any_link},
       .provider = "kernel"},
  };
  return all;
}

bool is_baseline(std::string_view transport) {
  return transport == transports().front().name;
}

const TransportSpec* find_transport(std::string_view name) {
  const auto& all = transports();
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return it == all.end() ? nullptr : &*it;
}

bool offers(std::string_view transport, Capability capability) {
  const auto* spec = find_transport(transport);
  return spec != nullptr && std::find(spec->offers.begin(), spec->offers.end(), capability) != spec->offers.end();
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const auto& one : transports()) names.push_back(one.name);
  return names;
}

std::vector<std::string> transports_with(Capability capability) {
  auto names = transport_names();
  std::erase_if(names, [&](const auto& name) { return !offers(name, capability); });
  return names;
}

std::string_view spoken(Capability capability) {
  switch (capability) {
    case Capability::stream:
      return "byte stream";
    case Capability::send_receive:
      return "send and receive";
    case Capability::write:
      return "remote write";
    case Capability::write_with_immediate:
      return "write with immediate";
    case Capability::read:
      return "remote read";
    case Capability::event_completion:
      return "completion by event";
    case Capability::registration:
      return "registration of memory";
    case Capability::any_link:
      return "link of its own choice";
  }
  return "?";
}

}  // namespace longhaul
