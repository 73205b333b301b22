#include "orchestrator/cli/slurm_command.hh"

#include <system_error>

#include "common/child.hh"
#include "orchestrator/cli/commands.hh"

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

Result<slurm::Allocation> ask_for_job(const std::string& job) {
  const auto said = ask_slurm({"squeue", "-h", "-t", "all", "-j", job, "-o", slurm::kAllocationFormat});
  if (!said) return tl::unexpected(said.error());
  if (!said->ok) return slurm::unknown_job(job, said->errors);
  return slurm::parse_allocation(job, said->out);
}

void add_slurm_options(CLI::App& command, SlurmOptions& slurm, const std::string& group) {
  command.add_option("--partition", slurm.partition, "of the Slurm cluster; without it its default")->group(group);
  command
      .add_option("--sbatch", slurm.sbatch,
                  "a further option for sbatch, such as --sbatch=--time=2:00:00; may be given several times")
      ->allow_extra_args(false)
      ->type_name("OPTION")
      ->group(group);
}

}  // namespace longhaul::orchestrator
