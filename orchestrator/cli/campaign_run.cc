#include "orchestrator/cli/campaign_run.hh"

#include <random>

#include "common/version.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/inventory.hh"
#include "orchestrator/cli/sealed.hh"

namespace longhaul::orchestrator {
namespace {

std::string inventory_words(const std::vector<std::string>& inventories) {
  std::string words;
  for (const auto& inventory : inventories)
    words += (words.empty() ? "--inventory " : " --inventory ") + shell_word(inventory);
  return words;
}

std::string command_of(const RunOptions& options, std::uint64_t seed) {
  return fmt::format("longhaul run {} {} --out {} --seed {}{}", options.campaign,
                     options.clock == kVirtualClock
                         ? fmt::format("--lab --clock virtual --shift {} --quantum {}", options.shift, options.quantum)
                     : options.lab ? "--lab --clock host --topology " + options.topology
                                   : inventory_words(options.inventories),
                     options.out, seed,
                     kernel_words(options.kernel) +
                         (options.store.empty() ? std::string{} : " --store " + results::shown_address(options.store)) +
                         (options.certificate.empty() ? std::string{} : " --certificate " + options.certificate));
}

}  // namespace

Result<RunPlan> plan_of(const std::string& path, std::string text) {
  auto file = parse_campaign(path, std::move(text));
  if (!file) return tl::unexpected(file.error());
  auto campaign = understand(std::move(*file), campaign_vocabulary());
  if (!campaign) return tl::unexpected(campaign.error());
  auto cells = expand(*campaign);
  if (!cells) return tl::unexpected(cells.error());
  return RunPlan{.campaign = std::move(*campaign), .cells = std::move(*cells)};
}

Result<RunPlan> read_plan(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return plan_of(path, std::move(*text));
}

lab::KernelChoice kernel_for(const lab::KernelChoice& asked, const std::optional<Manifest>& earlier) {
  if (!asked.kernel.empty() || !earlier || !earlier->lab_kernel) return asked;
  return {.kernel = *earlier->lab_kernel, .modules = {}};
}

Result<void> check_kernel(const Manifest& earlier, const std::string& release) {
  if (!earlier.lab_kernel || *earlier.lab_kernel == release) return {};
  return refuse(
      "it was begun with kernel {}, this lab's is {}: figures of both cannot be mixed; give --kernel {}, or take "
      "another --out",
      *earlier.lab_kernel, release, *earlier.lab_kernel);
}

std::string kernel_words(const lab::KernelChoice& kernel) {
  std::string words;
  if (!kernel.kernel.empty()) words += " --kernel " + shell_word(kernel.kernel);
  if (!kernel.modules.empty()) words += " --modules " + shell_word(kernel.modules);
  return words;
}

Manifest make_manifest(const RunOptions& options, const RunPlan& plan, const std::vector<Testbed>& testbeds,
                       const std::optional<Manifest>& earlier) {
  Manifest manifest;
  manifest.name = plan.campaign.name;
  manifest.description = plan.campaign.description;
  manifest.campaign_file = options.campaign;
  manifest.campaign_text = plan.campaign.file.text;
  manifest.seed = earlier ? earlier->seed : options.seed ? *options.seed : std::random_device{}();
  manifest.version = builds_of(earlier ? earlier->version : std::string{}, version_text());
  manifest.command = command_of(options, manifest.seed);
  if (!testbeds.empty()) manifest.testbed = testbeds.front();
  std::vector<Testbed> further(testbeds.begin() + (testbeds.empty() ? 0 : 1), testbeds.end());
  if (earlier)
    for (const auto& one : earlier->testbeds())
      if (!is_of(one, testbeds)) further.push_back(one);
  if (!further.empty()) manifest.further_testbeds = std::move(further);
  for (const auto& cell : plan.cells)
    manifest.cells.push_back({.cell_id = cell.id, .workload = cell.cell.workload, .parameters = cell.cell.parameters});
  manifest.repetitions_min = plan.campaign.repeat.min;
  manifest.repetitions_max = plan.campaign.repeat.max;
  manifest.started =
      std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (earlier) {
    manifest.started = earlier->started;
    manifest.wall = earlier->wall;
    manifest.measuring = earlier->measuring;
  }
  return manifest;
}

}  // namespace longhaul::orchestrator
