#include "degen/impairment/faults.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "common/number.hh"
#include "common/well_known.hh"
#include "degen/impairment/words.hh"

namespace longhaul::degen {
namespace {

using Word = std::pair<std::string_view, Fault::Kind>;
constexpr std::array<Word, 4> kWords{Word{"drop", Fault::Kind::drop}, Word{"delay", Fault::Kind::delay},
                                     Word{"swap", Fault::Kind::swap}, Word{"duplicate", Fault::Kind::duplicate}};

bool read_packet(std::string_view text, std::uint32_t& number) {
  return read_number(text, number) && number >= 1 && number <= kHighestNumber;
}

Result<Fault> parse_fault(std::string_view text) {
  const auto whole = text;
  const auto name = take_word(text);
  const auto* word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& one) { return one.first == name; });
  if (word == kWords.end())
    return refuse("'{}': expected drop, delay, swap or duplicate, then a packet's number, such as 'drop 17'", whole);
  Fault fault{.kind = word->second};
  const auto range = take_word(text);
  const auto dash = range.find('-');
  const bool read = read_packet(range.substr(0, dash), fault.first) &&
                    read_packet(dash == std::string_view::npos ? range : range.substr(dash + 1), fault.last);
  if (!read || fault.last < fault.first)
    return refuse("'{}': expected a packet's number from 1 to {}, or a range such as 20-22", whole, kHighestNumber);
  if (fault.kind == Fault::Kind::swap && fault.first != fault.last)
    return refuse("'{}': swap takes one number: that packet leaves behind the next", whole);
  if (fault.kind == Fault::Kind::delay) {
    if (take_word(text) != "by") return refuse("'{}': expected how long, such as 'delay 9 by 3ms'", whole);
    const auto by = parse_quantity(Kind::duration, take_word(text));
    if (!by) return refuse("'{}': {}", whole, by.error().message);
    fault.by = Nanoseconds{*by};
    if (fault.by.count() <= 0 || fault.by > kLongestFault)
      return refuse("'{}': a packet can be delayed by at most {}", whole,
                    format_quantity(Kind::duration, kLongestFault.count()));
  }
  if (!text.empty()) return refuse("'{}': '{}' means nothing here; separate faults by commas", whole, text);
  return fault;
}

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kIcmp6 = 58;  // IANA, Protocol Numbers
using Protocol = std::pair<std::string_view, std::uint8_t>;
constexpr std::array<Protocol, 3> kProtocols{Protocol{"tcp", kTcp}, Protocol{"udp", kUdp}, Protocol{"icmp", kIcmp}};

Result<Flow> parse_flow(std::string_view text) {
  const auto whole = text;
  const auto name = take_word(text);
  const auto* protocol =
      std::find_if(kProtocols.begin(), kProtocols.end(), [&](const Protocol& one) { return one.first == name; });
  if (protocol == kProtocols.end())
    return refuse("'{}:': expected whose packets are numbered: tcp, udp or icmp, and a port, such as 'udp 4791:'",
                  whole);
  Flow flow{.protocol = protocol->second};
  if (text.empty()) return flow;
  const auto port = take_word(text);
  const auto [at, error] = std::from_chars(port.data(), port.data() + port.size(), flow.port);
  if (error != std::errc{} || at != port.data() + port.size() || flow.port == 0 || !text.empty())
    return refuse("'{}:': expected one port from 1 to 65535 behind {}, that of either end", whole, name);
  if (flow.protocol == kIcmp) return refuse("'{}:': icmp has no ports", whole);
  return flow;
}

}  // namespace

bool Flow::matches(const FlowKey& key) const {
  if (protocol != 0 && key.protocol != protocol && !(protocol == kIcmp && key.protocol == kIcmp6)) return false;
  return port == 0 || key.from == port || key.to == port;
}

bool is_probe(const FlowKey& key) {
  return key.protocol == kUdp && (key.from == kProbePort || key.to == kProbePort);
}

bool Faults::numbers(const FlowKey& key) const {
  return numbered && flow.matches(key) && !is_probe(key);
}

const Fault* Faults::of(std::uint32_t number) const {
  const auto it = std::find_if(list.begin(), list.end(), [&](const Fault& fault) { return fault.hits(number); });
  return it == list.end() ? nullptr : &*it;
}

Result<Faults> parse_faults(std::string_view text) {
  text = trim(text);
  if (text == "none") return Faults{};
  Faults faults{.numbered = true, .list = {}};
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    auto flow = parse_flow(trim(text.substr(0, colon)));
    if (!flow) return tl::unexpected(flow.error());
    faults.flow = *flow;
    text = trim(text.substr(colon + 1));
  }
  if (text == "count") return faults;
  for (;;) {
    const auto comma = text.find(',');
    auto fault = parse_fault(trim(text.substr(0, comma)));
    if (!fault) return tl::unexpected(fault.error());
    faults.list.push_back(*fault);
    if (comma == std::string_view::npos) break;
    text = text.substr(comma + 1);
  }
  if (faults.list.size() > kMostFaults) return refuse("{} faults; at most {}", faults.list.size(), kMostFaults);
  std::sort(faults.list.begin(), faults.list.end(),
            [](const Fault& one, const Fault& other) { return one.first < other.first; });
  for (std::size_t i = 1; i < faults.list.size(); ++i)
    if (faults.list[i].first <= faults.list[i - 1].last)
      return refuse("packet {} has two faults", faults.list[i].first);
  return faults;
}

std::string to_text(const Faults& faults) {
  if (faults.none()) return "none";
  std::string whose;
  if (!faults.flow.any()) {
    const auto* protocol = std::find_if(kProtocols.begin(), kProtocols.end(),
                                        [&](const Protocol& one) { return one.second == faults.flow.protocol; });
    whose = fmt::format("{}{}: ", protocol->first, faults.flow.port == 0 ? "" : fmt::format(" {}", faults.flow.port));
  }
  if (faults.list.empty()) return whose + "count";
  std::string text;
  for (const auto& fault : faults.list) {
    const auto* word =
        std::find_if(kWords.begin(), kWords.end(), [&](const Word& one) { return one.second == fault.kind; });
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word->first, fault.first);
    if (fault.last != fault.first) text += fmt::format("-{}", fault.last);
    if (fault.kind == Fault::Kind::delay)
      text += fmt::format(" by {}", format_quantity(Kind::duration, fault.by.count()));
  }
  return whose + text;
}

}  // namespace longhaul::degen
