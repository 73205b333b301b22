#include "results/claims/check.hh"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

#include "results/claims/json.hh"
#include "results/summary/comparison.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

std::int64_t on_axis(const Parameters& parameters, const std::string& axis) {
  const auto it = parameters.find(axis);
  const auto* value = it == parameters.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return value == nullptr ? 0 : *value;
}

// By provider, then along the axis.
std::map<std::string, std::vector<Match>> matches_of(const Claim& claim, const std::vector<Partners>& partners,
                                                     const Vocabulary& vocabulary) {
  std::map<std::string, std::vector<Match>> matches;
  for (const auto& [rdma, sockets] : partners) {
    if (rdma->workload != claim.workload) continue;
    const auto parameters = vocabulary.completed(rdma->workload, rdma->parameters);
    if (!claim.concerns(parameters) || !claim.concerns(vocabulary.completed(sockets->workload, sockets->parameters)))
      continue;
    matches[rdma->provider].push_back({.rdma = rdma, .sockets = sockets, .x = on_axis(parameters, claim.x)});
  }
  for (auto& [provider, list] : matches)
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return matches;
}

// Cells that differ in something else than the axis cannot be followed along it.
bool one_course(const std::vector<Match>& matches) {
  return std::adjacent_find(matches.begin(), matches.end(), [](const auto& a, const auto& b) { return a.x == b.x; }) ==
         matches.end();
}

Finding find(const Claim& claim, const std::string& provider, const std::vector<Match>& matches) {
  Finding finding;
  if (one_course(matches)) {
    finding = claim.check(claim, matches);
  } else {
    finding.reason = "the campaign has several cells at the same " + claim.x + " that differ in other axes";
  }
  finding.provider = provider;
  const bool soft = matches.front().rdma->soft;
  const bool emulated = std::any_of(matches.begin(), matches.end(), [](const auto& one) { return one.rdma->emulated; });
  if (!claim.needs_hardware.empty() && (soft || emulated)) {
    finding.verdict = Verdict::not_decidable;
    finding.reason =
        fmt::format("{}, and {}; measured: {}", claim.needs_hardware,
                    soft ? provider + " is software in the kernel" : "these processors were emulated", finding.reason);
  }
  for (const auto& match : matches)
    for (const auto* cell : {match.rdma, match.sockets}) finding.cells.emplace(cell->cell_id, match.x);
  return finding;
}

}  // namespace

std::vector<Checked> check_claims(const Summary& summary, const Vocabulary& vocabulary,
                                  const std::vector<Claim>& claims) {
  const auto all = partners(summary.cells, vocabulary);
  std::vector<Checked> checked;
  for (const auto& claim : claims) {
    Checked one{.claim = &claim, .findings = {}};
    for (const auto& [provider, matches] : matches_of(claim, all, vocabulary))
      one.findings.push_back(find(claim, provider, matches));
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
      for (const auto& [id, x] : finding.cells) cells.emplace_back(json::object{{"id", id}, {"x", x}});
      said.emplace_back(json::object{{"provider", finding.provider},
                                     {"verdict", to_text(finding.verdict)},
                                     {"reason", finding.reason},
                                     {"evidence", std::move(evidence)},
                                     {"cells", std::move(cells)}});
    }
    list.emplace_back(json::object{{"id", claim->id},
                                   {"source", claim->source},
                                   {"statement", claim->statement},
                                   {"criterion", claim->criterion},
                                   {"workload", claim->workload},
                                   {"metric", claim->metric},
                                   {"x", claim->x},
                                   {"findings", std::move(said)}});
  }
  return list;
}

std::string to_json(const std::vector<Checked>& checked, const Summary& summary) {
  return json::serialize(
             json::object{{"schema", 1}, {"campaign", summary.manifest.name}, {"claims", claims_data(checked)}}) +
         "\n";
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
    for (const auto& finding : findings)
      text += fmt::format("    {}: {} - {}\n", finding.provider, to_text(finding.verdict), finding.reason);
  }
  if (!silent.empty()) text += fmt::format("No cells of this campaign speak of {}.\n", silent);
  if (summary.emulated)
    text += "Emulated processors and software providers: verdicts are on these stacks, not on adapters.\n";
  return text;
}

}  // namespace longhaul::results
