// A netlink message about traffic control, as the kernel sends it: a qdisc, a filter.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace longhaul::degen {

/// Points into the message.
struct TcMessage {
  const tcmsg* header = nullptr;
  std::array<nlattr*, TCA_MAX + 1> attributes{};
};

/// Empty when the message is of another type, or damaged.
inline std::optional<TcMessage> read_tc(const nlmsghdr& message, int type) {
  // libnl's parsers take non-const pointers but only read.
  auto* mutable_message = const_cast<nlmsghdr*>(&message);
  if (message.nlmsg_type != type || !nlmsg_valid_hdr(mutable_message, sizeof(tcmsg))) return {};
  TcMessage read;
  if (nlmsg_parse(mutable_message, sizeof(tcmsg), read.attributes.data(), TCA_MAX, nullptr) < 0) return {};
  read.header = static_cast<const tcmsg*>(nlmsg_data(mutable_message));
  return read;
}

/// Empty where there is no such attribute.
inline std::string text_of(nlattr* attribute) {
  if (attribute == nullptr) return {};
  const auto* text = static_cast<const char*>(nla_data(attribute));
  return {text, strnlen(text, static_cast<std::size_t>(nla_len(attribute)))};
}

}  // namespace longhaul::degen
