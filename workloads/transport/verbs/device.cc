#include "workloads/transport/verbs/device.hh"

#include <arpa/inet.h>

#include <algorithm>

#include "common/error.hh"
#include "observe/facts.hh"

namespace longhaul::workloads {

std::vector<RdmaDevice> rdma_devices() {
  std::vector<RdmaDevice> devices;
  for (const auto& facts : observe::rdma_links()) {
    RdmaDevice device{facts.name, facts.provider, facts.netdev, {}, facts.transport == "iWARP"};
    if (const auto address = address_of_netdev(facts.netdev)) device.address = address->host();
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string describe(const std::vector<RdmaDevice>& devices) {
  if (devices.empty())
    return "this machine has no RDMA device (a NIC with its driver, or 'rdma link add NAME type rxe netdev DEV' with "
           "module rdma_rxe)";
  std::string text;
  for (const auto& device : devices)
    text += fmt::format("{}{} ({} on {}, {})", text.empty() ? "there are " : ", ", device.name, device.provider,
                        device.netdev.empty() ? "no interface" : device.netdev,
                        device.address.empty() ? "no address" : device.address);
  return text;
}

Attempt<SocketAddress> address_of_device(const std::string& device) {
  const auto devices = rdma_devices();
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == device; });
  if (found == devices.end()) return unsupported("no RDMA device '{}' here: {}", device, describe(devices));
  if (found->address.empty())
    return unsupported("RDMA device '{}' has no address to bind to: give its interface {} one", device, found->netdev);
  auto address = resolve(found->address, 0);
  if (!address) return failed("{}", address.error().message);
  return *address;
}

std::vector<Capability> offers(const RdmaDevice& device) {
  std::vector<Capability> offered{Capability::send_receive, Capability::write, Capability::read,
                                  Capability::event_completion, Capability::registration};
  if (!device.iwarp) offered.push_back(Capability::write_with_immediate);
  return offered;
}

std::vector<std::string> lacking(const ConnectionPlan& plan, const RdmaDevice& device, ibv_context* opened) {
  auto names = missing(plan, offers(device));
  if (!plan.windows) return names;
  ibv_device_attr limits{};
  if (const int error = ::ibv_query_device(opened, &limits); error != 0)
    throw_errno("query RDMA device " + device.name, error);
  if ((limits.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) == 0) names.emplace_back("memory windows of type 2B");
  return names;
}

std::string gid_text(const ibv_gid& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET6, gid.raw, text, sizeof text);
  return text;
}

}  // namespace longhaul::workloads
