#include "common/address.hh"

#include <netinet/in.h>

#include <boost/asio/ip/tcp.hpp>
#include <charconv>
#include <cstring>

namespace longhaul {
namespace {

namespace ip = boost::asio::ip;

constexpr const char* kExpected = "expected HOST:PORT, where HOST is a name, an IPv4 address or [an IPv6 address]";

ip::tcp::endpoint endpoint_of(const SocketAddress& address) {
  ip::tcp::endpoint endpoint;
  const auto size = address.family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  endpoint.resize(size);
  std::memcpy(endpoint.data(), &address.storage, size);
  return endpoint;
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text, std::optional<std::uint16_t> fallback, std::uint16_t least) {
  std::string_view host = text;
  std::optional<std::string_view> port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return refuse("'{}': the ']' of the IPv6 address is missing", text);
    host = text.substr(1, close - 1);
    const auto rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return refuse("'{}': expected [ADDRESS]:PORT", text);
    if (!rest.empty()) port = rest.substr(1);
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos && colon == text.rfind(':')) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.empty()) return refuse("'{}': the host is missing; {}", text, kExpected);
  if (!port && !fallback) return refuse("'{}': the port is missing; {}", text, kExpected);
  HostPort result{.host = std::string{host}, .port = fallback.value_or(0)};
  if (port) {
    const auto* const end = port->data() + port->size();
    const auto [at, error] = std::from_chars(port->data(), end, result.port);
    if (error != std::errc{} || at != end || result.port < least)
      return refuse("'{}': expected a port from {} to 65535, got '{}'", text, least, *port);
  }
  return result;
}

std::string to_text(const HostPort& at) {
  return at.host.find(':') == std::string::npos ? fmt::format("{}:{}", at.host, at.port)
                                                : fmt::format("[{}]:{}", at.host, at.port);
}

SocketAddress SocketAddress::of(const sockaddr* address) {
  SocketAddress result;
  result.length = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(&result.storage, address, result.length);
  return result;
}

std::uint16_t SocketAddress::port() const {
  return endpoint_of(*this).port();
}

void SocketAddress::set_port(std::uint16_t port) {
  auto endpoint = endpoint_of(*this);
  endpoint.port(port);
  std::memcpy(&storage, endpoint.data(), endpoint.size());
}

std::string SocketAddress::host() const {
  const auto address = endpoint_of(*this).address();
  // The interface of a link-local address is this machine's business.
  return address.is_v6() ? ip::address_v6{address.to_v6().to_bytes()}.to_string() : address.to_string();
}

std::string SocketAddress::text() const {
  return to_text({.host = host(), .port = port()});
}

Result<SocketAddress> parse_address(const std::string& text, std::uint16_t port) {
  boost::system::error_code error;
  const auto address = ip::make_address(text, error);
  if (error) return refuse("expected a numeric IPv4 or IPv6 address, got '{}'", text);
  const ip::tcp::endpoint endpoint{address, port};
  return SocketAddress::of(endpoint.data());
}

}  // namespace longhaul
