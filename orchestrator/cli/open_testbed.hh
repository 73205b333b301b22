// A testbed that a command names: of an inventory, or the nodes of a Slurm job.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agents/identity/credentials.hh"
#include "model/testbed.hh"
#include "orchestrator/cli/job_agents.hh"
#include "orchestrator/run/control.hh"

namespace longhaul::orchestrator {

/// Agents that were started for it end with it. Move-only.
class OpenTestbed {
 public:
  /// `inventory`: the path of a file, or slurm:JOB, or slurm:JOB:FILE. `progress` is told what takes time.
  static Result<OpenTestbed> open(const std::string& inventory,
                                  const std::function<void(const std::string&)>& progress);

  const Testbed& testbed() const { return testbed_; }
  /// The controller's credentials for most of its nodes.
  agents::Credentials credentials() const;
  /// `hopeless` as for make_agent_dialer; agents that have ended are hopeless in any case. This must outlive it.
  std::unique_ptr<Dialer> dialer(std::function<std::string()> hopeless) const;
  /// How long it is there, since it was opened; empty: as long as anybody knows.
  std::optional<std::chrono::seconds> left() const { return left_; }
  /// An agent that was started for it has ended: opened anew, it has others.
  bool is_lost() const { return started_ && started_->lost_in_running_job(); }

 private:
  agents::Credentials site_credentials() const;

  Testbed testbed_;
  std::unique_ptr<JobAgents> started_;
  std::optional<std::chrono::seconds> left_;
};

}  // namespace longhaul::orchestrator
