// longhaul simulate: longhaul-bench simulates, the page is made here.
#include <csignal>
#include <filesystem>

#include "common/child.hh"
#include "orchestrator/cli/commands.hh"
#include "results/simulation/page.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

// What --out names; empty: nothing is written.
std::string out_of(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--out=")) return words[i].substr(6);
    if (words[i] == "--out" && i + 1 < words.size()) return words[i + 1];
  }
  return {};
}

int simulate(const std::vector<std::string>& words) {
  std::vector<std::string> arguments{fs::read_symlink("/proc/self/exe").parent_path() / "longhaul-bench", "simulate"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  Child bench{{.arguments = std::move(arguments), .descriptors = {}, .environment = {}, .working_directory = {}}};
  std::signal(SIGINT, SIG_IGN);  // a terminal's Ctrl-C reaches it as well: it ends, and says how
  while (!bench.wait(std::chrono::hours{1})) {
  }
  const auto exit = *bench.poll();
  if (!exit.code) return report_error({"longhaul-bench: " + exit.text(), ExitCode::failure});
  const auto out = out_of(words);
  if (*exit.code != 0 || out.empty()) return *exit.code;
  const auto page = results::write_simulation_page(out);
  if (!page) return report_error(page.error());
  fmt::print("{}\n{}\n", (fs::path{out} / "simulate.csv").string(), page->string());
  return 0;
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
