#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>

#include "common/address.hh"
#include "common/error.hh"
#include "common/fd.hh"
#include "observe/facts.hh"
#include "observe/small_file.hh"

namespace longhaul::observe {
namespace {

/// Asks one interface's driver; false when it does not know the question.
template <typename Answer>
bool ethtool(int fd, const std::string& name, Answer& answer) {
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&answer);
  return ::ioctl(fd, SIOCETHTOOL, &request) == 0;
}

std::map<std::string, bool> offloads(int fd, const std::string& name) {
  std::map<std::string, bool> result;
  const std::pair<const char*, std::uint32_t> questions[] = {{"tso", ETHTOOL_GTSO},
                                                             {"gso", ETHTOOL_GGSO},
                                                             {"gro", ETHTOOL_GGRO},
                                                             {"rx-checksum", ETHTOOL_GRXCSUM},
                                                             {"tx-checksum", ETHTOOL_GTXCSUM}};
  for (const auto& [offload, command] : questions) {
    ethtool_value value{.cmd = command, .data = 0};
    if (ethtool(fd, name, value)) result.emplace(offload, value.data != 0);
  }
  ethtool_value flags{.cmd = ETHTOOL_GFLAGS, .data = 0};
  if (ethtool(fd, name, flags)) result.emplace("lro", (flags.data & ETH_FLAG_LRO) != 0);
  return result;
}

std::string with_prefix(const sockaddr* address, const sockaddr* mask) {
  int prefix = 0;
  const auto count = [&](const void* bytes, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) prefix += std::popcount(static_cast<const unsigned char*>(bytes)[i]);
  };
  if (address->sa_family == AF_INET) {
    if (mask != nullptr) count(&reinterpret_cast<const sockaddr_in*>(mask)->sin_addr, 4);
  } else {
    if (mask != nullptr) count(&reinterpret_cast<const sockaddr_in6*>(mask)->sin6_addr, 16);
  }
  return fmt::format("{}/{}", SocketAddress::of(address).host(), prefix);
}

std::int64_t number(const std::optional<std::string>& text) {
  std::int64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return std::max<std::int64_t>(0, value);  // sysfs says -1 where there is no speed
}

}  // namespace

std::vector<NicFacts> nic_facts() {
  ifaddrs* raw = nullptr;
  check(::getifaddrs(&raw), "listing the network interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list{raw, ::freeifaddrs};
  const OwnFd fd{check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "making a socket to ask about interfaces")};

  std::map<unsigned, NicFacts> by_index;
  for (const auto* entry = raw; entry != nullptr; entry = entry->ifa_next) {
    if ((entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const auto index = ::if_nametoindex(entry->ifa_name);
    if (index == 0) continue;  // gone in the meantime
    auto& nic = by_index[index];
    nic.name = entry->ifa_name;
    const auto* address = entry->ifa_addr;
    if (address != nullptr && (address->sa_family == AF_INET || address->sa_family == AF_INET6))
      nic.addresses.push_back(with_prefix(address, entry->ifa_netmask));
  }

  std::vector<NicFacts> nics;
  for (auto& [index, nic] : by_index) {
    ethtool_drvinfo driver{};
    driver.cmd = ETHTOOL_GDRVINFO;
    if (ethtool(fd.get(), nic.name, driver))
      nic.driver = std::string{driver.driver, ::strnlen(driver.driver, sizeof driver.driver)};
    const auto sysfs = "/sys/class/net/" + nic.name;
    nic.mac = small_file(sysfs + "/address").value_or("");
    nic.mtu = number(small_file(sysfs + "/mtu"));
    nic.speed_mbit = number(small_file(sysfs + "/speed"));
    nic.offloads = offloads(fd.get(), nic.name);
    nics.push_back(std::move(nic));
  }
  return nics;
}

}  // namespace longhaul::observe
