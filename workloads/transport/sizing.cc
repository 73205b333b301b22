#include "workloads/transport/sizing.hh"

#include <fmt/format.h>

#include <algorithm>

namespace longhaul::workloads {
namespace {

constexpr std::int64_t kRxePackets = 128;

}  // namespace

Bytes bytes_under_way(BitRate rate, Nanoseconds rtt, Bytes in_flight) {
  return rate.bits_per_second == 0 ? in_flight : std::min(bytes_in_flight(rate, rtt), in_flight);
}

std::uint32_t queue_depth(Bytes under_way, Bytes message, std::uint32_t least, std::uint32_t device_limit) {
  const auto size = std::max<std::int64_t>(1, message.count);
  const auto wanted = std::max<std::int64_t>(least, (under_way.count + size - 1) / size);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(wanted, device_limit));
}

Nanoseconds ack_timeout(std::uint8_t exponent) {
  return Nanoseconds{std::int64_t{4096} << exponent};
}

std::uint8_t ack_timeout_exponent(Nanoseconds rtt) {
  constexpr std::uint8_t kLeast = 16;  // 268 ms
  constexpr std::uint8_t kMost = 31;
  auto exponent = kLeast;
  while (exponent < kMost && ack_timeout(exponent) < 4 * rtt) ++exponent;
  return exponent;
}

std::string stream_limit(std::string_view provider, BitRate rate, Nanoseconds rtt, Bytes window, Bytes mtu,
                         std::int64_t streams) {
  constexpr double kReached = 0.85;
  auto what = fmt::format("a window of {} bytes", window.count);
  const auto packets = kRxePackets * mtu.count * streams;
  if (provider == "rxe" && packets > 0 && packets < window.count) {
    window = Bytes{packets};
    what = fmt::format("rxe's window of {} packets of {} bytes", kRxePackets, mtu.count);
  }
  if (rtt.count() <= 0 || window.count <= 0) return {};
  const auto most = static_cast<double>(window.count) * 8e9 / static_cast<double>(rtt.count());
  if (static_cast<double>(rate.bits_per_second) < kReached * most) return {};
  return fmt::format("{} over a round trip of {} lets {:.4g} Mbit/s through", what,
                     format_quantity(Kind::duration, rtt.count()), most / 1e6);
}

std::string window_limit(std::string_view provider, Bytes mtu, Bytes message) {
  if (provider == "rxe" && mtu.count > 0 && message.count > kRxePackets * mtu.count)
    return fmt::format("rxe's window is {} packets of {} bytes, less than the message", kRxePackets, mtu.count);
  return {};
}

}  // namespace longhaul::workloads
