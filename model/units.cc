#include "model/units.hh"

#include <array>
#include <limits>
#include <span>
#include <utility>

namespace longhaul {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

// The first unit of each factor is the one that is written; the others are read as well.
constexpr std::array kDurations{Unit{"ns", 1}, Unit{"us", 1'000}, Unit{"ms", 1'000'000}, Unit{"s", 1'000'000'000},
                                Unit{"min", 60'000'000'000}};
constexpr std::array kSizes{Unit{"B", 1},         Unit{"", 1},       Unit{"KiB", 1 << 10},  Unit{"MiB", 1 << 20},
                            Unit{"GiB", 1 << 30}, Unit{"kB", 1'000}, Unit{"MB", 1'000'000}, Unit{"GB", 1'000'000'000}};
constexpr std::array kRates{
    Unit{"bit/s", 1}, Unit{"kbit/s", 1'000}, Unit{"Mbit/s", 1'000'000}, Unit{"Gbit/s", 1'000'000'000},
    Unit{"bps", 1},   Unit{"kbps", 1'000},   Unit{"Mbps", 1'000'000},   Unit{"Gbps", 1'000'000'000}};
constexpr std::array kFractions{Unit{"ppm", 1}, Unit{"%", 10'000}};
constexpr std::array kCounts{Unit{"", 1}};

std::span<const Unit> units_of(Kind kind) {
  switch (kind) {
    case Kind::duration:
      return kDurations;
    case Kind::size:
      return kSizes;
    case Kind::rate:
      return kRates;
    case Kind::fraction:
      return kFractions;
    case Kind::count:
    case Kind::flag:
    case Kind::choice:
      break;
  }
  return kCounts;
}

std::string_view expectation(Kind kind) {
  switch (kind) {
    case Kind::duration:
      return "a duration such as 5ms, 1.5us or 2s";
    case Kind::size:
      return "a size such as 64B, 16KiB or 4MiB";
    case Kind::rate:
      return "a rate such as 100Mbit/s, 1Gbit/s or unlimited";
    case Kind::fraction:
      return "a fraction such as 0.1% or 1000ppm";
    case Kind::count:
      return "a whole number";
    case Kind::flag:
      return "true or false";
    case Kind::choice:
      break;
  }
  return "text";
}

// digits[.digits] times factor, exactly; false when it does not fit or leaves a rest below the base unit.
bool scale(std::string_view digits, std::string_view decimals, std::int64_t factor, std::int64_t& out) {
  __extension__ using Wide = __int128;
  constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();
  Wide value = 0;
  Wide divisor = 1;
  for (const std::string_view part : {digits, decimals}) {
    for (const char c : part) {
      value = value * 10 + (c - '0');
      if (value > kLargest) return false;
    }
  }
  for (std::size_t i = 0; i < decimals.size(); ++i) divisor *= 10;
  value *= factor;
  if (value % divisor != 0 || value / divisor > kLargest) return false;
  out = static_cast<std::int64_t>(value / divisor);
  return true;
}

}  // namespace

Bytes bytes_in_flight(BitRate rate, Nanoseconds time) {
  __extension__ using Wide = __int128;
  const Wide bits = Wide{rate.bits_per_second} * time.count();
  constexpr Wide kPerByte = Wide{8} * 1'000'000'000;
  return Bytes{static_cast<std::int64_t>((bits + kPerByte - 1) / kPerByte)};
}

Result<std::int64_t> parse_quantity(Kind kind, std::string_view text) {
  const auto unexpected = [&] { return refuse("expected {}, got '{}'", expectation(kind), text); };
  if (kind == Kind::flag) {
    if (text == "true" || text == "yes" || text == "1") return 1;
    if (text == "false" || text == "no" || text == "0") return 0;
    return unexpected();
  }
  if (kind == Kind::rate && text == "unlimited") return 0;
  if (text.starts_with('-')) return refuse("expected {}, got '{}': it cannot be negative", expectation(kind), text);

  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at])) ++at;
  const auto digits = text.substr(0, at);
  std::string_view decimals;
  if (at < text.size() && text[at] == '.') {
    const auto begin = ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    decimals = text.substr(begin, at - begin);
    if (decimals.empty()) return unexpected();
  }
  if (digits.empty() || decimals.size() > 18) return unexpected();
  while (at < text.size() && text[at] == ' ') ++at;
  const auto unit = text.substr(at);

  std::int64_t value = 0;
  if (unit.empty() && scale(digits, decimals, 1, value) && value == 0) return 0;  // zero needs no unit
  for (const auto& candidate : units_of(kind)) {
    if (candidate.name != unit) continue;
    if (scale(digits, decimals, candidate.factor, value)) return value;
    return refuse("'{}' is not a whole number of {} or is too large", text, base_unit(kind));
  }
  if (unit.empty()) return refuse("expected {}, got '{}': the unit is missing", expectation(kind), text);
  return unexpected();
}

std::string format_quantity(Kind kind, std::int64_t value) {
  if (kind == Kind::flag) return value != 0 ? "true" : "false";
  if (kind == Kind::rate && value == 0) return "unlimited";
  if (kind == Kind::count || value == 0) return fmt::format("{}", value);
  const auto units = units_of(kind);
  // The largest unit that leaves a number >= 1; as many decimals as it takes to be exact. Decimal multiples of bytes
  // are read, never written.
  const Unit* best = &units.front();
  for (const auto& unit : units) {
    const bool decimal_size = kind == Kind::size && unit.factor % 1000 == 0;
    if (!decimal_size && !unit.name.empty() && unit.name != "min" && value >= unit.factor && unit.factor > best->factor)
      best = &unit;
  }
  if (kind == Kind::size) {  // binary multiples have no short decimals: step down until it divides
    while (value % best->factor != 0) --best;
    return fmt::format("{}{}", value / best->factor, best->name.empty() ? "B" : best->name);
  }
  auto text = fmt::format("{}", value / best->factor);
  std::int64_t rest = value % best->factor;
  if (rest != 0) {
    text += '.';
    for (std::int64_t step = best->factor / 10; rest != 0; step /= 10) {
      text += static_cast<char>('0' + rest / step);
      rest %= step;
    }
  }
  return text + std::string{best->name};
}

std::string_view base_unit(Kind kind) {
  switch (kind) {
    case Kind::duration:
      return "ns";
    case Kind::size:
      return "bytes";
    case Kind::rate:
      return "bit/s";
    case Kind::fraction:
      return "ppm";
    case Kind::count:
    case Kind::flag:
    case Kind::choice:
      break;
  }
  return "";
}

}  // namespace longhaul
