// A campaign by a virtual clock as a job array of a Slurm cluster.
#pragma once

#include "orchestrator/cli/campaign_run.hh"

namespace longhaul::orchestrator {

/// Submits the campaign's shares (options.shares; 0: as many as the cluster has processors), follows them, submits
/// again what was lost, and joins them at options.out. Everything is in DIR/slurm meanwhile: the script, the jobs'
/// numbers, what each share said, and the shares' run directories. Ctrl-C cancels the jobs. An error leaves DIR/slurm
/// as it is, and --resume goes on with it, also with jobs that still run.
Result<CampaignSession> run_on_slurm(const RunOptions& options, const RunPlan& plan, Sink& sink);

}  // namespace longhaul::orchestrator
