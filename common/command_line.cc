#include "common/command_line.hh"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "common/result.hh"

namespace longhaul {
namespace {

// CLI11 tells that a subcommand is missing before it tells which word was not one.
std::string describe(const CLI::App* app, const CLI::Error& error) {
  const auto* at = app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const auto words = at->remaining();
  const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::RequiredError) || words.empty() || commands.empty())
    return CLI::FailureMessage::simple(app, error);
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto* command : commands) names.push_back(command->get_name());
  return fmt::format("'{}' is not a command of {}; these are: {}\nRun with --help for more information.\n",
                     words.front(), at->get_name(), fmt::join(names, ", "));
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv) {
  app.failure_message(describe);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  }
  return std::nullopt;
}

}  // namespace longhaul
