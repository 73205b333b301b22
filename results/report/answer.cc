#include "results/report/answer.hh"

#include <algorithm>
#include <cmath>
#include <map>

#include "results/report/local_axes.hh"
#include "results/summary/pace.hh"

namespace longhaul::results {
namespace {

constexpr double kAlike = 1.05;

struct Range {
  double low;
  double high;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string from_to(double low, double high) {
  const auto a = short_ratio(low);
  const auto b = short_ratio(high);
  return a == b ? a : fmt::format("{} to {}", a, b);
}

// "as fast" suits times; any other metric is better or worse.
std::string phrase(const Range& range, bool time) {
  const auto* how = time ? "as fast" : "as good";
  if (range.low >= 1 / kAlike && range.high <= kAlike) {
    const double most = std::max(range.high, 1 / range.low) - 1;
    return fmt::format("the two are within {:.1f} % of each other", std::max(0.1, most * 100));
  }
  if (range.low > 1) return fmt::format("RDMA is {} times {} as sockets", from_to(range.low, range.high), how);
  if (range.high < 1)
    return fmt::format("sockets are {} times {} as RDMA", from_to(1 / range.high, 1 / range.low), how);
  return fmt::format("RDMA is {} times {} as sockets", from_to(range.low, range.high), how);
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

// Only what a reader of one sentence needs: how many change, the first and the last of them.
std::string changes(const std::vector<const Pairing*>& pairs, const Vocabulary& vocabulary, std::int64_t farthest) {
  std::vector<std::pair<double, const Pairing*>> found;
  for (const auto* pair : pairs)
    if (!pair->crossovers.empty()) found.emplace_back(pair->crossovers.front().at, pair);
  std::sort(found.begin(), found.end());
  const auto count = pairs.size();
  if (found.empty()) {
    // One delay has no course.
    if (std::all_of(pairs.begin(), pairs.end(), [](const auto* pair) { return pair->points.size() < 2; })) return {};
    const auto ahead = std::count_if(pairs.begin(), pairs.end(),
                                     [](const auto* p) { return p->points.front().advantage == Advantage::rdma; });
    const auto up_to = short_time(static_cast<double>(farthest));
    if (static_cast<std::size_t>(ahead) == count)
      return fmt::format("No crossover up to {}: RDMA stays ahead{}.", up_to,
                         count > 1 ? fmt::format(" in all {} pairs", count) : "");
    return fmt::format("No crossover was found up to {}.", up_to);
  }
  const auto place = [&](const auto& one) {
    return fmt::format("about {} ({})", short_time(one.first), name_of(*one.second, vocabulary));
  };
  if (count == 1) return fmt::format("The verdict changes at about {}.", short_time(found.front().first));
  if (found.size() == 1)
    return fmt::format("The verdict changes in 1 of {} pairs, at {}.", count, place(found.front()));
  return fmt::format("The verdict changes in {} of {} pairs, first at {}, last at {}.", found.size(), count,
                     place(found.front()), place(found.back()));
}

// "16KiB" -> "16 KiB": files take it without the space, people with it.
std::string spaced(std::string text) {
  const auto unit = text.find_first_not_of("0123456789.");
  if (unit != std::string::npos && unit > 0 && text[unit] != ' ') text.insert(unit, " ");
  return text;
}

// The path's name where it is not the WAN, along which delay is added.
std::string path_of(const Pairing& pairing) {
  const auto path = pairing.conditions.find("path");
  const auto* name = path == pairing.conditions.end() ? nullptr : std::get_if<std::string>(&path->second);
  if (name == nullptr || *name == "wan") return {};
  return *name == "lan" ? "LAN" : *name;
}

bool answers(const Pairing& pairing) {
  return pairing.transport == "rdma" && !pairing.points.empty();
}

// The pair whose workload, metric and path the question is about: the first over the WAN, or else the first of all.
const Pairing* headline(const std::vector<Pairing>& pairings) {
  const Pairing* first = nullptr;
  for (const auto& pairing : pairings) {
    if (!answers(pairing)) continue;
    if (path_of(pairing).empty()) return &pairing;
    if (first == nullptr) first = &pairing;
  }
  return first;
}

const char* holder(Advantage advantage) {
  switch (advantage) {
    case Advantage::rdma:
      return "RDMA ahead";
    case Advantage::sockets:
      return "sockets ahead";
    case Advantage::none:
      return "no difference shown";
    case Advantage::unknown:
      break;
  }
  return "too few runs";
}

}  // namespace

std::string short_time(double nanoseconds) {
  const auto scaled = [&](double unit, const char* name) {
    const double value = nanoseconds / unit;
    // Whole numbers were asked for and stand as they are; others are estimates, good for two digits.
    const int decimals = value == std::floor(value) || value >= 9.95 ? 0 : 1;
    return fmt::format("{:.{}f} {}", value, decimals, name);
  };
  if (nanoseconds >= 1e9) return scaled(1e9, "s");
  if (nanoseconds >= 1e6 || nanoseconds == 0) return scaled(1e6, "ms");
  return scaled(1e3, "us");
}

std::string short_ratio(double ratio) {
  const double off = std::abs(ratio - 1);
  if (ratio > 0 && ratio < 0.0995) return fmt::format("{:.2g}", ratio);
  if (ratio >= 9.95) return fmt::format("{:.0f}", ratio);
  if (off >= 0.195 && ratio > 1) return fmt::format("{:.1f}", ratio);
  if (off >= 0.0195) return fmt::format("{:.2f}", ratio);
  return fmt::format("{:.3f}", ratio);
}

std::string name_of(const Pairing& pairing, const Vocabulary& vocabulary) {
  std::string name = pairing.provider;
  if (const auto* spec = find_transport(pairing.transport); spec != nullptr && pairing.transport != "rdma")
    name = fmt::format("{} on {}", spec->title, name);
  const auto* op = vocabulary.parameter(pairing.workload, "op");
  if (op != nullptr && op->fallback != Value{pairing.op}) name += " " + pairing.op;
  if (const auto* size = vocabulary.parameter(pairing.workload, "size"); size != nullptr)
    name += ", " + spaced(vocabulary.spelt(pairing.workload, pairing.conditions, "size"));
  // The length of a measurement is no property of a cell, and the page names the clock at its top.
  for (const auto& [axis, value] : pairing.conditions)
    if (axis != "size" && !is_pace(axis))
      name += fmt::format(", {} {}", axis, vocabulary.spelt(pairing.workload, pairing.conditions, axis));
  return name;
}

std::string course_of(const Pairing& pairing) {
  if (pairing.points.empty()) return "nothing to compare";
  const auto first = std::find_if(pairing.points.begin(), pairing.points.end(),
                                  [](const auto& point) { return point.advantage != Advantage::unknown; });
  if (first == pairing.points.end()) return "too few runs for an interval";
  if (pairing.crossovers.empty())
    return fmt::format("{} at every delay; crossover: none found", holder(first->advantage));
  std::string text = holder(first->advantage);
  for (std::size_t i = 0; i < pairing.crossovers.size(); ++i)
    text += fmt::format("{} up to about {}, then {}", i == 0 ? "" : ",", short_time(pairing.crossovers[i].at),
                        holder(pairing.crossovers[i].after));
  return text;
}

Answer answer_of(const Summary& summary, const std::vector<Pairing>& pairings, const Vocabulary& vocabulary) {
  const auto* head = headline(pairings);
  if (head == nullptr) {
    if (auto best = best_local(summary, vocabulary); !best.empty())
      return {.question = "What gives the best figures?", .answer = std::move(best)};
    const auto measured =
        std::count_if(summary.cells.begin(), summary.cells.end(), [](const auto& cell) { return cell.usable > 0; });
    return {.question = "Is RDMA better than sockets on this link, and up to which delay?",
            .answer = fmt::format(
                "Not answered: no RDMA cell has a sockets cell to be compared with ({} of {} cells have results).",
                measured, summary.cells.size())};
  }
  const auto* spec = vocabulary.metric(head->workload, head->metric);
  const bool time = spec != nullptr && spec->unit == "ns";
  const auto* better = time ? "faster" : "better";

  std::vector<const Pairing*> pairs;
  std::vector<std::string> providers;
  const auto& first = head->points.front();
  std::map<std::int64_t, Range> by_delay{{first.delay, {first.ratio.value, first.ratio.value}}};
  Range all = by_delay.begin()->second;
  for (const auto& pairing : pairings) {
    if (!answers(pairing) || pairing.workload != head->workload || pairing.metric != head->metric ||
        path_of(pairing) != path_of(*head))
      continue;
    pairs.push_back(&pairing);
    if (std::find(providers.begin(), providers.end(), pairing.provider) == providers.end())
      providers.push_back(pairing.provider);
    for (const auto& point : pairing.points) {
      by_delay.try_emplace(point.delay, Range{point.ratio.value, point.ratio.value})
          .first->second.add(point.ratio.value);
      all.add(point.ratio.value);
    }
  }
  const auto on = join(providers);
  if (const auto path = path_of(*head); !path.empty())
    return {.question = fmt::format("Is RDMA {} than sockets on the {}?", better, path),
            .answer = fmt::format("On the {} {} (on {}).", path, phrase(all, time), on)};

  const auto& [nearest_delay, nearest_range] = *by_delay.begin();
  const auto& [farthest, farthest_range] = *by_delay.rbegin();
  const auto near_by = nearest_delay == 0
                           ? std::string{"Without added delay"}
                           : fmt::format("At {} each way", short_time(static_cast<double>(nearest_delay)));
  Answer result{.question = fmt::format("Is RDMA {} than sockets on this link, and up to which delay?", better),
                .answer = fmt::format("{} {} (on {})", near_by, phrase(nearest_range, time), on)};
  if (farthest != nearest_delay)
    result.answer +=
        fmt::format("; at {} each way {}", short_time(static_cast<double>(farthest)), phrase(farthest_range, time));
  const auto course = changes(pairs, vocabulary, farthest);
  result.answer += course.empty() ? "." : ". " + course;
  return result;
}

}  // namespace longhaul::results
