#include "orchestrator/cli/slurm_command.hh"

#include <system_error>

#include "common/child.hh"

namespace longhaul::orchestrator {

Result<SlurmAnswer> ask_slurm(const std::vector<std::string>& command) {
  try {
    SlurmAnswer answer;
    auto done = run_command(command, &answer.errors);
    answer.ok = done.exit.ok();
    answer.out = std::move(done.out);
    return answer;
  } catch (const std::system_error& error) {
    return refuse(
        "Slurm's {} cannot be started ({}): install slurm-client, or start longhaul where the cluster's commands are",
        command.front(), error.code().message());
  }
}

}  // namespace longhaul::orchestrator
