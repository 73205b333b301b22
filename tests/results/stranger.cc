#include "tests/results/stranger.hh"

#include <set>

namespace longhaul::results::stranger {

synthetic::Campaign campaign(const Change& change) {
  auto result = synthetic::campaign({.delays_ns = {0, 1'000'000, 20'000'000}});
  synthetic::share(result, 1);
  synthetic::spoil(result, 1, Status::refused, "achieved 5.9 ms");
  synthetic::spoil(result, 7, Status::limited, "window");
  synthetic::spoil(result, 14, Status::failed, "killed by signal 9");
  for (auto& run : result.runs)
    for (auto& [node, record] : run.nodes) record.limits.push_back("queue");
  result.manifest.virtual_clock = VirtualTestbed{.shift = 1, .quantum = 1000, .qemu = "10.0.2", .image = "ab12"};
  result.manifest.virtual_clock->check = RepeatCheck{.runs = 2, .equal = 1, .different = {"a/0/1"}};
  change_all(result.manifest, change);
  for (auto& run : result.runs) change_all(run, change);
  change_all(result.facts, change);
  return result;
}

Vocabulary vocabulary(const Change& change) {
  auto words = synthetic::vocabulary();
  for (auto& workload : words.workloads) {
    workload.name = change(workload.name);
    workload.summary = change(workload.summary);
    for (auto& parameter : workload.parameters) parameter.help = change(parameter.help);
    for (auto& metric : workload.metrics) {
      metric.name = change(metric.name);
      metric.unit = change(metric.unit);
      metric.help = change(metric.help);
    }
  }
  return words;
}

Change all_but_axes(const char* text, const std::vector<std::string>& kept) {
  std::set<std::string> words{"transport", "provider", "rival", "delay", "size", "rdma", "tcp", "kernel"};
  words.insert(kept.begin(), kept.end());
  return
      [words, text = std::string{text}](const std::string& word) { return words.contains(word) ? word : word + text; };
}

}  // namespace longhaul::results::stranger
