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

std::uint8_t ack_timeout_exponent(Nanoseconds rtt, bool windows) {
  constexpr std::uint8_t kLeast = 16;  // 268 ms
  constexpr std::uint8_t kLeastWindows =
      21;  // 8.6 s: longer than a window of measurement, shorter than the harness waits
  constexpr std::uint8_t kMost = 31;
  auto exponent = windows ? kLeastWindows : kLeast;
  while (exponent < kMost && ack_timeout(exponent) < 4 * rtt) ++exponent;
  return exponent;
}

StreamCeiling stream_ceiling(std::string_view provider, Nanoseconds rtt, Bytes window, Bytes mtu,
                             std::int64_t streams) {
  StreamCeiling ceiling{.rate = {}, .why = fmt::format("a window of {} bytes", window.count)};
  const auto packets = kRxePackets * mtu.count * streams;
  if (provider == "rxe" && packets > 0 && packets < window.count) {
    window = Bytes{packets};
    ceiling.why = fmt::format("rxe's window of {} packets of {} bytes", kRxePackets, mtu.count);
  }
  if (rtt.count() <= 0 || window.count <= 0) return {};
  const auto most = static_cast<double>(window.count) * 8e9 / static_cast<double>(rtt.count());
  ceiling.rate = BitRate{static_cast<std::int64_t>(most)};
  ceiling.why += fmt::format(" over a round trip of {} lets {:.4g} Mbit/s through",
                             format_quantity(Kind::duration, rtt.count()), most / 1e6);
  return ceiling;
}

std::string stream_limit(BitRate rate, const StreamCeiling& ceiling) {
  constexpr double kReached = 0.85;
  const auto most = static_cast<double>(ceiling.rate.bits_per_second);
  return most > 0 && static_cast<double>(rate.bits_per_second) >= kReached * most ? ceiling.why : std::string{};
}

std::string window_limit(std::string_view provider, Bytes mtu, Bytes message) {
  if (provider == "rxe" && mtu.count > 0 && message.count > kRxePackets * mtu.count)
    return fmt::format("rxe's window is {} packets of {} bytes, less than the message", kRxePackets, mtu.count);
  return {};
}

}  // namespace longhaul::workloads
