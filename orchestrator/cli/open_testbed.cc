#include "orchestrator/cli/open_testbed.hh"

#include <algorithm>

#include "orchestrator/cli/inventory.hh"
#include "orchestrator/cli/slurm_command.hh"
#include "orchestrator/run/agents.hh"

namespace longhaul::orchestrator {
namespace {

Result<std::vector<slurm::JobNode>> ask_for_nodes(const slurm::Allocation& allocation) {
  const auto said = ask_slurm({"scontrol", "-o", "show", "node", allocation.nodes});
  if (!said) return tl::unexpected(said.error());
  auto nodes = slurm::parse_nodes(said->out);
  if (!said->ok || nodes.empty())
    return fail("Slurm does not tell the nodes of job {} ({}): {}", allocation.job, allocation.nodes, said->errors);
  return nodes;
}

}  // namespace

Result<OpenTestbed> OpenTestbed::open(const std::string& inventory,
                                      const std::function<void(const std::string&)>& progress) {
  OpenTestbed opened;
  const auto take = [&](Result<Testbed> testbed) -> Result<void> {
    if (!testbed) return tl::unexpected(testbed.error());
    opened.testbed_ = std::move(*testbed);
    return {};
  };
  if (!slurm::is_job_inventory(inventory)) {
    if (auto taken = take(load_inventory(inventory)); !taken) return tl::unexpected(taken.error());
    return opened;
  }

  const auto asked = slurm::parse_job_inventory(inventory);
  if (!asked) return tl::unexpected(asked.error());
  const auto allocation = ask_for_job(asked->job);
  if (!allocation) return tl::unexpected(allocation.error());
  if (auto running = slurm::check_running(*allocation); !running) return tl::unexpected(running.error());
  auto nodes = ask_for_nodes(*allocation);
  if (!nodes) return tl::unexpected(nodes.error());
  if (asked->file.empty()) {
    if (auto enough = slurm::check_enough(*nodes); !enough) return tl::unexpected(enough.error());
  } else {
    auto partial = load_partial_inventory(asked->file);
    if (partial) partial = slurm::testbed_of(asked->file, std::move(*partial), *nodes);
    if (auto taken = take(std::move(partial)); !taken) return tl::unexpected(taken.error());
    std::erase_if(*nodes, [&](const auto& node) { return opened.testbed_.find(node.name) == nullptr; });
  }
  progress(fmt::format("job {}: starting agents on {} nodes", allocation->job, nodes->size()));
  auto started = JobAgents::start(*allocation, *nodes);
  if (!started) return tl::unexpected(started.error());
  opened.started_ = std::move(*started);
  opened.left_ = allocation->left;
  if (asked->file.empty())
    if (auto taken = take(slurm::testbed_of(*nodes, opened.started_->facts())); !taken)
      return tl::unexpected(taken.error());
  for (auto& node : opened.testbed_.nodes)
    if (const auto port = opened.started_->ports().find(node.name); port != opened.started_->ports().end())
      node.port = port->second;
  return opened;
}

agents::Credentials OpenTestbed::site_credentials() const {
  return {.ca = testbed_.ca, .cert = testbed_.cert, .key = testbed_.key};
}

agents::Credentials OpenTestbed::credentials() const {
  return started_ ? started_->credentials() : site_credentials();
}

std::unique_ptr<Dialer> OpenTestbed::dialer(std::function<std::string()> hopeless) const {
  auto why = [hopeless = std::move(hopeless), started = started_.get()] {
    auto reason = hopeless ? hopeless() : std::string{};
    return reason.empty() && started != nullptr ? started->ended() : reason;
  };
  if (!started_) return make_agent_dialer([site = site_credentials()](const std::string&) { return site; }, why);
  return make_agent_dialer([site = site_credentials(), own = started_->credentials(), ports = started_->ports()](
                               const std::string& node) { return ports.contains(node) ? own : site; },
                           why);
}

}  // namespace longhaul::orchestrator
