#include "orchestrator/slurm/allocation.hh"

#include <algorithm>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "orchestrator/slurm/words.hh"

namespace longhaul::orchestrator::slurm {
namespace {

namespace ip = boost::asio::ip;

constexpr std::string_view kScheme = "slurm:";

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 19 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "1-02:03:04", "02:03:04", "03:04"; empty for UNLIMITED, INVALID and NOT_SET.
std::optional<std::chrono::seconds> parse_left(std::string_view text) {
  std::int32_t days = 0, part = 0;  // of a width whose sum does not overflow
  std::int64_t all = 0;
  if (text.find('-') != std::string_view::npos && !read_number(cut(text, '-'), days)) return {};
  int parts = 0;
  while (!text.empty()) {
    if (!read_number(cut(text, ':'), part)) return {};
    all = all * 60 + part;
    ++parts;
  }
  if (parts < 2 || parts > 3) return {};
  return std::chrono::seconds{std::int64_t{days} * 86400 + all};
}

// The network of "10.0.0.7/24", in text; empty: a link-local address, or none at all.
std::string network_of(const std::string& text) {
  boost::system::error_code error;
  if (const auto v4 = ip::make_network_v4(text, error); !error) return v4.canonical().to_string();
  error = {};
  if (const auto v6 = ip::make_network_v6(text, error); !error && !v6.address().is_link_local())
    return v6.canonical().to_string();
  return {};
}

// A node's ways to its networks, by provider and network; those of provider "" are for sockets.
struct Ways {
  std::vector<std::string> networks;  // in the node's own order
  std::map<std::string, std::map<std::string, Attachment>> by_provider;

  const Attachment* find(const std::string& provider, const std::string& network) const {
    const auto there = by_provider.find(provider);
    if (there == by_provider.end()) return nullptr;
    const auto way = there->second.find(network);
    return way == there->second.end() ? nullptr : &way->second;
  }
};

Ways ways_of(const NodeFacts& facts) {
  Ways ways;
  for (const auto& nic : facts.nics)
    for (const auto& text : nic.addresses) {
      const auto network = network_of(text);
      if (network.empty()) continue;
      Attachment way{
          .path = "lan", .netdev = nic.name, .address = text.substr(0, text.find('/')), .device = {}, .provider = {}};
      if (ways.by_provider[""].emplace(network, way).second) ways.networks.push_back(network);
      for (const auto& device : facts.rdma) {
        if (device.netdev != nic.name) continue;
        way.device = device.name;
        way.provider = device.provider;
        ways.by_provider[device.provider].emplace(network, way);
      }
    }
  return ways;
}

}  // namespace

bool is_job_inventory(std::string_view text) {
  return text.starts_with(kScheme);
}

Result<JobInventory> parse_job_inventory(std::string_view text) {
  auto rest = text.substr(std::min(text.size(), kScheme.size()));
  const auto job = cut(rest, ':');
  auto number = job;
  const auto array = cut(number, '_');
  if (!is_job_inventory(text) || !is_number(array) || (job.find('_') != std::string_view::npos && !is_number(number)))
    return refuse("--inventory {}: expected slurm:JOB or slurm:JOB:FILE with a job's number, such as slurm:17", text);
  return JobInventory{.job = std::string{job}, .file = std::string{rest}};
}

Result<Allocation> parse_allocation(const std::string& job, std::string_view said) {
  std::optional<Allocation> found;
  while (!said.empty()) {
    auto line = cut(said, '\n');
    Allocation one;
    if (!read_number(cut(line, '|'), one.job)) continue;
    if (found) return refuse("job {} is an array of several tasks: name one of them, slurm:{}_1", job, job);
    one.word = cut(line, '|');
    one.left = parse_left(cut(line, '|'));
    one.reason = cut(line, '|');
    one.nodes = line;
    found = std::move(one);
  }
  if (!found) return unknown_job(job, "it is in no queue");
  return *found;
}

Result<void> check_running(const Allocation& allocation) {
  if (allocation.running()) return {};
  if (allocation.word == "PENDING" || allocation.word == "CONFIGURING")
    return refuse("job {} does not run yet ({}, {}): wait until `squeue -j {}` says RUNNING", allocation.job,
                  allocation.word, allocation.reason, allocation.job);
  return refuse("job {} does not run ({}, {}): get nodes by `salloc -N 2 --no-shell`, and name that job",
                allocation.job, allocation.word, allocation.reason);
}

tl::unexpected<Error> unknown_job(const std::string& job, std::string_view said) {
  const auto words = one_line(said);
  const auto has = [&](std::string_view part) { return words.find(part) != std::string::npos; };
  if (has("nvalid job id") || has("in no queue"))
    return refuse("Slurm knows no job {} ({}): `squeue --me` shows yours; get nodes by `salloc -N 2 --no-shell`", job,
                  words);
  return fail("Slurm does not answer ({}): {}", words, has("unge") ? kCheckMunge : kCheckController);
}

std::vector<JobNode> parse_nodes(std::string_view said) {
  std::vector<JobNode> nodes;
  while (!said.empty()) {
    auto line = cut(said, '\n');
    JobNode node;
    while (!line.empty()) {
      auto value = cut(line, ' ');
      const auto key = cut(value, '=');
      if (key == "NodeName") node.name = value;
      if (key == "NodeAddr") node.address = value;
    }
    if (node.name.empty()) continue;
    if (node.address.empty()) node.address = node.name;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<void> check_enough(const std::vector<JobNode>& nodes) {
  if (nodes.size() >= 2) return {};
  return refuse("a job of one node is no client and server: get two nodes, by `salloc -N 2 --no-shell`");
}

std::vector<std::string> agent_command(std::uint64_t job, const std::string& node, const std::string& agent) {
  // --overlap: beside other steps of the job. Its processors and memory are not divided: an agent is told none.
  return {"srun",
          fmt::format("--jobid={}", job),
          "--nodelist=" + node,
          "--nodes=1",
          "--ntasks=1",
          "--overlap",
          "--mem=0",
          "--cpu-bind=none",
          "--mpi=none",
          "--quiet",
          "--unbuffered",
          "--chdir=/",
          agent,
          "--enrol",
          "--node",
          node};
}

Result<Testbed> testbed_of(const std::vector<JobNode>& nodes, const std::map<std::string, NodeFacts>& facts) {
  Testbed testbed;
  testbed.topology = "cluster";
  std::vector<Ways> ways;
  for (const auto& node : nodes) {
    const auto& known = facts.at(node.name);
    ways.push_back(ways_of(known));
    testbed.emulated = testbed.emulated || known.emulated;
    testbed.nodes.push_back({.name = node.name,
                             .role = node == nodes.back() ? Role::server : Role::client,
                             .host = node.address,
                             .port = 0,
                             .attachments = {},
                             .links = {}});
  }
  // To the first network on which all nodes have it.
  const auto attach = [&](const std::string& provider) {
    for (const auto& network : ways.front().networks) {
      const auto has = [&](const Ways& one) { return one.find(provider, network) != nullptr; };
      if (!std::all_of(ways.begin(), ways.end(), has)) continue;
      for (std::size_t i = 0; i < ways.size(); ++i)
        testbed.nodes[i].attachments.push_back(*ways[i].find(provider, network));
      return true;
    }
    return false;
  };
  bool rdma = false;
  for (const auto& [provider, there] : ways.front().by_provider)
    if (!provider.empty()) rdma = attach(provider) || rdma;
  if (!rdma && !attach(""))
    return refuse(
        "nodes {} to {} have no network in common, by their addresses and prefix lengths: say which interfaces are "
        "meant in an inventory, slurm:JOB:FILE (docs/slurm.md)",
        nodes.front().name, nodes.back().name);
  return testbed;
}

Result<Testbed> testbed_of(const std::string& file, Testbed testbed, const std::vector<JobNode>& nodes) {
  std::string names;
  for (const auto& node : nodes) names += (names.empty() ? "" : ", ") + node.name;
  bool some = false;
  for (auto& node : testbed.nodes) {
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.name == node.name; });
    if (found != nodes.end()) {
      node.host = found->address;
      node.port = 0;
      some = true;
    } else if (node.host.empty() || node.port == 0) {
      return refuse(
          "{}: host {} is no node of the job ({}), so it needs ansible_host and longhaul_port of its own agent", file,
          node.name, names);
    } else if (testbed.ca.empty() || testbed.cert.empty() || testbed.key.empty()) {
      return refuse(
          "{}: host {} is no node of the job ({}): its own agent obeys who has the site's certificate: all.vars needs "
          "longhaul_ca, longhaul_cert and longhaul_key",
          file, node.name, names);
    }
  }
  if (!some) return refuse("{}: none of its hosts is a node of the job: {}", file, names);
  return testbed;
}

}  // namespace longhaul::orchestrator::slurm
