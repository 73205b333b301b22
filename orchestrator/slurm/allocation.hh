// The nodes of a running Slurm job as a testbed: what Slurm's commands say of the job, how an agent is started on one
// of its nodes, and what the agents' facts make of them. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/facts.hh"
#include "model/testbed.hh"

namespace longhaul::orchestrator::slurm {

/// "slurm:JOB" or "slurm:JOB:FILE" in place of an inventory's path.
struct JobInventory {
  std::string job;   ///< "17", or a task of an array: "17_3"
  std::string file;  ///< roles, interfaces, router of an inventory; empty: they are found out
};

bool is_job_inventory(std::string_view text);
/// Refuses what is no job's number.
Result<JobInventory> parse_job_inventory(std::string_view text);

/// squeue's format for parse_allocation: `squeue -h -t all -j JOB -o kAllocationFormat`.
inline constexpr const char* kAllocationFormat = "%A|%T|%L|%r|%N";

/// What squeue says of a job.
struct Allocation {
  std::uint64_t job = 0;  ///< its own number, of a task of an array, too
  std::string word;       ///< RUNNING, PENDING ...
  std::string reason;
  std::optional<std::chrono::seconds> left;  ///< empty: without limit, or not known
  std::string nodes;                         ///< Slurm's short form, n[1-4]
  bool running() const { return word == "RUNNING"; }
};

/// Refuses a job that is not there, and an array of several tasks.
Result<Allocation> parse_allocation(const std::string& job, std::string_view said);
/// Refuses a job that does not run, with what to do.
Result<void> check_running(const Allocation& allocation);
/// Why squeue said nothing of a job, from its own words.
tl::unexpected<Error> unknown_job(const std::string& job, std::string_view said);

/// A node of a job: its name, and where it is reached (NodeAddr of slurm.conf).
struct JobNode {
  std::string name;
  std::string address;
  bool operator==(const JobNode&) const = default;
};

/// Of `scontrol -o show node LIST`, in its order.
std::vector<JobNode> parse_nodes(std::string_view said);

/// Refuses a job whose nodes are no client and server.
Result<void> check_enough(const std::vector<JobNode>& nodes);

/// The command that starts `agent`, a program's path there, on one node of a job, with all that the job has of it.
std::vector<std::string> agent_command(std::uint64_t job, const std::string& node, const std::string& agent);

/// Clients, and the last node as the server, on path lan: with each RDMA provider that all of them have on one network,
/// in the first such network; without any, with sockets on the first network that all have. Link-local
/// addresses (RFC 4291) are in none. Refuses nodes without a network in common.
Result<Testbed> testbed_of(const std::vector<JobNode>& nodes, const std::map<std::string, NodeFacts>& facts);

/// An inventory's testbed with those of its nodes that are the job's, whose agents are started here: their addresses
/// are Slurm's. Refuses one that names no node of the job, and others of its nodes that cannot be reached without a
/// host, a port and the site's credentials. `file`: for the message.
Result<Testbed> testbed_of(const std::string& file, Testbed testbed, const std::vector<JobNode>& nodes);

}  // namespace longhaul::orchestrator::slurm
