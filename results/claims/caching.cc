// The claims on the caching of registrations, M1 to M4: judged on simulations.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "results/claims/judge.hh"
#include "results/claims/registration.hh"

namespace longhaul::results {
namespace {

constexpr const char* kCachingPaper = "Memory Registration Region Cache (2009), ";
constexpr double kNarrow = 0.7;  // of the requests at most two pages: a trace like Cello92

// As it has to be read: by pages, or by whole regions (the live workloads' pin-down).
const char* const kPinDowns[] = {"pin-down", "pin-down-pages"};

bool by_mrrc(const Match& match) {
  return match.rival->workload == match.cell->workload && is(*match.parameters, "policy", "mrrc");
}

auto mrrc_beside(const char* policy) {
  return [policy](const Match& match) {
    return by_mrrc(match) && is(*match.rival_parameters, "policy", policy) &&
           same_but(*match.cell, *match.rival, {"policy"});
  };
}

bool mrrc_beside_a_pin_down(const Match& match) {
  return mrrc_beside(kPinDowns[0])(match) || mrrc_beside(kPinDowns[1])(match);
}

bool mrrc_beside_none(const Match& match) {
  return by_mrrc(match) && is(*match.rival_parameters, "policy", "none") &&
         (same_but(*match.cell, *match.rival, {"policy"}) ||
          // One that caches nothing has one outcome, at no capacity.
          (integer_of(*match.rival_parameters, "capacity") == 0 &&
           same_but(*match.cell, *match.rival, {"policy", "capacity"})));
}

// The workload's word where it makes requests up itself; a recipe of `longhaul simulate --generate` has the form
// a=b,c=d.
bool is_made_up(const std::string& trace) {
  return trace == "generated" || trace.find('=') != std::string::npos;
}

bool is_made_up(const Match& match) {
  return is_made_up(choice_of(*match.parameters, "trace", ""));
}

// Seeds of one recipe are samples of one thing.
std::string without_seed(std::string recipe) {
  const auto at = recipe.find("seed=");
  if (at == std::string::npos) return recipe;
  const auto end = recipe.find(',', at);
  recipe.erase(at, end == std::string::npos ? std::string::npos : end + 1 - at);
  if (recipe.ends_with(',')) recipe.pop_back();
  return recipe;
}

std::string by_trace(const CellSummary& cell, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  const auto trace = spelt("trace");
  const auto requests = trace == "generated" ? spelt("sizes") : without_seed(trace);
  return fmt::format("{}{}, {}", is_made_up(trace) ? "made up: " : "", requests, spelt("cost"));
}

bool narrow(const CellSummary& cell) {
  return value_of(cell, "share_2") >= kNarrow;
}

/// MRRC's figure over the other policy's at one capacity.
struct Point {
  std::string at;
  Measured ratio;
};

// A trace gives the same again and again: its figures are exact. Of requests that are made up each seed is one sample.
std::vector<Point> course(const Claim& claim, const std::vector<Match>& matches, const char* metric) {
  std::map<std::int64_t, std::vector<double>> ratios;
  for (const auto& match : matches) {
    const auto other = value_of(*match.rival, metric);
    ratios[match.x].push_back(other > 0 ? value_of(*match.cell, metric) / other : 1);
  }
  std::vector<Point> points;
  for (const auto& [x, values] : ratios) {
    Match here = matches.front();
    here.x = x;
    points.push_back({place(claim, here), is_made_up(here) ? typical(values, ratios.size()) : exactly(values.front())});
  }
  return points;
}

double least_of(const std::vector<Point>& points) {
  return std::min_element(points.begin(), points.end(),
                          [](const auto& a, const auto& b) { return a.ratio.ratio.value < b.ratio.ratio.value; })
      ->ratio.ratio.value;
}

double most_of(const std::vector<Point>& points) {
  return std::max_element(points.begin(), points.end(),
                          [](const auto& a, const auto& b) { return a.ratio.ratio.value < b.ratio.ratio.value; })
      ->ratio.ratio.value;
}

// Within [low, high] everywhere.
Judgement everywhere(const std::vector<Point>& points, double low, double high) {
  std::vector<Judgement> judgements;
  for (const auto& point : points) {
    if (low > 0) judgements.push_back(above(point.ratio, std::nextafter(low, 0)));
    judgements.push_back(below(point.ratio, std::nextafter(high, 2 * high)));
  }
  return all_of(judgements);
}

// Within [low, high] somewhere.
Judgement somewhere(const std::vector<Point>& points, double low, double high) {
  bool open = false;
  for (const auto& point : points) {
    const auto one = everywhere({point}, low, high);
    if (one == Judgement::yes) return Judgement::yes;
    open = open || one == Judgement::unsure;
  }
  return open ? Judgement::unsure : Judgement::no;
}

Finding say(const std::vector<Match>& matches, Judgement judgement, std::string reason, const char* what,
            const std::vector<Point>& points) {
  std::vector<Evidence> evidence;
  for (const auto& point : points) evidence.push_back({point.at, what, point.ratio.ratio});
  if (!is_made_up(matches.front())) return conclude(judgement, std::move(reason), std::move(evidence));
  reason += "; these requests are made up by the paper's words, which proves little";
  auto finding = points.front().ratio.ratio.interval
                     ? conclude(judgement, std::move(reason), std::move(evidence))
                     : undecided("fewer than six seeds are no interval: " + reason, std::move(evidence));
  finding.made_up = true;
  return finding;
}

Finding more_hits(const Claim& claim, const std::vector<Match>& matches) {
  const auto points = course(claim, matches, "hit_ratio");
  auto reason = fmt::format("requests of {}; MRRC has {:.3f} to {:.3f} times pin-down's hits",
                            narrow(*matches.front().cell) ? "mostly one or two pages" : "many sizes", least_of(points),
                            most_of(points));
  const auto wide = std::numeric_limits<double>::max() / 4;
  const auto judgement = narrow(*matches.front().cell)
                             ? everywhere(points, 0.95, 1.05)
                             : all_of({everywhere(points, 0.99, wide), somewhere(points, 1.05, wide)});
  return say(matches, judgement, std::move(reason), "hits of MRRC / of pin-down", points);
}

Finding cheaper_by_a_tenth(const Claim& claim, const std::vector<Match>& matches) {
  const auto points = course(claim, matches, "cost");
  auto reason = fmt::format("MRRC costs {:.3f} to {:.3f} times what pin-down does", least_of(points), most_of(points));
  const auto judgement = all_of({everywhere(points, 0.85, 1.01), somewhere(points, 0, std::nextafter(1, 0))});
  return say(matches, judgement, std::move(reason), "cost of MRRC / of pin-down", points);
}

Finding saves_most_of_it(const Claim& claim, const std::vector<Match>& matches) {
  const auto points = course(claim, matches, "cost");
  auto reason = fmt::format("MRRC saves up to {:.0f} % of the cost of no cache", 100 * (1 - least_of(points)));
  const auto judgement = all_of({somewhere(points, 0.23, 0.37), everywhere(points, 0.23, 1e9)});
  return say(matches, judgement, std::move(reason), "cost of MRRC / of no cache", points);
}

// Whose requests a trace has, by the format that its name tells (docs/registration-cache.md).
enum class Origin { web_server, disk, unknown };
Origin origin_of(std::string_view trace) {
  if (trace.ends_with(".zst")) trace.remove_suffix(4);
  for (const auto* end : {".tsv", ".log"})
    if (trace.ends_with(end)) return Origin::web_server;
  for (const auto* end : {".lis", ".vscsi"})
    if (trace.ends_with(end)) return Origin::disk;
  return Origin::unknown;
}

Finding sizes_as_found(const Claim&, const std::vector<Match>& matches) {
  const auto& cell = *matches.front().cell;
  std::vector<Evidence> evidence;
  std::string reason = "of these requests at most";
  for (const auto* pages : {"1", "2", "4", "8", "16", "32"}) {
    const auto share = value_of(cell, std::string{"share_"} + pages);
    reason += fmt::format(" {} pages have {:.0f} %,", pages, 100 * share);
    evidence.push_back({std::string{"at most "} + pages + " pages", "share of the requests", exactly(share).ratio});
  }
  reason.pop_back();
  if (is_made_up(matches.front())) {
    auto finding =
        undecided(reason + "; they are made up by the papers' words, which proves nothing", std::move(evidence));
    finding.made_up = true;
    return finding;
  }
  const auto share = [&](const char* pages) { return value_of(cell, std::string{"share_"} + pages); };
  switch (origin_of(choice_of(*matches.front().parameters, "trace", ""))) {
    case Origin::web_server: {
      const bool spread = share("1") < 0.5 && share("4") < 0.95 && share("16") < 1;
      return conclude(spread ? Judgement::yes : Judgement::no, "a web server's: " + reason, std::move(evidence));
    }
    case Origin::disk: {
      const bool pairs = share("2") - share("1") >= 0.7 && share("2") - share("1") <= 0.9;
      return conclude(pairs ? Judgement::yes : Judgement::no, "a disk's: " + reason, std::move(evidence));
    }
    case Origin::unknown:
      break;
  }
  return undecided("the name of the trace does not tell whose requests they are; " + reason, std::move(evidence));
}

Claim more_hits_than(const char* id, const char* policy, const char* reading) {
  return {.id = id,
          .source = std::string{kCachingPaper} + "section 7",
          .statement = fmt::format("MRRC has about 10 % more hits than pin-down ({}) on a web server's trace of many "
                                   "sizes, and about as many on a disk's of one or two pages.",
                                   reading),
          .criterion =
              "where sizes are many MRRC has 1.05 times pin-down's hits at some capacity and nowhere less than "
              "0.99; where they are one or two pages the two stay within 5 %",
          .workload = "simulation",
          .metric = "hit_ratio",
          .x = "capacity",
          .rival = Rival::twin,
          .twin = mrrc_beside(policy),
          .group = by_trace,
          .check = more_hits,
          .samples = true};
}

Claim cheaper_than(const char* id, const char* policy, const char* reading) {
  return {.id = id,
          .source = std::string{kCachingPaper} + "section 7",
          .statement = fmt::format("MRRC's total cost is at most about 10 % below pin-down's ({}).", reading),
          .criterion = "at every capacity it lies between 0.85 and 1.01 of pin-down's, and somewhere below 1",
          .workload = "simulation",
          .metric = "cost",
          .x = "capacity",
          .rival = Rival::twin,
          .twin = mrrc_beside(policy),
          .group = by_trace,
          .check = cheaper_by_a_tenth,
          .samples = true};
}

}  // namespace

// Tezuka's pin-down keeps what was pinned down together; simulations of it, the MRRC paper's perhaps among them, keep
// single pages, whose deregistration one by one no library pays. Both are judged, by their names.
std::vector<Claim> caching_claims() {
  constexpr const char* kRegions = "whole regions";
  constexpr const char* kPages = "single pages";
  return {
      more_hits_than("M1", kPinDowns[0], kRegions),
      more_hits_than("M1p", kPinDowns[1], kPages),
      cheaper_than("M2", kPinDowns[0], kRegions),
      cheaper_than("M2p", kPinDowns[1], kPages),
      {.id = "M3",
       .source = std::string{kCachingPaper} + "section 7",
       .statement = "MRRC's total cost is up to 70 % below that of no cache.",
       .criterion = "the most that it saves at any capacity lies between 63 and 77 %",
       .workload = "simulation",
       .metric = "cost_saved",
       .x = "capacity",
       .rival = Rival::twin,
       .twin = mrrc_beside_none,
       .group = by_trace,
       .check = saves_most_of_it,
       .samples = true},
      {.id = "M4",
       .source = std::string{kCachingPaper} + "section 7, figure 9",
       .statement = "The web server's requests spread over 1 to 32 pages; of the disk's 80 % are of two.",
       .criterion =
           "of a web server's requests less than half are of one page, some of more than 4 and of more than 16; of a "
           "disk's 70 to 90 % are of two (the papers' own traces cannot be had)",
       .workload = "simulation",
       .metric = "hit_ratio",
       .x = "capacity",
       .rival = Rival::twin,
       .twin = mrrc_beside_a_pin_down,
       .group = by_trace,
       .check = sizes_as_found,
       .samples = true},
  };
}

}  // namespace longhaul::results
