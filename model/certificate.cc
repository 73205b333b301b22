#include "model/certificate.hh"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "common/sha256.hh"
#include "model/codec.hh"

namespace longhaul {
namespace {

constexpr const char* kDefaultEngine = "netem";

// Of the text as it stands: nothing needs to be written again to check it.
std::string digest_of(std::string_view text) {
  return Sha256{}.add(text).hex();
}

// Behind the document, in place of its closing brace.
std::string seal_of(std::string_view text) {
  return fmt::format(",\"sha256\":\"{}\"}}", digest_of(text));
}

std::string duration(std::int64_t ns) {
  return format_quantity(Kind::duration, ns);
}

std::string between(const char* what, Kind kind, std::int64_t asked, std::int64_t least, std::int64_t most,
                    const std::string& engine) {
  if (asked == 0 || (most > 0 && asked >= least && asked <= most)) return {};
  if (most == 0)
    return fmt::format("{} {}: none was certified of engine {}", what, format_quantity(kind, asked), engine);
  return fmt::format("{} {}: engine {} is certified from {} to {}", what, format_quantity(kind, asked), engine,
                     format_quantity(kind, least), format_quantity(kind, most));
}

}  // namespace

void sort(std::vector<CertifiedPoint>& points) {
  std::stable_sort(points.begin(), points.end(), [](const CertifiedPoint& one, const CertifiedPoint& other) {
    return std::tie(one.rate, one.packets_a_second, one.size, one.delay) <
           std::tie(other.rate, other.packets_a_second, other.size, other.delay);
  });
}

std::string fault_of(const CertifiedPoint& point) {
  if (point.loss > 0) return fmt::format("{:.3g} of the packets were lost", point.loss);
  if (point.reordered > 0) return fmt::format("{:.3g} of the packets were reordered", point.reordered);
  if (point.duplicates > 0) return fmt::format("{:.3g} of the packets came twice", point.duplicates);
  return {};
}

CertifiedRange range_of(const std::vector<CertifiedPoint>& points) {
  CertifiedRange range;
  const auto widen = [](std::int64_t value, std::int64_t& least, std::int64_t& most) {
    if (value == 0) return;
    least = most == 0 ? value : std::min(least, value);
    most = std::max(most, value);
  };
  std::map<std::int64_t, bool> kept;  // by packets a second
  for (const auto& point : points) {
    if (point.rate == 0) kept.emplace(point.packets_a_second, true).first->second &= point.broken.empty();
    if (!point.broken.empty()) continue;
    widen(point.delay, range.least_delay, range.most_delay);
    widen(point.rate, range.least_rate, range.most_rate);
  }
  for (const auto& [rate, all] : kept) {
    if (!all) break;
    range.packets_a_second = rate;
  }
  return range;
}

AskedOfPath asked_of(const Parameters& parameters) {
  const auto back = [&](const std::string& axis) {
    return integer_of(parameters, axis + "_back", integer_of(parameters, axis));
  };
  return {.engine = choice_of(parameters, "engine", kDefaultEngine),
          .delay = integer_of(parameters, "delay"),
          .delay_back = back("delay"),
          .rate = integer_of(parameters, "rate"),
          .rate_back = back("rate")};
}

std::string outside(const Certificate& certificate, const Parameters& parameters) {
  const auto asked = asked_of(parameters);
  const auto delays = {asked.delay, asked.delay_back};
  const auto rates = {asked.rate, asked.rate_back};
  const auto nothing = [](auto values) {
    return std::all_of(values.begin(), values.end(), [](auto v) { return v == 0; });
  };
  if (nothing(delays) && nothing(rates)) return {};
  if (const auto clock = choice_of(parameters, "clock", "host"); clock != certificate.clock)
    return fmt::format("the certificate was measured by the {} clock, this cell goes by the {} one", certificate.clock,
                       clock);
  const auto& engine = asked.engine;
  const auto found = certificate.engines.find(engine);
  if (found == certificate.engines.end())
    return engine == "auto" ? "engine auto: a certificate speaks of one engine; name it"
                            : fmt::format("engine {} is not in the certificate", engine);
  const auto range = range_of(found->second);
  for (const auto delay : delays)
    if (auto why = between("delay", Kind::duration, delay, range.least_delay, range.most_delay, engine); !why.empty())
      return why;
  for (const auto rate : rates)
    if (auto why = between("rate", Kind::rate, rate, range.least_rate, range.most_rate, engine); !why.empty())
      return why;
  for (const auto& point : found->second)
    for (const auto delay : delays)
      if (delay > 0 && point.delay == delay && point.rate == *rates.begin() && !point.broken.empty())
        return fmt::format("delay {}: engine {} did not keep it at {} packets/s: {}", duration(delay), engine,
                           point.packets_a_second, point.broken);
  return {};
}

std::string to_json(const Certificate& certificate) {
  auto text = boost::json::serialize(codec::encode(certificate));
  const auto seal = seal_of(text);
  text.pop_back();
  return text + seal + "\n";
}

Result<Certificate> certificate_from_json(std::string_view text) {
  boost::system::error_code error;
  auto document = read_json(text, error);
  if (error || !document.is_object()) return refuse("it is no JSON document");
  auto certificate = codec::decode<Certificate>(document);
  if (!certificate) return refuse("it is no certificate: {}", certificate.error().message);
  if (certificate->schema != Certificate{}.schema)
    return refuse("schema {}: this longhaul knows {}", certificate->schema, Certificate{}.schema);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  const auto sealed = text.size() - std::min(text.size(), seal_of("").size());
  if (text.substr(sealed) != seal_of(std::string{text.substr(0, sealed)} + "}"))
    return refuse("its digest is not that of what it says: it was changed; make it anew (certify)");
  return certificate;
}

std::string to_text(const Certificate& certificate) {
  const auto us = [](const std::optional<double>& ns) { return ns ? fmt::format("{:.1f}", *ns / 1e3) : "-"; };
  std::string text = fmt::format("{}, by the {} clock{}\n", certificate.campaign, certificate.clock,
                                 certificate.emulated ? ", emulated processors" : "");
  for (const auto& [engine, points] : certificate.engines) {
    const auto range = range_of(points);
    text += fmt::format(
        "\n{}: delays {}{}; up to {} packets/s\n", engine == kNoEngine ? "the router by itself" : engine,
        range.most_delay == 0 ? "none"
                              : fmt::format("{} to {}", duration(range.least_delay), duration(range.most_delay)),
        range.most_rate == 0 ? ""
                             : fmt::format(", rates {} to {}", format_quantity(Kind::rate, range.least_rate),
                                           format_quantity(Kind::rate, range.most_rate)),
        range.packets_a_second);
    text += fmt::format("  {:>8} {:>11} {:>9} {:>6} {:>9} {:>9} {:>9} {:>9}  {}\n", "delay", "rate", "packets/s",
                        "size", "error us", "largest", "p99", "variation", "");
    for (const auto& point : points)
      text += fmt::format("  {:>8} {:>11} {:>9} {:>6} {:>9} {:>9} {:>9} {:>9}  {}\n", duration(point.delay),
                          format_quantity(Kind::rate, point.rate), point.packets_a_second, point.size, us(point.error),
                          us(point.largest_error), us(point.p99), us(point.variation),
                          point.broken.empty() ? "" : "broken: " + point.broken);
  }
  return text;
}

}  // namespace longhaul
