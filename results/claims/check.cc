#include "results/claims/check.hh"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

#include "results/claims/json.hh"
#include "results/claims/processors.hh"
#include "results/summary/clock.hh"
#include "results/summary/comparison.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr std::string_view kChallenger = "rdma";  // the papers' transport: verbs

// A cell with a result, its parameters complete.
struct Completed {
  const CellSummary* cell;
  Parameters parameters;
};

std::vector<Completed> completed(const Summary& summary, const Vocabulary& vocabulary) {
  std::vector<Completed> all;
  for (const auto& cell : summary.cells)
    if (cell.usable > 0) all.push_back({&cell, vocabulary.completed(cell.workload, cell.parameters)});
  return all;
}

// The cells that any claim may match.
struct Candidates {
  std::vector<Completed> cells;
  std::vector<Match> baseline;  // RDMA beside sockets
  std::vector<Match> others;    // other transports beside sockets: shown, not judged
  const Parameters* of(const CellSummary& cell) const {
    return &std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.cell == &cell; })->parameters;
  }
};

Candidates candidates_of(const Summary& summary, const Vocabulary& vocabulary) {
  Candidates found{.cells = completed(summary, vocabulary), .baseline = {}, .others = {}};
  for (const auto& challenger : transport_names()) {
    if (is_baseline(challenger)) continue;
    auto& list = challenger == kChallenger ? found.baseline : found.others;
    for (const auto& [cell, rival] : partners(summary.cells, vocabulary, challenger))
      list.push_back(
          {.cell = cell, .rival = rival, .parameters = found.of(*cell), .rival_parameters = found.of(*rival), .x = 0});
  }
  return found;
}

std::vector<Match> twins(const Claim& claim, const std::vector<Completed>& cells) {
  std::vector<Match> matches;
  for (const auto& one : cells) {
    if (one.cell->workload != claim.workload) continue;
    for (const auto& other : cells) {
      const Match match{.cell = one.cell,
                        .rival = other.cell,
                        .parameters = &one.parameters,
                        .rival_parameters = &other.parameters,
                        .x = 0};
      if (claim.twin(match)) matches.push_back(match);
    }
  }
  return matches;
}

std::vector<Match> by_themselves(const std::vector<Completed>& cells) {
  std::vector<Match> matches;
  for (const auto& one : cells)
    matches.push_back({.cell = one.cell, .rival = nullptr, .parameters = &one.parameters, .x = 0});
  return matches;
}

bool virtual_clock(const Match& match) {
  return match.cell->virtual_clock;
}

// Times by one clock are not comparable with times by another.
bool one_clock(const Match& match) {
  return match.rival == nullptr || match.rival->virtual_clock == match.cell->virtual_clock;
}

// True if a claim speaks of a match.
bool concerned(const Claim& claim, const Match& match) {
  const auto spoken_of = [&](const Parameters& parameters) { return !claim.concerns || claim.concerns(parameters); };
  return match.cell->workload == claim.workload && one_clock(match) && spoken_of(*match.parameters) &&
         (match.rival == nullptr || spoken_of(*match.rival_parameters));
}

// By group, then along the axis.
std::map<std::string, std::vector<Match>> matches_of(const Claim& claim, const std::vector<Match>& candidates,
                                                     const Vocabulary& vocabulary) {
  std::map<std::string, std::vector<Match>> matches;
  const bool mixed = !std::all_of(candidates.begin(), candidates.end(), virtual_clock);
  for (auto match : candidates) {
    if (!concerned(claim, match)) continue;
    match.x = integer_of(*match.parameters, claim.x);
    auto group = claim.group ? claim.group(*match.cell, vocabulary) : match.cell->provider;
    if (match.cell->virtual_clock && mixed) group += ", virtual clock";
    matches[group].push_back(match);
  }
  for (auto& [group, list] : matches)
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return matches;
}

// Cells that differ in something else than the axis cannot be followed along it.
bool one_course(const std::vector<Match>& matches) {
  return std::adjacent_find(matches.begin(), matches.end(), [](const auto& a, const auto& b) { return a.x == b.x; }) ==
         matches.end();
}

// Of several courses along the axis the one for which the campaign sets the fewest other axes, among those of two
// places or more, if there are such: what a campaign varies, it varies from there. Empty: two are as plain as each
// other.
std::vector<Match> plainest_course(const Claim& claim, const std::vector<Match>& matches) {
  std::map<std::pair<Parameters, Parameters>, std::vector<Match>> courses;
  for (const auto& match : matches) {
    auto own = *match.parameters, rivals = *match.rival_parameters;
    own.erase(claim.x);
    rivals.erase(claim.x);
    courses[{std::move(own), std::move(rivals)}].push_back(match);
  }
  const bool longer =
      std::any_of(courses.begin(), courses.end(), [](const auto& course) { return course.second.size() > 1; });
  std::map<std::size_t, std::vector<const std::vector<Match>*>> by_axes;
  for (const auto& [axes, course] : courses) {
    if (longer && course.size() < 2) continue;
    const auto& first = course.front();
    const auto set = [&](const CellSummary& cell) { return cell.parameters.size() - cell.parameters.count(claim.x); };
    by_axes[set(*first.cell) + set(*first.rival)].push_back(&course);
  }
  const auto& plain = by_axes.begin()->second;
  return plain.size() == 1 && one_course(*plain.front()) ? *plain.front() : std::vector<Match>{};
}

Finding find(const Claim& claim, const std::string& group, std::vector<Match> matches) {
  Finding finding;
  if (claim.rival == Rival::none || claim.samples || one_course(matches)) {
    finding = claim.check(claim, matches);
  } else if (auto plain = plainest_course(claim, matches); !plain.empty()) {
    matches = std::move(plain);
    finding = claim.check(claim, matches);
    finding.reason += "; of several cells at the same " + claim.x + " those that set the fewest axes";
  } else {
    finding.reason = "the campaign has several cells at the same " + claim.x + " that differ in other axes";
  }
  finding.group = group;
  const bool soft = matches.front().cell->soft;
  const bool emulated = std::any_of(matches.begin(), matches.end(), [](const auto& one) { return one.cell->emulated; });
  if (!claim.needs_hardware.empty() && (soft || emulated)) {
    finding.verdict = Verdict::not_decidable;
    finding.reason = fmt::format("{}, and {}; measured: {}", claim.needs_hardware,
                                 soft ? matches.front().cell->provider + " is software in the kernel"
                                 : matches.front().cell->virtual_clock ? "here every instruction costs the same"
                                                                       : "these processors were emulated",
                                 finding.reason);
  }
  finding.processors = processors_of(matches);
  for (const auto& match : matches)
    for (const auto* cell : {match.cell, match.rival})
      if (cell != nullptr) finding.cells.emplace(cell->cell_id, match.x);
  return finding;
}

// Cells of other transports that stand beside the same sockets.
std::map<std::string, std::int64_t> beside(const Claim& claim, const std::vector<Match>& matches,
                                           const std::vector<Match>& others) {
  std::map<std::string, std::int64_t> cells;
  for (const auto& other : others) {
    const auto same =
        std::find_if(matches.begin(), matches.end(), [&](const auto& match) { return match.rival == other.rival; });
    if (same != matches.end() && concerned(claim, other)) cells.emplace(other.cell->cell_id, same->x);
  }
  return cells;
}

}  // namespace

std::vector<Checked> check_claims(const Summary& summary, const Vocabulary& vocabulary,
                                  const std::vector<Claim>& claims) {
  const auto candidates = candidates_of(summary, vocabulary);
  const auto alone = by_themselves(candidates.cells);
  std::vector<Checked> checked;
  for (const auto& claim : claims) {
    Checked one{.claim = &claim, .findings = {}};
    const auto found = claim.rival == Rival::baseline ? candidates.baseline
                       : claim.rival == Rival::twin   ? twins(claim, candidates.cells)
                                                      : alone;
    for (const auto& [group, matches] : matches_of(claim, found, vocabulary)) {
      if (claim.course && matches.front().x == matches.back().x) continue;
      one.findings.push_back(find(claim, group, matches));
      if (claim.rival == Rival::baseline) one.findings.back().beside = beside(claim, matches, candidates.others);
    }
    std::stable_partition(one.findings.begin(), one.findings.end(), [](const auto& said) { return !said.made_up; });
    checked.push_back(std::move(one));
  }
  return checked;
}

json::array claims_data(const std::vector<Checked>& checked) {
  json::array list;
  for (const auto& [claim, findings] : checked) {
    json::array said;
    for (const auto& finding : findings) {
      json::array evidence;
      for (const auto& one : finding.evidence) {
        json::object point{{"at", one.at}, {"what", one.what}, {"ratio", one.ratio.value}};
        if (one.ratio.interval) {
          point["low"] = one.ratio.interval->low;
          point["high"] = one.ratio.interval->high;
        }
        evidence.emplace_back(std::move(point));
      }
      json::array cells;
      for (const auto* shown : {&finding.cells, &finding.beside})
        for (const auto& [id, x] : *shown) cells.emplace_back(json::object{{"id", id}, {"x", x}});
      json::array processors;
      for (const auto& one : finding.processors) {
        json::object use{{"who", one.who}, {"low", one.busy.low}, {"high", one.busy.high}};
        if (one.polling) use.emplace("polling", json::object{{"low", one.polling->low}, {"high", one.polling->high}});
        processors.push_back(std::move(use));
      }
      said.emplace_back(json::object{{"group", finding.group},
                                     {"verdict", to_text(finding.verdict)},
                                     {"reason", finding.reason},
                                     {"evidence", std::move(evidence)},
                                     {"processors", std::move(processors)},
                                     {"cells", std::move(cells)}});
    }
    list.emplace_back(json::object{{"id", claim->id},
                                   {"source", claim->source},
                                   {"statement", claim->statement},
                                   {"criterion", claim->criterion},
                                   {"workload", claim->workload},
                                   {"metric", claim->metric},
                                   {"x", claim->x},
                                   {"kind", boost::describe::enum_to_string(axis_kind(*claim), "?")},
                                   {"findings", std::move(said)}});
  }
  return list;
}

std::string to_json(const std::vector<Checked>& checked, const Summary& summary) {
  json::object document{{"schema", 1}, {"campaign", summary.manifest.name}, {"clock", clock_of(summary)}};
  if (clock_of(summary) != kHostClock) document["limits"] = kVirtualClockLimits;
  document["error"] = kVerdictError;
  document["claims"] = claims_data(checked);
  return json::serialize(document) + "\n";
}

std::string to_text(const std::vector<Checked>& checked, const Summary& summary) {
  std::string text;
  std::string silent;
  for (const auto& [claim, findings] : checked) {
    if (findings.empty()) {
      silent += (silent.empty() ? "" : ", ") + claim->id;
      continue;
    }
    text += fmt::format("{}  {}\n", claim->id, claim->statement);
    for (const auto& finding : findings) {
      text += fmt::format("    {}: {} - {}\n", finding.group, to_text(finding.verdict), finding.reason);
      if (!finding.processors.empty()) text += fmt::format("      {}\n", spelt(finding.processors));
    }
  }
  if (!text.empty()) text += fmt::format("{}\n", kVerdictError);
  if (!silent.empty()) text += fmt::format("No cells of this campaign speak of {}.\n", silent);
  if (clock_of(summary) != kHostClock) text += fmt::format("These cells were {}.\n", kVirtualClockLimits);
  if (summary.emulated)
    text += "Emulated processors and software providers: verdicts are on these stacks, not on adapters.\n";
  return text;
}

}  // namespace longhaul::results
