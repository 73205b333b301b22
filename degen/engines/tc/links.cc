#include "degen/engines/tc/links.hh"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>
#include <array>

#include "degen/engines/tc/message_builder.hh"
#include "degen/engines/tc/message_reader.hh"
#include "degen/engines/tc/netlink.hh"

namespace longhaul::degen {
namespace {

int number_of(nlattr* attribute) {
  return attribute == nullptr ? 0 : static_cast<int>(nla_get_u32(attribute));
}

}  // namespace

std::vector<std::byte> dump_links_message() {
  MessageBuilder message{RTM_GETLINK, NLM_F_DUMP};
  message.append(ifinfomsg{});
  return message.bytes();
}

std::optional<NetworkLink> parse_link(const nlmsghdr& message) {
  auto* mutable_message = const_cast<nlmsghdr*>(&message);  // libnl only reads
  if (message.nlmsg_type != RTM_NEWLINK || !nlmsg_valid_hdr(mutable_message, sizeof(ifinfomsg))) return {};
  std::array<nlattr*, IFLA_MAX + 1> attributes{};
  if (nlmsg_parse(mutable_message, sizeof(ifinfomsg), attributes.data(), IFLA_MAX, nullptr) < 0) return {};
  const auto* header = static_cast<const ifinfomsg*>(nlmsg_data(mutable_message));
  NetworkLink link{.index = header->ifi_index,
                   .name = text_of(attributes[IFLA_IFNAME]),
                   .up = (header->ifi_flags & IFF_UP) != 0,
                   .loopback = (header->ifi_flags & IFF_LOOPBACK) != 0,
                   .master = number_of(attributes[IFLA_MASTER])};
  std::array<nlattr*, IFLA_INFO_MAX + 1> info{};
  std::string kind;
  if (attributes[IFLA_LINKINFO] != nullptr &&
      nla_parse_nested(info.data(), IFLA_INFO_MAX, attributes[IFLA_LINKINFO], nullptr) == 0) {
    kind = text_of(info[IFLA_INFO_KIND]);
    link.port_kind = text_of(info[IFLA_INFO_SLAVE_KIND]);
  }
  // A veth's is its peer, which lies beside it; another namespace's cannot be ours.
  if (kind != "veth" && attributes[IFLA_LINK_NETNSID] == nullptr) link.below = number_of(attributes[IFLA_LINK]);
  if (link.below == link.index) link.below = 0;
  return link;
}

std::vector<NetworkLink> network_links() {
  std::vector<NetworkLink> links;
  RouteSocket socket;
  socket.dump(dump_links_message(), [&](const nlmsghdr& message) {
    if (auto link = parse_link(message)) links.push_back(std::move(*link));
  });
  return links;
}

Result<std::vector<std::string>> others_of(const std::string& interface, const std::vector<NetworkLink>& links) {
  const auto own = std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.name == interface; });
  if (own == links.end()) return refuse("{}: there is no such network interface", interface);
  std::vector<NetworkLink> taken{*own};
  for (const auto& link : links)
    if (link.index != own->index && link.master == own->master && link.up && !link.loopback) taken.push_back(link);
  if (taken.size() == 1)
    return refuse("{}: there is no other interface by which packets could come or leave: nothing is forwarded here",
                  interface);
  for (const auto& upper : taken)
    for (const auto& lower : taken)
      if (upper.below == lower.index)
        return refuse(
            "{} lies on {}: a packet of the one passes the other, and would be impaired twice; name both sides (degen "
            "apply ONE OTHER)",
            upper.name, lower.name);
  std::vector<std::string> names;
  for (std::size_t i = 1; i < taken.size(); ++i) names.push_back(taken[i].name);
  return names;
}

}  // namespace longhaul::degen
