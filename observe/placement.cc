#include "observe/placement.hh"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "observe/small_file.hh"

namespace longhaul::observe {
namespace {

constexpr int kDigit = 4;  // processors by hexadecimal digit

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> found;
  while (true) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return found;
    const auto stop = std::min(line.find_first_of(" \t", start), line.size());
    found.push_back(line.substr(start, stop - start));
    line.remove_prefix(stop);
  }
}

}  // namespace

std::vector<int> parse_cpu_mask(std::string_view text) {
  std::vector<int> cpus;
  int first = 0;
  for (auto it = text.rbegin(); it != text.rend(); ++it) {
    if (*it == ',') continue;
    int digit = 0;
    if (std::from_chars(&*it, &*it + 1, digit, 16).ec != std::errc{}) return {};
    for (int bit = 0; bit < kDigit; ++bit)
      if ((digit & (1 << bit)) != 0) cpus.push_back(first + bit);
    first += kDigit;
  }
  return cpus;
}

std::vector<int> receive_processors(const std::string& netdev) {
  std::set<int> cpus;
  std::error_code error;
  for (const auto& queue : std::filesystem::directory_iterator{"/sys/class/net/" + netdev + "/queues", error}) {
    if (!queue.path().filename().string().starts_with("rx-")) continue;
    const auto mask = small_file((queue.path() / "rps_cpus").string());
    const auto named = parse_cpu_mask(mask.value_or(""));
    if (named.empty()) return {};  // one queue that is not steered is enough
    cpus.insert(named.begin(), named.end());
  }
  return {cpus.begin(), cpus.end()};
}

std::map<int, std::uint64_t> parse_softirqs(std::string_view text, std::string_view name) {
  std::vector<int> cpus;
  std::map<int, std::uint64_t> counts;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto fields = words(line);
    if (fields.empty()) continue;
    if (cpus.empty()) {
      for (const auto& field : fields) {
        int cpu = 0;
        if (!field.starts_with("CPU") ||
            std::from_chars(field.data() + 3, field.data() + field.size(), cpu).ec != std::errc{})
          return {};
        cpus.push_back(cpu);
      }
      continue;
    }
    if (fields.front() != std::string{name} + ":" || fields.size() < cpus.size() + 1) continue;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      std::uint64_t count = 0;
      std::from_chars(fields[i + 1].data(), fields[i + 1].data() + fields[i + 1].size(), count);
      counts[cpus[i]] = count;
    }
    return counts;
  }
  return counts;
}

}  // namespace longhaul::observe
