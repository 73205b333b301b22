#include "observe/placement.hh"

#include <charconv>
#include <filesystem>
#include <set>

#include "observe/fields.hh"
#include "observe/small_file.hh"

namespace longhaul::observe {
namespace {

constexpr int kDigit = 4;  // processors by hexadecimal digit

namespace fs = std::filesystem;

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
  for (const auto& queue : fs::directory_iterator{"/sys/class/net/" + netdev + "/queues", error}) {
    if (!queue.path().filename().string().starts_with("rx-")) continue;
    const auto named = parse_cpu_mask(small_file((queue.path() / "rps_cpus").string()).value_or(""));
    if (named.empty()) return {};  // one queue that is not steered is enough
    cpus.insert(named.begin(), named.end());
  }
  return {cpus.begin(), cpus.end()};
}

std::map<int, std::uint64_t> parse_softirqs(std::string_view text, std::string_view name) {
  std::vector<int> cpus;
  auto header = take_line(text);
  for (auto field = take_field(header); !field.empty(); field = take_field(header)) {
    int cpu = 0;
    if (!field.starts_with("CPU") ||
        std::from_chars(field.data() + 3, field.data() + field.size(), cpu).ec != std::errc{})
      return {};
    cpus.push_back(cpu);
  }
  while (!text.empty()) {
    auto line = take_line(text);
    if (take_field(line) != std::string{name} + ":") continue;
    std::map<int, std::uint64_t> counts;
    for (const int cpu : cpus) {
      const auto field = take_field(line);
      if (std::from_chars(field.data(), field.data() + field.size(), counts[cpu]).ec != std::errc{}) return {};
    }
    return counts;
  }
  return {};
}

}  // namespace longhaul::observe
