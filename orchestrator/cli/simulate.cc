// longhaul simulate: longhaul-bench simulates, page and records are made here.
#include <chrono>
#include <csignal>
#include <filesystem>

#include "common/child.hh"
#include "common/version.hh"
#include "orchestrator/cli/commands.hh"
#include "results/simulation/page.hh"
#include "results/simulation/records.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

// The value of --out; empty: nothing is written.
std::string out_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--out=")) return words[i].substr(6);
    if (words[i] == "--out" && i + 1 < words.size()) return words[i + 1];
  }
  return {};
}

std::int64_t now() {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// As it would be typed again.
std::string command_of(const std::vector<std::string>& words) {
  std::string text = "longhaul simulate";
  for (const auto& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`*?[]{}()<>|&;!#~") == std::string::npos;
    auto quoted = word;
    for (auto at = quoted.find('\''); at != std::string::npos; at = quoted.find('\'', at + 4))
      quoted.replace(at, 1, "'\\''");
    text += plain ? " " + word : " '" + quoted + "'";
  }
  return text;
}

// Writes the bench's findings as a page and as records.
int keep(const std::string& out, const results::Simulated& simulated) {
  const auto page = results::write_simulation_page(out);
  if (!page) return report_error(page.error());
  const auto records = results::write_simulation_records(out, simulated, results_vocabulary());
  if (!records) return report_error(records.error());
  fmt::print("{}\n{}\n", (fs::path{out} / "simulate.csv").string(), page->string());
  for (const auto& file : *records) fmt::print("{}\n", file.string());
  return 0;
}

int simulate(const std::vector<std::string>& words) {
  const auto out = out_of(words);
  // Before hours of simulating, not behind them.
  if (auto free = out.empty() ? Result<void>{} : results::check_simulation_directory(out); !free)
    return report_error(free.error());
  results::Simulated simulated{.command = command_of(words), .version = version_text(), .started = now()};
  std::vector<std::string> arguments{fs::read_symlink("/proc/self/exe").parent_path() / "longhaul-bench", "simulate"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  Child bench{{.arguments = std::move(arguments), .descriptors = {}, .environment = {}, .working_directory = {}}};
  std::signal(SIGINT, SIG_IGN);  // a terminal's Ctrl-C reaches it as well: it ends, and says how
  while (!bench.wait(std::chrono::hours{1})) {
  }
  const auto exit = *bench.poll();
  if (!exit.code) return report_error({"longhaul-bench: " + exit.text(), ExitCode::failure});
  if (*exit.code != 0 || out.empty()) return *exit.code;
  simulated.finished = now();
  return keep(out, simulated);
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("simulate", "registration caches over a trace: hits, and what registering costs");
  // Every option is longhaul-bench's, --help included.
  command->prefix_command();
  command->set_help_flag();
  command->callback([command, &exit_code] { exit_code = simulate(command->remaining()); });
}

}  // namespace longhaul::orchestrator
