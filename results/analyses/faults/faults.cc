#include "results/analyses/faults/faults.hh"

#include <algorithm>
#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <tuple>

#include "results/metrics/metrics.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr const char* kForward = "faults";
constexpr const char* kBack = "faults_back";
constexpr const char* kCount = "count";
// A run that is longer by less than a thousandth and a packet's way through a processor took what it takes.
constexpr double kShare = 0.001;
constexpr std::int64_t kNothing = 20'000;  // ns

// 17 of "drop 17" or "drop 17-20"; 0: there is none.
std::uint64_t number_of(const std::string& faults) {
  const auto digit = std::find_if(faults.begin(), faults.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return digit == faults.end() ? 0 : std::stoull(faults.substr(static_cast<std::size_t>(digit - faults.begin())));
}

bool single(const std::string& faults) {
  return faults.find(',') == std::string::npos;
}

// Pairs behind single faults, forward before back, then by number.
auto rank(const FaultOutcome& one) {
  const bool forward = one.forward != kCount, back = one.back != kCount;
  const bool pair = (forward && back) || !single(one.forward) || !single(one.back);
  return std::tuple{pair, !forward, number_of(forward ? one.forward : one.back), one.forward, one.back};
}

std::int64_t took(const RunRecord& run) {
  return run.finished - run.started;
}

Result<std::optional<double>> slowest(const RunRecord& run, const std::string& metric) {
  const auto metrics = run_metrics(run);
  if (!metrics) return tl::unexpected(metrics.error());
  const auto it = metrics->find(metric);
  if (it == metrics->end()) return std::optional<double>{};
  return it->second.distribution ? std::optional{static_cast<double>(it->second.distribution->max())}
                                 : std::optional{it->second.value};
}

std::string time(double nanoseconds) {
  if (std::abs(nanoseconds) < 1e6) return fmt::format("{:.0f} us", nanoseconds / 1e3);
  if (std::abs(nanoseconds) < 1e9) return fmt::format("{:.3g} ms", nanoseconds / 1e6);
  return fmt::format("{:.3g} s", nanoseconds / 1e9);
}

std::string figure(double value, const std::string& unit) {
  return unit == "ns" ? time(value) : fmt::format("{:.4g} {}", value, unit);
}

std::string effect(const FaultOutcome& outcome, const Exploration& of) {
  if (!counts(outcome.status))
    return fmt::format("{}: {}", outcome.status == Status::failed ? "failed" : "no figure", outcome.message);
  std::string text;
  if (static_cast<double>(outcome.longer) > std::max(kShare * static_cast<double>(of.took), double{kNothing}))
    text = fmt::format("takes {} longer", time(static_cast<double>(outcome.longer)));
  if (outcome.slowest && of.slowest && *outcome.slowest > *of.slowest * 1.05)
    text += fmt::format("{}slowest {} {}", text.empty() ? "" : ", ", of.metric, figure(*outcome.slowest, of.unit));
  return text.empty() ? "costs nothing" : text;
}

// "17" or "17-20" of neighbours; the whole faults of a pair.
std::string packets(const std::vector<const FaultOutcome*>& same, bool back) {
  const auto& first = back ? same.front()->back : same.front()->forward;
  const auto& last = back ? same.back()->back : same.back()->forward;
  return same.size() == 1 ? fmt::format("{}", number_of(first))
                          : fmt::format("{}-{}", number_of(first), number_of(last));
}

std::string one_way(const Exploration& one, bool back) {
  std::string text;
  std::vector<const FaultOutcome*> same;
  const auto flush = [&] {
    if (!same.empty()) text += fmt::format("    {:>9}  {}\n", packets(same, back), effect(*same.front(), one));
    same.clear();
  };
  for (const auto& outcome : one.outcomes) {
    const auto& [pair, is_back, number, forward, backward] = rank(outcome);
    if (pair || is_back != back) continue;
    const bool goes_on = !same.empty() && effect(*same.back(), one) == effect(outcome, one) &&
                         number_of(back ? same.back()->back : same.back()->forward) + 1 == number;
    if (!goes_on) flush();
    same.push_back(&outcome);
  }
  flush();
  return text;
}

std::string pairs(const Exploration& one) {
  std::string text;
  for (const auto& outcome : one.outcomes)
    if (std::get<0>(rank(outcome)))
      text += fmt::format("    {} | {}  {}\n", outcome.forward, outcome.back, effect(outcome, one));
  return text;
}

std::string name_of(const Exploration& one, const Vocabulary& vocabulary) {
  auto parameters = one.parameters;  // of all cells the same
  parameters.erase("engine");
  parameters.erase("clock");
  const auto list = vocabulary.listed(one.workload, parameters);
  return list.empty() ? one.workload : one.workload + " " + list;
}

}  // namespace

Result<std::vector<Exploration>> explorations(const std::vector<RunRecord>& runs, const Vocabulary& vocabulary) {
  // Of a cell's attempts the last.
  std::map<std::string, const RunRecord*> last;
  for (const auto& run : runs) {
    auto& kept = last[run.cell_id];
    if (kept == nullptr || run.attempt >= kept->attempt) kept = &run;
  }
  struct Found {
    Exploration one;
    bool comparable = false;  // the run without faults ended well
  };
  std::map<std::pair<std::string, Parameters>, Found> found;
  for (const auto& [id, run] : last) {
    auto forward = choice_of(run->parameters, kForward, "none");
    auto back = choice_of(run->parameters, kBack, forward);
    if (forward == "none" && back == "none") continue;
    auto parameters = run->parameters;
    parameters.erase(kForward);
    parameters.erase(kBack);
    auto& [one, comparable] = found[{run->workload, parameters}];
    one.workload = run->workload;
    one.parameters = parameters;
    if (const auto* workload = vocabulary.workload(run->workload); workload != nullptr && !workload->metrics.empty()) {
      one.metric = workload->metrics.front().name;
      one.unit = workload->metrics.front().unit;
    }
    const auto value = slowest(*run, one.metric);
    if (!value) return tl::unexpected(value.error());
    if (forward == kCount && back == kCount) {
      one.took = took(*run);
      one.slowest = *value;
      if (run->path) {
        one.forward = run->path->forward.packets.value_or(0);
        one.back = run->path->back.packets.value_or(0);
      }
      comparable = counts(run->status);
      continue;
    }
    one.outcomes.push_back({.forward = std::move(forward),
                            .back = std::move(back),
                            .status = run->status,
                            .message = run->message,
                            .longer = took(*run),
                            .slowest = *value});
  }
  std::vector<Exploration> all;
  for (auto& [key, each] : found) {
    auto& [one, comparable] = each;
    if (!comparable) continue;
    for (auto& outcome : one.outcomes) outcome.longer -= one.took;
    std::sort(one.outcomes.begin(), one.outcomes.end(),
              [](const FaultOutcome& a, const FaultOutcome& b) { return rank(a) < rank(b); });
    all.push_back(std::move(one));
  }
  return all;
}

std::string to_text(const std::vector<Exploration>& explorations, const Vocabulary& vocabulary) {
  std::string text;
  for (const auto& one : explorations) {
    const auto failed = std::count_if(one.outcomes.begin(), one.outcomes.end(),
                                      [](const FaultOutcome& outcome) { return !counts(outcome.status); });
    text += fmt::format("{}\n  without faults: {} and {} packets, the run {}{}\n  {} runs with faults: {} ended well\n",
                        name_of(one, vocabulary), one.forward, one.back, time(static_cast<double>(one.took)),
                        one.slowest ? fmt::format(", slowest {} {}", one.metric, figure(*one.slowest, one.unit)) : "",
                        one.outcomes.size(), static_cast<std::ptrdiff_t>(one.outcomes.size()) - failed);
    if (const auto lines = one_way(one, false); !lines.empty()) text += "  client to server\n" + lines;
    if (const auto lines = one_way(one, true); !lines.empty()) text += "  server to client\n" + lines;
    if (const auto lines = pairs(one); !lines.empty())
      text += "  pairs (client to server | server to client)\n" + lines;
  }
  return text;
}

std::string to_json(const std::vector<Exploration>& explorations, const Vocabulary& vocabulary) {
  json::array all;
  for (const auto& one : explorations) {
    json::array outcomes;
    for (const auto& outcome : one.outcomes) {
      json::object entry{{"faults", outcome.forward},
                         {"faults_back", outcome.back},
                         {"status", boost::describe::enum_to_string(outcome.status, "?")},
                         {"longer_ns", outcome.longer},
                         {"effect", effect(outcome, one)}};
      if (outcome.slowest) entry.emplace("slowest", *outcome.slowest);
      outcomes.push_back(std::move(entry));
    }
    json::object parameters;
    for (const auto& [name, value] : one.parameters)
      parameters.emplace(name, vocabulary.spelt(one.workload, one.parameters, name));
    all.push_back(json::object{{"workload", one.workload},
                               {"parameters", std::move(parameters)},
                               {"packets", one.forward},
                               {"packets_back", one.back},
                               {"took_ns", one.took},
                               {"metric", one.metric},
                               {"outcomes", std::move(outcomes)}});
  }
  return json::serialize(json::object{{"explorations", std::move(all)}});
}

}  // namespace longhaul::results
