#include "registration/policies/strategy.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "common/spelling.hh"
#include "registration/policies/greedy_dual.hh"
#include "registration/policies/lhd.hh"
#include "registration/policies/lru.hh"
#include "registration/policies/mrre.hh"
#include "registration/policies/rate.hh"
#include "registration/policies/s3_fifo.hh"
#include "registration/policies/sieve.hh"
#include "registration/policies/tiny_lfu.hh"

namespace longhaul::registration {
namespace {

using Values = std::vector<double>;

struct Tunable {
  std::string name;
  double value;  // unless said otherwise
  double least;
  double most;
};

struct Kind {
  std::string name;
  std::string help;
  std::vector<Tunable> tunables;
  std::function<RegionCache::MakePolicy(const Values& values, const CostProfile& profile)> make;
  CacheOptions options = {};
  bool batched = false;
  bool weighs_cost = false;
};

const Tunable kBatch{"batch", 0.1, 0, 1};  // of the capacity, as MRRC's eviction segment

RegionCache::MakePolicy lru(const Values& values, const CostProfile&) {
  const auto batch = values.empty() ? 0 : values[0];
  return [batch](const Regions& regions, Capacity capacity) { return std::make_unique<Lru>(regions, capacity, batch); };
}

auto mrre(Mrre::Reading reading) {
  return [reading](const Values& values, const CostProfile&) -> RegionCache::MakePolicy {
    return [=](const Regions& regions, Capacity capacity) {
      return std::make_unique<Mrre>(regions, capacity, reading, values[0], values[1]);
    };
  };
}

auto greedy_dual(bool for_time, bool frequency) {
  return [=](const Values&, const CostProfile& profile) -> RegionCache::MakePolicy {
    const auto cost = [=](std::uint64_t pages) {
      return for_time ? profile.registering.of(pages) + profile.deregistering.of(pages) : 1.0;
    };
    return [=](const Regions& regions, Capacity) { return std::make_unique<GreedyDual>(regions, cost, frequency); };
  };
}

const std::vector<Kind>& kinds() {
  const CacheOptions by_page{.granularity = Granularity::page};
  const std::vector<Tunable> sections{{"frequent", 0.5, 0, 1}, {"eviction", 0.1, 0, 1}};
  static const std::vector<Kind> all{
      {"none", "register and deregister for each request", {}, {}},
      {"pin-down",
       "what was registered together, least recently used first (Tezuka 1998): lru by its field's name",
       {},
       lru},
      {"pin-down-pages", "the same of single pages, each deregistered by itself", {}, lru, by_page},
      {"fmrd", "of single pages, deregistered in batches (Wu 2003)", {kBatch}, lru, by_page, true},
      {"lru", "regions, least recently used first", {}, lru},
      {"lru-batch", "the same, a part of the capacity at a time", {kBatch}, lru, {}, true},
      {"lazy",
       "regions that are found only as they were registered (Rangarajan and Iftode 2004)",
       {},
       lru,
       {.overlap = Overlap::replace}},
      {"mrrc", "the MRRC paper's replacement as its text has it", sections, mrre(Mrre::Reading::text), {}, true},
      {"mrrc-figure", "the same as its figure has it", sections, mrre(Mrre::Reading::figure), {}, true},
      {"ucx", "what overlaps is merged into one region (UCX's rcache)", {}, lru, {.overlap = Overlap::merge}},
      {"gds", "GreedyDual-Size for hits", {}, greedy_dual(false, false)},
      {"gds-cost", "GreedyDual-Size for time", {}, greedy_dual(true, false), {}, false, true},
      {"gdsf", "GreedyDual-Size with frequency, for hits", {}, greedy_dual(false, true)},
      {"gdsf-cost", "the same for time", {}, greedy_dual(true, true), {}, false, true},
      {"s3-fifo",
       "a small queue for newcomers, a main one, and ghosts",
       {{"small", 0.1, 0, 1}},
       [](const Values& values, const CostProfile&) -> RegionCache::MakePolicy {
         return [=](const Regions& regions, Capacity capacity) {
           return std::make_unique<S3Fifo>(regions, capacity, values[0]);
         };
       }},
      {"sieve",
       "a queue and a hand that spares what was used",
       {},
       [](const Values&, const CostProfile&) -> RegionCache::MakePolicy {
         return [](const Regions& regions, Capacity) { return std::make_unique<Sieve>(regions); };
       }},
      {"w-tinylfu",
       "a window, and a sketch that decides who may stay",
       {{"window", 0.01, 0, 1}, {"protected", 0.8, 0, 1}},
       [](const Values& values, const CostProfile&) -> RegionCache::MakePolicy {
         return [=](const Regions& regions, Capacity capacity) {
           return std::make_unique<TinyLfu>(regions, capacity, values[0], values[1]);
         };
       }},
      {"lhd",
       "what is expected to hit least for the room it takes",
       {},
       [](const Values&, const CostProfile&) -> RegionCache::MakePolicy {
         return [](const Regions& regions, Capacity capacity) { return std::make_unique<Lhd>(regions, capacity); };
       }},
      {"rate",
       "ours: what saves least time by page, from counts that decay and outlive eviction",
       {{"half_life", RateOptions{}.half_life, 0.01, 1e6},
        {"memory", RateOptions{}.memory, 0, 1e6},
        {"batch", RateOptions{}.batch, 0, 1},
        {"time", RateOptions{}.time, 0, 1}},
       [](const Values& values, const CostProfile& profile) -> RegionCache::MakePolicy {
         const RateOptions options{values[0], values[1], values[2], values[3]};
         const auto cost = [=](std::uint64_t pages) {
           return profile.registering.of(pages) + profile.deregistering.of(pages);
         };
         return [=](const Regions& regions, Capacity capacity) {
           return std::make_unique<Rate>(regions, capacity, cost, options);
         };
       },
       {},
       true,
       true},
  };
  return all;
}

std::string_view take(std::string_view& text, char separator) {
  const auto part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

Result<Values> parse_values(const Kind& kind, std::string_view text) {
  Values values;
  std::vector<std::string> names;
  for (const auto& one : kind.tunables) {
    values.push_back(one.value);
    names.push_back(one.name);
  }
  while (!text.empty()) {
    auto part = take(text, ':');
    const auto name = take(part, '=');
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end())
      return refuse("policy {} has no parameter '{}' (it has {})", kind.name, name,
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    const auto at = static_cast<std::size_t>(it - names.begin());
    const auto& tunable = kind.tunables[at];
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), values[at]);
    if (error != std::errc{} || end != part.data() + part.size() ||
        !(values[at] >= tunable.least && values[at] <= tunable.most))
      return refuse("policy {}: {} is a number from {} to {}, got '{}'", kind.name, name, tunable.least, tunable.most,
                    part);
  }
  return values;
}

Strategy strategy_of(const Kind& kind, std::string_view name, const Values& values, const CostProfile& profile) {
  return {.name = std::string{name},
          .help = kind.help,
          .policy = kind.make ? kind.make(values, profile) : RegionCache::MakePolicy{},
          .options = kind.options,
          .batched = kind.batched,
          .weighs = kind.weighs_cost ? profile.name : ""};
}

}  // namespace

Result<std::vector<Strategy>> parse_strategies(std::string_view text, const std::vector<CostProfile>& profiles) {
  std::vector<std::string> names;
  std::string every;
  for (const auto& kind : kinds()) {
    names.push_back(kind.name);
    every += (every.empty() ? "" : ",") + kind.name;
  }
  if (text == "all") text = every;
  std::vector<Strategy> chosen;
  while (!text.empty()) {
    const auto whole = take(text, ',');
    auto rest = whole;
    const auto name = take(rest, ':');
    const auto kind = std::find_if(kinds().begin(), kinds().end(), [&](const Kind& one) { return one.name == name; });
    if (kind == kinds().end()) {
      const auto near = nearest(std::string{name}, names);
      return refuse("there is no policy '{}'{} (there are all, {})", name,
                    near.empty() ? "" : fmt::format("; did you mean '{}'?", near), fmt::join(names, ", "));
    }
    const auto values = parse_values(*kind, rest);
    if (!values) return tl::unexpected(values.error());
    for (const auto& profile : profiles) {
      chosen.push_back(strategy_of(*kind, whole, *values, profile));
      if (!kind->weighs_cost) break;
    }
  }
  if (chosen.empty()) return refuse("no policy is named; 'all' takes every one");
  return chosen;
}

std::string list_strategies() {
  std::string text;
  for (const auto& kind : kinds()) {
    text += fmt::format("  {:14} {}", kind.name, kind.help);
    for (const auto& one : kind.tunables) text += fmt::format("; {}={}", one.name, one.value);
    text += '\n';
  }
  return text;
}

}  // namespace longhaul::registration
