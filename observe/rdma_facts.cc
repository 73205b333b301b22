#include <infiniband/verbs.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include <functional>
#include <map>
#include <memory>

#include "observe/facts.hh"

namespace longhaul::observe {
namespace {

using Attributes = nlattr * [RDMA_NLDEV_ATTR_MAX + 1];

struct SocketDeleter {
  void operator()(nl_sock* socket) const { ::nl_socket_free(socket); }
};
using Socket = std::unique_ptr<nl_sock, SocketDeleter>;

struct MessageDeleter {
  void operator()(nl_msg* message) const { ::nlmsg_free(message); }
};
using Message = std::unique_ptr<nl_msg, MessageDeleter>;

using Handler = std::function<void(nlattr**)>;

int on_message(nl_msg* message, void* argument) {
  Attributes attributes{};
  if (::nlmsg_parse(::nlmsg_hdr(message), 0, attributes, RDMA_NLDEV_ATTR_MAX, nullptr) == 0)
    (*static_cast<Handler*>(argument))(attributes);
  return NL_OK;
}

/// Asks the RDMA core; `fill` adds the request's attributes. An unknown device or command answers nothing.
void ask(nl_sock* socket, int command, int flags, const std::function<void(nl_msg*)>& fill, Handler handler) {
  const Message request{::nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags)};
  if (!request) return;
  if (fill) fill(request.get());
  ::nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_message, &handler);
  if (::nl_send_auto(socket, request.get()) < 0) return;
  ::nl_recvmsgs_default(socket);
}

std::string text(const nlattr* attribute) {
  return attribute == nullptr ? "" : ::nla_get_string(attribute);
}

std::string port_state(unsigned state) {
  // As /sys/class/infiniband/*/ports/*/state spells them.
  constexpr const char* kNames[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return state < std::size(kNames) ? kNames[state] : fmt::format("state {}", state);
}

/// The path MTU of every device's port 1 in bytes; only the verbs know it. Devices that cannot be opened are absent.
std::map<std::string, std::int64_t> active_mtus() {
  std::map<std::string, std::int64_t> mtus;
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list{::ibv_get_device_list(&count),
                                                                  ::ibv_free_device_list};
  for (int i = 0; i < count; ++i) {
    auto* device = list.get()[i];
    const std::unique_ptr<ibv_context, int (*)(ibv_context*)> context{::ibv_open_device(device), ::ibv_close_device};
    ibv_port_attr port{};
    if (!context || ibv_query_port(context.get(), 1, &port) != 0 || port.active_mtu < IBV_MTU_256) continue;
    mtus.emplace(::ibv_get_device_name(device), std::int64_t{128} << port.active_mtu);  // IBV_MTU_256 is 1
  }
  return mtus;
}

}  // namespace

std::string rdma_provider(unsigned driver_id) {
  switch (driver_id) {
    case RDMA_DRIVER_MLX5:
      return "mlx5";
    case RDMA_DRIVER_MLX4:
      return "mlx4";
    case RDMA_DRIVER_CXGB4:
      return "cxgb4";
    case RDMA_DRIVER_BNXT_RE:
      return "bnxt_re";
    case RDMA_DRIVER_IRDMA:
      return "irdma";
    case RDMA_DRIVER_VMW_PVRDMA:
      return "vmw_pvrdma";
    case RDMA_DRIVER_QEDR:
      return "qedr";
    case RDMA_DRIVER_HNS:
      return "hns";
    case RDMA_DRIVER_USNIC:
      return "usnic";
    case RDMA_DRIVER_RXE:
      return "rxe";
    case RDMA_DRIVER_HFI1:
      return "hfi1";
    case RDMA_DRIVER_QIB:
      return "qib";
    case RDMA_DRIVER_EFA:
      return "efa";
    case RDMA_DRIVER_SIW:
      return "siw";
    case RDMA_DRIVER_ERDMA:
      return "erdma";
    default:
      return fmt::format("driver-{}", driver_id);
  }
}

std::vector<RdmaFacts> rdma_links() {
  const Socket socket{::nl_socket_alloc()};
  // A kernel without RDMA has no such netlink protocol.
  if (!socket || ::nl_connect(socket.get(), NETLINK_RDMA) < 0) return {};
  // An acknowledgement after each answer would be taken for the answer to the next question.
  ::nl_socket_disable_auto_ack(socket.get());

  std::vector<std::pair<std::uint32_t, RdmaFacts>> devices;
  ask(socket.get(), RDMA_NLDEV_CMD_GET, NLM_F_DUMP, {}, [&](nlattr** a) {
    if (a[RDMA_NLDEV_ATTR_DEV_INDEX] == nullptr || a[RDMA_NLDEV_ATTR_DEV_NAME] == nullptr) return;
    RdmaFacts device;
    device.name = text(a[RDMA_NLDEV_ATTR_DEV_NAME]);
    device.firmware = text(a[RDMA_NLDEV_ATTR_FW_VERSION]);
    device.transport = text(a[RDMA_NLDEV_ATTR_DEV_PROTOCOL]) == "iw" ? "iWARP" : "InfiniBand";
    devices.emplace_back(::nla_get_u32(a[RDMA_NLDEV_ATTR_DEV_INDEX]), std::move(device));
  });

  std::vector<RdmaFacts> result;
  for (auto& [index, device] : devices) {
    const auto number = index;
    ask(
        socket.get(), RDMA_NLDEV_CMD_PORT_GET, 0,
        [number](nl_msg* m) {
          ::nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, number);
          ::nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
        },
        [&device = device](nlattr** a) {
          if (a[RDMA_NLDEV_ATTR_PORT_STATE] != nullptr)
            device.state = port_state(::nla_get_u8(a[RDMA_NLDEV_ATTR_PORT_STATE]));
          device.netdev = text(a[RDMA_NLDEV_ATTR_NDEV_NAME]);
        });
    ask(
        socket.get(), RDMA_NLDEV_CMD_GET_CHARDEV, 0,
        [number](nl_msg* m) {
          ::nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, number);
          ::nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
        },
        [&device = device](nlattr** a) {
          if (a[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID] != nullptr)
            device.provider = rdma_provider(::nla_get_u32(a[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID]));
        });
    result.push_back(std::move(device));
  }
  return result;
}

std::vector<RdmaFacts> rdma_facts() {
  auto devices = rdma_links();
  if (devices.empty()) return devices;
  const auto mtus = active_mtus();
  for (auto& device : devices)
    if (const auto mtu = mtus.find(device.name); mtu != mtus.end()) device.active_mtu = mtu->second;
  return devices;
}

}  // namespace longhaul::observe
