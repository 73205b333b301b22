// The common part of every program's command line.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace longhaul {

/// Parses argv into `app`. Nothing when the program should go on; otherwise what it should exit with, said already:
/// 0 after --help and --version, ExitCode::usage after a wrong command line. A word that is no subcommand is named,
/// with those that there are.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

}  // namespace longhaul
