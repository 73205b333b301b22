#include "workloads/harness/admission.hh"

namespace longhaul::workloads {
namespace {

bool is_loopback(const SocketAddress& address) {
  if (address.family() == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
    return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  }
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
  return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

}  // namespace

Admission admission_of(const std::string& word, bool open) {
  Admission admission{.token = {}, .open = open};
  if (!word.empty()) admission.token = token_of(word);
  return admission;
}

Attempt<SocketAddress> listening_at(const std::optional<SocketAddress>& wanted, std::uint16_t port,
                                    const Admission& admission) {
  const bool asks = admission.token || admission.open;
  auto address = wanted.value_or(asks ? any_address(port) : *parse_address("127.0.0.1", port));
  address.set_port(port);
  if (asks || is_loopback(address)) return address;
  return wrong_input(
      "{} can be reached by others: give both ends --token WORD (or {} in their environment), or this one --open, "
      "which "
      "serves anyone",
      address.host(), kTokenVariable);
}

std::string describe(const Admission& admission) {
  if (admission.token) return " for whoever has the token";
  return admission.open ? " for ANYONE who reaches it (--open)"
                        : " for this machine only (--token WORD lets others in)";
}

}  // namespace longhaul::workloads
