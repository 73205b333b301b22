// Agents on the nodes of a running Slurm job: started by srun, given certificates that are made for them alone, gone
// with their owner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/identity/memory_credentials.hh"
#include "common/result.hh"
#include "model/facts.hh"
#include "orchestrator/slurm/allocation.hh"

namespace longhaul::orchestrator {

/// The destructor ends all agents, a few seconds at most; when this process is killed they end by themselves, because
/// their standard input does.
class JobAgents {
 public:
  /// Starts one agent on each of `nodes`, beside whatever else runs there, and waits until all listen. Errors carry the
  /// last words of the agent, or of srun. Interrupted: exit code 130.
  static Result<std::unique_ptr<JobAgents>> start(const slurm::Allocation& job,
                                                  const std::vector<slurm::JobNode>& nodes);
  JobAgents(const JobAgents&) = delete;
  JobAgents& operator=(const JobAgents&) = delete;
  ~JobAgents();

  const std::map<std::string, NodeFacts>& facts() const { return facts_; }
  /// Where each listens, by node.
  const std::map<std::string, std::uint16_t>& ports() const { return ports_; }
  /// The controller's, which they obey.
  agents::Credentials credentials() const { return own_->credentials(); }
  /// Which agent has ended, and what Slurm says of the job then; empty: none has.
  std::string ended();
  /// An agent has ended and its job goes on: others can be started in it.
  bool lost_in_running_job();

 private:
  struct Started;
  explicit JobAgents(slurm::Allocation job);
  Result<void> enrol();

  slurm::Allocation job_;
  std::vector<Started> started_;
  std::map<std::string, NodeFacts> facts_;
  std::map<std::string, std::uint16_t> ports_;
  std::optional<agents::MemoryCredentials> own_;
};

}  // namespace longhaul::orchestrator
