#include "orchestrator/run/diagnosis.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model/units.hh"

namespace longhaul::orchestrator {
namespace {

/// What the largest messages and regions of the campaigns that come along want, of each process.
constexpr std::int64_t kEnoughLocked = std::int64_t{256} << 20;
constexpr const char* kSilentSysctl = "net.ipv4.tcp_no_metrics_save";

class Doctor {
 public:
  explicit Doctor(const Node& node) : node_(node) {}

  void problem(std::string what, std::string remedy) {
    complaints.push_back({true, node_.name, std::move(what), std::move(remedy)});
  }
  void advise(std::string what, std::string remedy) {
    complaints.push_back({false, node_.name, std::move(what), std::move(remedy)});
  }
  std::vector<Complaint> complaints;

 private:
  const Node& node_;
};

const NicFacts* find_nic(const NodeFacts& facts, const std::string& name) {
  const auto it = std::find_if(facts.nics.begin(), facts.nics.end(), [&](const auto& nic) { return nic.name == name; });
  return it == facts.nics.end() ? nullptr : &*it;
}

template <typename List>
std::string names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(one.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

bool has_address(const NicFacts& nic, const std::string& address) {
  return std::any_of(nic.addresses.begin(), nic.addresses.end(),
                     [&](const auto& one) { return one.substr(0, one.find('/')) == address; });
}

void check_device(Doctor& doctor, const Attachment& attachment, const NodeFacts& facts) {
  const auto it = std::find_if(facts.rdma.begin(), facts.rdma.end(),
                               [&](const auto& device) { return device.name == attachment.device; });
  if (it == facts.rdma.end()) {
    const bool soft = attachment.provider == "rxe" || attachment.provider == "siw";
    doctor.problem(
        fmt::format("RDMA device {} is not there; it has {}", attachment.device, names_of(facts.rdma)),
        soft ? fmt::format("rdma link add {} type {} netdev {} (the kernel's module: {})", attachment.device,
                           attachment.provider, attachment.netdev, attachment.provider == "rxe" ? "rdma_rxe" : "siw")
             : "load its driver, or name the device that `rdma link` shows");
    return;
  }
  if (it->netdev != attachment.netdev)
    doctor.problem(
        fmt::format("RDMA device {} belongs to {}, the inventory says {}", it->name, it->netdev, attachment.netdev),
        "correct longhaul_attachments");
  if (it->provider != attachment.provider)
    doctor.problem(
        fmt::format("RDMA device {} is of {}, the inventory says {}", it->name, it->provider, attachment.provider),
        "correct longhaul_attachments");
  if (!it->state.empty() && it->state.find("ACTIVE") == std::string::npos)
    doctor.problem(fmt::format("RDMA device {} is {}", it->name, it->state), "bring its network interface up");
}

void check_attachment(Doctor& doctor, const Attachment& attachment, const NodeFacts& facts) {
  const auto* nic = find_nic(facts, attachment.netdev);
  if (nic == nullptr) {
    doctor.problem(fmt::format("network interface {} (path {}) is not there; it has {}", attachment.netdev,
                               attachment.path, names_of(facts.nics)),
                   "correct longhaul_attachments in the inventory");
    return;
  }
  if (!has_address(*nic, attachment.address))
    doctor.problem(
        fmt::format("{} has not the address {} but {}", nic->name, attachment.address,
                    nic->addresses.empty() ? "none" : fmt::format("{}", fmt::join(nic->addresses, ", "))),
        fmt::format("ip addr add {}/PREFIX dev {}, or correct the inventory", attachment.address, nic->name));
  std::vector<std::string> merging;
  for (const auto* name : {"tso", "gso", "gro", "lro"})
    if (const auto it = nic->offloads.find(name); it != nic->offloads.end() && it->second) merging.emplace_back(name);
  if (!merging.empty())
    doctor.advise(fmt::format("{} merges packets ({}): sockets get super-packets that never become frames of that size",
                              nic->name, fmt::join(merging, ", ")),
                  fmt::format("ethtool -K {} {} off, unless that is what you want to compare", nic->name,
                              fmt::join(merging, " off ")));
  if (!attachment.device.empty()) check_device(doctor, attachment, facts);
}

void check_links(Doctor& doctor, const Node& node, const Examined& examined) {
  for (const auto& link : node.links)
    for (const auto* side : {&link.client_side, &link.server_side})
      if (find_nic(examined.facts, *side) == nullptr)
        doctor.problem(
            fmt::format("network interface {} is not there; it has {}", *side, names_of(examined.facts.nics)),
            "correct longhaul_links in the inventory");
  if (node.links.empty())
    doctor.problem("no longhaul_links: nobody knows between which interfaces it forwards",
                   "add {client_side: IF, server_side: IF} to its longhaul_links");
  if (examined.degen)
    doctor.problem(fmt::format("degen does not answer: {}", *examined.degen),
                   "start `degen serve` there; the agent must be allowed to open its socket");
}

void check_lacks(Doctor& doctor, const std::vector<degen::Lack>& lacks) {
  for (const auto& lack : lacks) {
    switch (lack.need) {
      case degen::Need::queues:
        doctor.advise(
            fmt::format("degen gets no netfilter queues ({}): there is no engine nfqueue, and so none of what "
                        "only it can do",
                        lack.why),
            "modprobe nfnetlink_queue (linux-image-amd64 has it), degen needs CAP_NET_ADMIN; then restart degen");
        break;
      case degen::Need::queue_counters:
        doctor.problem(
            fmt::format("degen cannot read what full netfilter queues drop ({}): such losses would pass for "
                        "the path's",
                        lack.why),
            "chgrp degen /proc/net/netfilter/nfnetlink_queue, as degen.service does at its start; then restart degen");
        break;
      case degen::Need::real_time:
        doctor.advise(
            fmt::format("degen gets no real-time priority ({}): with engine nfqueue a busy router delays "
                        "packets longer than asked",
                        lack.why),
            "LimitRTPRIO=1 and RestrictRealtime=no in degen.service (the packaged one has both); then restart degen");
        break;
    }
  }
}

// systemd gives services and logins 8 MiB where nobody says otherwise.
void check_locked_memory(Doctor& doctor, const Node& node, const NodeFacts& facts) {
  const bool rdma = std::any_of(node.attachments.begin(), node.attachments.end(),
                                [](const auto& attachment) { return !attachment.device.empty(); });
  if (!rdma || !facts.locked_bytes || *facts.locked_bytes >= kEnoughLocked) return;
  doctor.advise(
      fmt::format("programs of its agent may lock {} of memory, and RDMA registers no more: large messages "
                  "and many connections fail",
                  format_quantity(Kind::size, *facts.locked_bytes)),
      "LimitMEMLOCK=infinity for what starts the agent: its service (the packaged one has it), slurmd.service "
      "with PropagateResourceLimitsExcept=MEMLOCK in slurm.conf, or `ulimit -l` of a shell");
}

void check_certificate(Doctor& doctor, const agents::Term& term, const std::string& name, agents::WallTime now) {
  if (const auto notice = agents::expiry_notice(term, now); !notice.empty())
    doctor.advise(fmt::format("its certificate {}; then no controller is let in", notice),
                  fmt::format("longhaul pki issue agent {} --replace, and copy certificate and key there (the playbook "
                              "site does both)",
                              name));
}

// All interfaces that a path crosses should take packets of one size.
std::vector<Complaint> check_mtus(const Testbed& testbed, const std::map<std::string, Examined>& nodes) {
  std::map<std::string, std::map<std::int64_t, std::vector<std::string>>> by_path;
  const auto note = [&](const std::string& path, const Node& node, const std::string& netdev) {
    const auto it = nodes.find(node.name);
    const auto* nic = it == nodes.end() ? nullptr : find_nic(it->second.facts, netdev);
    if (nic != nullptr && nic->mtu > 0) by_path[path][nic->mtu].push_back(node.name + " " + netdev);
  };
  for (const auto& node : testbed.nodes) {
    for (const auto& attachment : node.attachments) note(attachment.path, node, attachment.netdev);
    for (const auto& link : node.links) {
      note("wan", node, link.client_side);
      note("wan", node, link.server_side);
    }
  }
  std::vector<Complaint> complaints;
  for (const auto& [path, mtus] : by_path) {
    if (mtus.size() < 2) continue;
    std::string text;
    for (const auto& [mtu, who] : mtus)
      text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", mtu, fmt::join(who, ", "));
    complaints.push_back({true, "", fmt::format("the MTUs on path {} differ: {}", path, text),
                          "ip link set IF mtu N, the same everywhere: large packets would be lost or cut"});
  }
  return complaints;
}

// Delays are measured on one clock; but records say when, and logs are read side by side.
std::vector<Complaint> check_clocks(const Testbed& testbed, const std::map<std::string, Examined>& nodes) {
  std::set<std::string> machines;
  for (const auto& [name, examined] : nodes) machines.insert(examined.facts.boot_id);
  std::vector<Complaint> complaints;
  if (machines.size() < 2) return complaints;
  for (const auto& node : testbed.nodes)
    if (const auto it = nodes.find(node.name); it != nodes.end() && it->second.facts.clock_synchronised == false)
      complaints.push_back({false, node.name,
                            "its clock is not synchronised: times in records do not compare across nodes",
                            "install chrony or systemd-timesyncd, and wait for `timedatectl` to say so"});
  return complaints;
}

}  // namespace

std::vector<Complaint> diagnose(const Testbed& testbed, const std::map<std::string, Examined>& nodes,
                                const std::vector<TriedPath>& paths, const Asker& asker) {
  std::vector<Complaint> all;
  for (const auto& node : testbed.nodes) {
    const auto it = nodes.find(node.name);
    if (it == nodes.end()) continue;
    const auto& examined = it->second;
    Doctor doctor{node};
    if (examined.unreachable) {
      doctor.problem(
          *examined.unreachable,
          fmt::format("is longhaul-agent running there, on port {} of {}, with a certificate of this authority?",
                      node.port, node.host));
    } else {
      if (!examined.facts.longhaul_version.empty() && examined.facts.longhaul_version != asker.version)
        doctor.problem(fmt::format("its longhaul is {}, this one {}", examined.facts.longhaul_version, asker.version),
                       "install the same on all nodes");
      for (const auto& attachment : node.attachments) check_attachment(doctor, attachment, examined.facts);
      if (node.role == Role::router) check_links(doctor, node, examined);
      check_locked_memory(doctor, node, examined.facts);
      check_lacks(doctor, examined.lacks);
      check_certificate(doctor, examined.certificate, node.name, asker.now);
      const auto saved = examined.facts.sysctls.find(kSilentSysctl);
      if (node.role != Role::router && saved != examined.facts.sysctls.end() && saved->second == "0")
        doctor.advise("TCP remembers earlier connections: a run begins with what the one before has learnt",
                      fmt::format("sysctl -w {}=1", kSilentSysctl));
    }
    std::stable_sort(doctor.complaints.begin(), doctor.complaints.end(),
                     [](const auto& a, const auto& b) { return a.serious > b.serious; });
    all.insert(all.end(), doctor.complaints.begin(), doctor.complaints.end());
  }
  if (const auto notice = agents::expiry_notice(asker.certificate, asker.now); !notice.empty())
    all.push_back(
        {false, "", fmt::format("this controller's certificate {}; then no agent lets it in", notice),
         fmt::format("longhaul pki issue controller {} --replace; campaigns that run take it up", asker.name)});
  for (const auto& found : {check_mtus(testbed, nodes), check_clocks(testbed, nodes)})
    all.insert(all.end(), found.begin(), found.end());
  for (const auto& path : paths) {
    const auto name =
        fmt::format("path {} from {} ({}) to {} ({})", path.path, path.client, path.from, path.server, path.to);
    if (!path.error.empty())
      all.push_back(
          {true, path.client, fmt::format("{} could not be tried: {}", name, path.error), "look at that node first"});
    else if (path.came == 0)
      all.push_back({true, path.client, fmt::format("{}: none of {} packets came back", name, path.sent),
                     "routes on both ends, forwarding on the router, and UDP port 7473 through any firewall"});
    else if (path.came < path.sent)
      all.push_back({false, path.client,
                     fmt::format("{}: {} of {} packets were lost", name, path.sent - path.came, path.sent),
                     "a path without impairment should lose none"});
  }
  if (testbed.with_role(Role::client).empty() || testbed.with_role(Role::server).empty())
    all.push_back({true, "", "a testbed needs a client and a server", "groups clients and servers of the inventory"});
  if (testbed.with_role(Role::router).empty())
    all.push_back({false, "", "there is no router: no cell can have a delay", "group routers of the inventory"});
  return all;
}

}  // namespace longhaul::orchestrator
