#include "results/analyses/certificate/certificate.hh"

#include <algorithm>
#include <cmath>
#include <set>

#include "common/sha256.hh"
#include "model/codec.hh"
#include "results/statistics/interval.hh"

namespace longhaul::results {
namespace {

constexpr const char* kWorkload = "packets";
constexpr const char* kDefaultEngine = "netem";
constexpr const char* kNoEngine = "none";  // nothing is asked of the router
constexpr std::int64_t kSecond = 1'000'000'000;

// What a cell may ask of the path and say something about an engine by itself.
bool plain(const CellSummary& cell, const Vocabulary& vocabulary) {
  const std::set<std::string> kPlain{"delay", "delay_back", "rate", "rate_back", "queue", "queue_back"};
  return std::all_of(cell.parameters.begin(), cell.parameters.end(), [&](const auto& one) {
    return kPlain.contains(one.first) || find_parameter(vocabulary.impairment, one.first) == nullptr;
  });
}

double largest(const CellSummary& cell, const char* metric) {
  const auto* found = cell.metric(metric);
  if (found == nullptr || found->values.empty()) return 0;
  return *std::max_element(found->values.begin(), found->values.end());
}

std::optional<double> worse(std::optional<double> one, std::optional<double> other) {
  return one && other ? std::max(*one, *other) : one ? one : other;
}

// Of one way.
struct Errors {
  std::optional<double> median, largest, p99;
};

Errors errors_of(const AchievedDelay& way) {
  if (way.asked == 0 || way.values.empty()) return {};
  std::vector<double> off;
  for (const auto value : way.values) off.push_back(std::abs(value - static_cast<double>(way.asked)));
  Errors errors{.median = median(off), .largest = *std::max_element(off.begin(), off.end()), .p99 = {}};
  if (way.p99) errors.p99 = *way.p99 - static_cast<double>(way.asked);
  return errors;
}

std::string fault_of(const CellSummary& cell, const CertifiedPoint& point) {
  if (cell.status != Status::ok && cell.status != Status::limited) return cell.message;
  if (point.loss > 0) return fmt::format("{:.3g} of the packets were lost", point.loss);
  if (point.reordered > 0) return fmt::format("{:.3g} of the packets were reordered", point.reordered);
  if (point.duplicates > 0) return fmt::format("{:.3g} of the packets came twice", point.duplicates);
  return {};
}

std::int64_t back_or(const Parameters& all, const std::string& axis) {
  return integer_of(all, axis + "_back", integer_of(all, axis));
}

// The lower of two, 0 is unlimited.
std::int64_t lower_rate(std::int64_t one, std::int64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

CertifiedPoint point_of(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto all = vocabulary.completed(cell.workload, cell.parameters);
  const auto interval = std::max<std::int64_t>(1, integer_of(all, "interval"));
  const auto forward = errors_of(cell.forward), back = errors_of(cell.back);
  const auto* variation = cell.metric("variation");
  const auto* stretch = cell.metric("stretch");
  CertifiedPoint point{.delay = std::max(integer_of(all, "delay"), back_or(all, "delay")),
                       .rate = lower_rate(integer_of(all, "rate"), back_or(all, "rate")),
                       .packets_a_second = integer_of(all, "burst", 1) * kSecond / interval,
                       .size = integer_of(all, "size"),
                       .runs = cell.usable,
                       .error = worse(forward.median, back.median),
                       .largest_error = worse(forward.largest, back.largest),
                       .p99 = worse(forward.p99, back.p99),
                       .variation = variation != nullptr ? variation->p99 : std::nullopt,
                       .stretch = stretch != nullptr ? std::optional{stretch->median} : std::nullopt,
                       .loss = largest(cell, "loss"),
                       .duplicates = largest(cell, "duplicates"),
                       .reordered = largest(cell, "reordered"),
                       .broken = {}};
  point.broken = fault_of(cell, point);
  return point;
}

std::string digest_of(const boost::json::value& certificate) {
  return Sha256{}.add(boost::json::serialize(certificate)).hex();
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

Result<Certificate> certify(const Summary& summary, const Vocabulary& vocabulary) {
  Certificate certificate{.campaign = summary.manifest.name,
                          .version = summary.manifest.version,
                          .clock = summary.manifest.virtual_clock ? "virtual" : "host",
                          .emulated = summary.emulated,
                          .measured = summary.manifest.finished,
                          .kernels = {},
                          .engines = {}};
  for (const auto& [node, digests] : summary.node_facts)
    for (const auto& [digest, runs] : digests)
      if (const auto known = summary.facts.find(digest); known != summary.facts.end())
        certificate.kernels[node] = known->second.kernel;
  for (const auto& cell : summary.cells) {
    if (cell.workload != kWorkload || !plain(cell, vocabulary)) continue;
    auto point = point_of(cell, vocabulary);
    const bool asked = point.delay > 0 || point.rate > 0;
    certificate.engines[asked ? choice_of(cell.parameters, "engine", kDefaultEngine) : kNoEngine].push_back(
        std::move(point));
  }
  if (certificate.engines.empty())
    return refuse("no cells of the workload {} with a delay or a rate alone: run campaigns/certify.yaml", kWorkload);
  for (auto& [engine, points] : certificate.engines)
    std::stable_sort(points.begin(), points.end(), [](const CertifiedPoint& one, const CertifiedPoint& other) {
      return std::tie(one.rate, one.packets_a_second, one.size, one.delay) <
             std::tie(other.rate, other.packets_a_second, other.size, other.delay);
    });
  return certificate;
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

std::string outside(const Certificate& certificate, const Parameters& parameters) {
  const auto delays = {integer_of(parameters, "delay"), back_or(parameters, "delay")};
  const auto rates = {integer_of(parameters, "rate"), back_or(parameters, "rate")};
  const auto nothing = [](auto values) {
    return std::all_of(values.begin(), values.end(), [](auto v) { return v == 0; });
  };
  if (nothing(delays) && nothing(rates)) return {};
  if (const auto clock = choice_of(parameters, "clock", "host"); clock != certificate.clock)
    return fmt::format("the certificate was measured by the {} clock, this cell goes by the {} one", certificate.clock,
                       clock);
  const auto engine = choice_of(parameters, "engine", kDefaultEngine);
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
  auto document = codec::encode(certificate);
  const auto digest = digest_of(document);
  document.as_object().emplace("sha256", digest);
  return boost::json::serialize(document) + "\n";
}

Result<Certificate> certificate_from_json(std::string_view text) {
  boost::system::error_code error;
  auto document = boost::json::parse(text, error);
  if (error || !document.is_object()) return refuse("it is no JSON document");
  auto certificate = codec::decode<Certificate>(document);
  if (!certificate) return refuse("it is no certificate: {}", certificate.error().message);
  if (certificate->schema != Certificate{}.schema)
    return refuse("schema {}: this longhaul knows {}", certificate->schema, Certificate{}.schema);
  const auto* said = document.as_object().if_contains("sha256");
  if (said == nullptr || !said->is_string() || said->as_string() != digest_of(codec::encode(*certificate)))
    return refuse("its digest is not that of what it says: it was changed; make it anew (longhaul certify)");
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

}  // namespace longhaul::results
