// longhaul: the orchestrator.
#include <exception>

#include "common/command_line.hh"
#include "common/log.hh"
#include "common/version.hh"
#include "orchestrator/cli/commands.hh"

int main(int argc, char** argv) {
  using namespace longhaul;
  int exit_code = 0;
  try {
    log_to_stderr("longhaul");
    spdlog::set_pattern("%^%l%$: %v");
    CLI::App app{"Is RDMA better than sockets on this link, at this delay, for this work? Evidence."};
    app.name("longhaul");
    app.require_subcommand(1);
    app.set_version_flag("--version", "longhaul " + version_text());
    app.footer(
        "Examples:\n  longhaul run campaigns/quick.yaml --plan\n  longhaul run campaigns/quick.yaml --lab --out "
        "out/quick\n"
        "  longhaul run campaigns/quick.yaml --lab --out out/quick --resume\n  longhaul report out/quick\n\n"
        "Exit codes: 0 good, 1 something broke, 2 wrong input, 3 a cell was refused or failed, 130 interrupted.");
    orchestrator::add_run(app, exit_code);
    orchestrator::add_shard(app, exit_code);
    orchestrator::add_kernels(app, exit_code);
    orchestrator::add_verify(app, exit_code);
    orchestrator::add_explore(app, exit_code);
    orchestrator::add_inject(app, exit_code);
    orchestrator::add_results(app, exit_code);
    orchestrator::add_costs(app, exit_code);
    orchestrator::add_certify(app, exit_code);
    orchestrator::add_simulate(app, exit_code);
    orchestrator::add_doctor(app, exit_code);
    orchestrator::add_history(app, exit_code);
    orchestrator::add_store(app, exit_code);
    orchestrator::add_lab(app, exit_code);
    orchestrator::add_pki(app, exit_code);
    if (const auto code = parse_command_line(app, argc, argv)) return *code;
  } catch (const std::exception& error) {
    return orchestrator::report_error({.message = error.what(), .exit_code = ExitCode::failure});
  }
  return exit_code;
}
