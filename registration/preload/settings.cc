#include "registration/preload/settings.hh"

#include <algorithm>
#include <charconv>
#include <map>

#include "common/number.hh"
#include "registration/policies/strategy.hh"

namespace longhaul::registration {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
constexpr std::uint64_t kMostRegions = 1 << 20;

Result<std::uint64_t> parse_bytes(const std::string& name, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  const std::pair<std::string_view, unsigned> units[] = {{"", 0},     {"B", 0},    {"KiB", 10},
                                                         {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
  if (error == std::errc{} && number > 0)
    for (const auto& [word, shift] : units)
      if (unit == word && number <= kMostBytes >> shift) return number << shift;
  return refuse("{}: '{}' is no size; it is a number of bytes, or of KiB, MiB, GiB or TiB, up to 64TiB (256MiB)", name,
                text);
}

Result<std::uint64_t> parse_count(const std::string& name, std::string_view text) {
  std::uint64_t number = 0;
  if (read_number(text, number) && number >= 1 && number <= kMostRegions) return number;
  return refuse("{}: '{}' is no number from 1 to {}", name, text, kMostRegions);
}

Result<bool> parse_choice(const std::string& name, std::string_view text, std::string_view no, std::string_view yes) {
  if (text == yes) return true;
  if (text == no) return false;
  return refuse("{}: '{}' is neither {} nor {}", name, text, no, yes);
}

Result<void> apply(Settings& settings, const std::string& name, std::string_view key, std::string_view text) {
  const auto choose = [&](bool& into, std::string_view no, std::string_view yes) -> Result<void> {
    const auto value = parse_choice(name, text, no, yes);
    if (!value) return tl::unexpected(value.error());
    into = *value;
    return {};
  };
  const auto take = [](std::uint64_t& into, const Result<std::uint64_t>& value) -> Result<void> {
    if (!value) return tl::unexpected(value.error());
    into = *value;
    return {};
  };
  bool second = false;
  if (key.empty()) return choose(settings.on, "off", "on");
  if (key == "REMOTE") return choose(settings.remote, "0", "1");
  if (key == "SHARED") return choose(settings.shared, "0", "1");
  if (key == "BYTES") return take(settings.bytes, parse_bytes(name, text));
  if (key == "REGIONS") return take(settings.regions, parse_count(name, text));
  if (key == "REACH") {
    auto done = choose(second, "asked", "pages");
    settings.reach = second ? Settings::Reach::pages : Settings::Reach::asked;
    return done;
  }
  if (key == "UNMAPPING") {
    auto done = choose(second, "any", "own");
    settings.unmapping = second ? Executor::Unmapping::by_this_thread : Executor::Unmapping::by_any_thread;
    return done;
  }
  if (key == "POLICY") {
    settings.policy = text;
    const auto setup = cache_setup(settings);
    if (!setup) return refuse("{}: {}", name, setup.error().message);
  }
  if (key == "STATS") settings.statistics = text == "0" ? "" : text;
  if (key == "SOCKET") settings.socket = text;
  return {};
}

constexpr std::string_view kKeys[] = {"",      "REMOTE",    "SHARED", "BYTES", "REGIONS",
                                      "REACH", "UNMAPPING", "POLICY", "STATS", "SOCKET"};

}  // namespace

Result<Settings> parse_settings(const Environment& environment, std::uint64_t locked_memory) {
  Settings settings;
  settings.bytes = std::max<std::uint64_t>(std::min(256 * kMiB, locked_memory / 2), kPageSize);
  for (const auto key : kKeys) {
    const auto name = "LONGHAUL_CACHE" + (key.empty() ? "" : "_" + std::string{key});
    const char* value = environment(name.c_str());
    if (value == nullptr) continue;
    if (auto done = apply(settings, name, key, value); !done) return tl::unexpected(done.error());
  }
  return settings;
}

Result<Settings> parse_settings(std::string_view text, std::uint64_t locked_memory) {
  std::map<std::string, std::string> values;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto is = part.find('=');
    std::string key{part.substr(0, is)};
    std::transform(key.begin(), key.end(), key.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
    if (is == std::string_view::npos || key.empty() ||
        std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return refuse(
          "'{}' is no setting; there are remote, shared, bytes, regions, reach, unmapping, policy, stats and "
          "socket, each with its value behind =",
          part);
    values["LONGHAUL_CACHE_" + key] = part.substr(is + 1);
  }
  return parse_settings(
      [&](const char* name) -> const char* {
        const auto it = values.find(name);
        return it == values.end() ? nullptr : it->second.c_str();
      },
      locked_memory);
}

Result<CacheSetup> cache_setup(const Settings& settings) {
  const auto& profiles = cost_profiles();
  const auto ordinary =
      std::find_if(profiles.begin(), profiles.end(), [](const CostProfile& one) { return one.name == "mietke"; });
  const auto strategies = parse_strategies(settings.policy, {*ordinary});
  if (!strategies) return tl::unexpected(strategies.error());
  if (strategies->size() != 1) return refuse("'{}' names several policies; one is wanted (lru)", settings.policy);
  const auto& chosen = strategies->front();
  if (!chosen.policy) return refuse("'{}' keeps nothing; LONGHAUL_CACHE=off switches the cache off", settings.policy);
  if (chosen.options.granularity == Granularity::page)
    return refuse("'{}' keeps single pages, which is for simulation; an adapter registers ranges (lru)", chosen.name);
  auto options = chosen.options;
  // A program gets one key for what it asks for: regions with gaps between them are of no use.
  if (settings.reach == Settings::Reach::asked || options.overlap == Overlap::fill) options.overlap = Overlap::replace;
  return CacheSetup{{std::max<std::uint64_t>(settings.bytes / kPageSize, 1), settings.regions}, chosen.policy, options};
}

std::string with_process(std::string path, int process) {
  if (const auto at = path.find("%p"); at != std::string::npos) path.replace(at, 2, std::to_string(process));
  return path;
}

}  // namespace longhaul::registration
