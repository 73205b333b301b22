#include "lab/plan/guest.hh"

#include <fmt/ranges.h>

#include <algorithm>

#include "common/well_known.hh"
#include "lab/plan/services.hh"

namespace longhaul::lab {
namespace {

bool compact(const GuestView& view) {
  return view.plan->topology == Topology::compact;
}

bool has(const GuestView& view, std::string_view program) {
  return std::ranges::find(view.programs, program) != view.programs.end();
}

/// The nodes that live in this VM.
std::vector<const PlannedNode*> residents(const GuestView& view) {
  std::vector<const PlannedNode*> nodes;
  for (const PlannedNode& node : view.plan->nodes)
    if (node.machine == view.machine) nodes.push_back(&node);
  return nodes;
}

std::vector<LinkEnd> ends_of(const std::vector<const PlannedNode*>& nodes) {
  std::vector<LinkEnd> ends;
  for (const PlannedNode* node : nodes) ends.insert(ends.end(), node->ends.begin(), node->ends.end());
  return ends;
}

std::vector<LinkEnd> all_ends(const LabPlan& plan) {
  std::vector<const PlannedNode*> nodes;
  for (const PlannedNode& node : plan.nodes) nodes.push_back(&node);
  return ends_of(nodes);
}

std::vector<LinkEnd> lan_of(const std::vector<const PlannedNode*>& nodes) {
  std::vector<LinkEnd> ends;
  for (const PlannedNode* node : nodes) ends.insert(ends.end(), node->lan.begin(), node->lan.end());
  return ends;
}

std::vector<LinkEnd> joined(std::vector<LinkEnd> first, const std::vector<LinkEnd>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The far end of the same kind that a program without a wish reaches: the server, or the first client.
const LinkEnd& default_peer(const LabPlan& plan, const PlannedNode& node, const LinkEnd& end) {
  const Role wanted = node.role == Role::server ? Role::client : Role::server;
  const auto peer = std::ranges::find(plan.nodes, wanted, &PlannedNode::role);
  return *std::ranges::find(peer->ends, end.provider, &LinkEnd::provider);
}

/// The other end of a cable, among all ends of cables.
const LinkEnd& peer_on(const std::vector<LinkEnd>& lan, const LinkEnd& end) {
  return *std::ranges::find(lan, end.router_mac, &LinkEnd::mac);
}

std::string batch(const std::string& command, const std::string& lines) {
  return lines.empty() ? "" : fmt::format("{} <<'E'\n{}E\n", command, lines);
}

std::string offloads_off(const std::vector<std::string>& netdevs) {
  // 64 KB super-packets that never become frames would make sockets look better than any wire lets them be. One process
  // each, side by side: ethtool takes no list.
  std::string out;
  for (const auto& netdev : netdevs) out += fmt::format("ethtool -K {} tso off gso off gro off &\n", netdev);
  return out;
}

// IPv6's own traffic would be counted as having crossed the router. It is left on nowhere.
constexpr const char* kNoIpv6 = "for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >$f; done\n";
constexpr const char* kNoReversePathFilter = "for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$f; done\n";

/// Buffers for 100 ms each way at 1 Gb/s (25 MB a round trip), and half of the machine's memory for all of them: by the
/// kernel's ninth, four streams over 50 ms already put TCP under pressure, which shrinks every window to four segments.
/// No memory of earlier connections, or a run would not start as the one before did.
constexpr const char* kEndSysctls =
    "cd /proc/sys/net\n"
    "echo 1 >ipv4/tcp_no_metrics_save\n"
    "echo 67108864 >core/rmem_max\n"
    "echo 67108864 >core/wmem_max\n"
    "echo '4096 131072 67108864' >ipv4/tcp_rmem\n"
    "echo '4096 131072 67108864' >ipv4/tcp_wmem\n"
    "read -r _ m _ </proc/meminfo\n"
    "echo $((m/16)) $((m/32*3)) $((m/8)) >ipv4/tcp_mem\n"
    "echo 10000 >core/netdev_max_backlog\n"
    "echo '0 2147483647' >ipv4/ping_group_range\n"
    "cd /\n";

/// 68 of compact's 1024 MB, for buffers that ask for them (MAP_HUGETLB): at boot, while memory is in one piece. The
/// kernel clears them, which takes 0.3 s.
constexpr const char* kHugePages = "echo 34 >/proc/sys/vm/nr_hugepages &\n";

/// Neighbours are permanent: ARP would cross the emulated WAN's queues, and be counted. One that the first packet made
/// the kernel learn is replaced.
std::string interface_lines(const std::string& netdev, const std::string& address, const std::string& neighbour,
                            const std::string& mac) {
  return fmt::format(
      "address add {1}/24 dev {0}\nlink set {0} up\nneighbour replace {2} lladdr {3} dev {0} nud permanent\n", netdev,
      address, neighbour, mac);
}

std::string router_lines(const std::vector<LinkEnd>& ends) {
  std::string out;
  for (const LinkEnd& end : ends) out += interface_lines(end.router_netdev(), end.router_address, end.address, end.mac);
  return out;
}

std::string end_lines(const std::vector<LinkEnd>& ends) {
  std::string out;
  for (const LinkEnd& end : ends) out += interface_lines(end.netdev, end.address, end.router_address, end.router_mac);
  return out;
}

std::string rdma_devices(const std::vector<LinkEnd>& ends) {
  std::string lines;
  for (const LinkEnd& end : ends)
    lines += fmt::format("link add {} type {} netdev {}\n", end.device, end.provider, end.netdev);
  return batch("rdma -b /proc/self/fd/0", lines) + "chmod 0666 /dev/infiniband/*\n";
}

/// A busy-polling workload must not keep the kernel's own network threads from their processor: with a NIC that work is
/// the hardware's, and under the fair scheduler it waits for milliseconds. (Software interrupts that were put off;
/// siw's senders.) `more`: further cases, of threads that exist in some labs.
std::string kernel_threads_first(const std::string& more = {}) {
  return fmt::format(
      "for p in /proc/[0-9]*; do read c <$p/comm; p=${{p#/proc/}}; case $c in ksoftirqd/*|siw_tx*) chrt -f -p 1 $p;; "
      "{}esac; done\n",
      more);
}

std::vector<std::string> router_netdevs(const std::vector<LinkEnd>& ends) {
  std::vector<std::string> names;
  names.reserve(ends.size());
  for (const LinkEnd& end : ends) names.push_back(end.router_netdev());
  return names;
}

std::vector<std::string> end_netdevs(const std::vector<LinkEnd>& ends) {
  std::vector<std::string> names;
  names.reserve(ends.size());
  for (const LinkEnd& end : ends) names.push_back(end.netdev);
  return names;
}

/// Both ends of every path live in one network stack, which would rather deliver locally than send. So the local table
/// is asked late: first for what comes in (iif), then by source address. Programs that bind no source are sent out of
/// the first peer's interface (iif lo: what this machine sends itself), which also gives them the right source.
std::string compact_rules(const LabPlan& plan) {
  std::string routes, in, from, to;
  for (const PlannedNode& node : plan.nodes) {
    for (const LinkEnd& end : node.ends) {
      routes += fmt::format("route add default via {} dev {} table {}\n", end.router_address, end.netdev, end.index);
      in += fmt::format("rule add pref 10 iif {} lookup local\n", end.netdev);
      from += fmt::format("rule add pref 20 from {} lookup {}\n", end.address, end.index);
      to += fmt::format("rule add pref 25 iif lo to {} lookup {}\n", end.address, default_peer(plan, node, end).index);
    }
    for (const LinkEnd& end : node.lan) {
      routes += fmt::format("route add {}/32 dev {} src {} table {}\n", end.router_address, end.netdev, end.address,
                            end.index);
      in += fmt::format("rule add pref 10 iif {} lookup local\n", end.netdev);
      from += fmt::format("rule add pref 20 from {} lookup {}\n", end.address, end.index);
      to += fmt::format("rule add pref 25 iif lo to {} lookup {}\n", end.router_address, end.index);
    }
  }
  return routes + in + from + to + "rule add pref 30 lookup local\nrule del pref 0\n";
}

/// The processors of the compact lab: ends that poll want one each; a sealed lab's router interfaces and degen have
/// theirs. By the host's clock it may have too few for that.
enum CompactProcessor : unsigned { kClients, kServer, kRouter, kDegen };
static_assert(kDegen + 1 == kSealedProcessors);

CompactProcessor processor_of(const PlannedNode& end) {
  return end.role == Role::server ? kServer : kClients;
}

unsigned mask_of(CompactProcessor processor) {
  return 1U << processor;
}

// A packet between namespaces waits on the processor that sends it, if nobody says otherwise. Packets of one connection
// then overtake one another, since the kernel sends them from whichever processor its work is on, and what a node
// receives is the other's burden.

/// An end receives on its own processor, by receive packet steering. That hears of packets which a soft interrupt sends
/// when the interrupt ends.
std::string end_receives(const PlannedNode& end) {
  return fmt::format("for d in {}; do echo {:x} >/sys/class/net/$d/queues/rx-0/rps_cpus; done\n",
                     fmt::join(end_netdevs(joined(end.ends, end.lan)), " "), mask_of(processor_of(end)));
}

/// The router, where it has a processor (a sealed lab): a kernel thread for each interface (threaded NAPI), which
/// begins at once. By steering, a burst would be in the router as long as an end takes to send all of it. A veth has
/// NAPI where it has GRO (Linux 5.13), which here may join no packets (its size) and let none wait for others (its
/// batch).
std::string router_receives(const std::vector<std::string>& netdevs) {
  return fmt::format(
      "for d in {}; do ip link set $d gro_max_size 0; ethtool -K $d gro on; echo 1 >/sys/class/net/$d/threaded; done\n",
      fmt::join(netdevs, " "));
}
constexpr const char* kEachPacketByItself = "echo 1 >/proc/sys/net/core/gro_normal_batch\n";

/// Made inside, where what is random follows from the seed: keys from outside would make every sealed lab another one.
std::string sealed_identities(const LabPlan& plan) {
  std::string out = "longhaul-sealed identities /etc/longhaul/pki";
  for (const PlannedNode& node : plan.nodes) out += " " + node.name;
  out += "\nln -s pki/ca.pem /etc/longhaul/ca.pem\n";
  for (const PlannedNode& node : plan.nodes)
    for (const char* kind : {"pem", "key"})
      out += fmt::format("ln -s pki/agent-{0}.{1} /etc/longhaul/agent-{0}.{1}\n", node.name, kind);
  return out + fmt::format("chown -R {0}:{0} /etc/longhaul/pki\n", kAgentUid);
}

std::string compact_setup(const GuestView& view) {
  const auto ends = all_ends(*view.plan);
  const auto lan = lan_of(residents(view));
  const auto router = std::ranges::find(view.plan->nodes, Role::router, &PlannedNode::role);
  // The router is reached over an address of its own, apart from the measured path.
  std::string links = "link set lo up\n";
  if (view.sealed) links += fmt::format("link add eth0 type veth peer name mgmt netns {}\n", kRouterNamespace);
  links += "link set eth0 up\naddress add 10.0.2.15/24 dev eth0\n";
  if (!view.sealed)
    links += fmt::format("link add link eth0 name mgmt netns {} type macvlan mode bridge\n", kRouterNamespace);
  for (const LinkEnd& end : ends)
    // Wildcard listens of rdma_cm fail with EADDRINUSE when two namespaces give out the same ifindex.
    links += fmt::format("link add {} index {} address {} mtu {} type veth peer name {} address {} mtu {} netns {}\n",
                         end.netdev, end.index, end.mac, view.mtu, end.router_netdev(), end.router_mac, view.mtu,
                         kRouterNamespace);
  for (const LinkEnd& end : lan)
    if (end.index < peer_on(lan, end).index)
      links += fmt::format("link add {} index {} address {} mtu {} type veth peer name {} index {} address {} mtu {}\n",
                           end.netdev, end.index, end.mac, view.mtu, peer_on(lan, end).netdev, peer_on(lan, end).index,
                           end.router_mac, view.mtu);

  std::string inside = kNoIpv6;
  inside += kNoReversePathFilter;
  inside += "echo 1 >/proc/sys/net/ipv4/ip_forward\n";
  inside += batch("ip -batch -",
                  fmt::format("link set lo up\nlink set mgmt up\naddress add {}/24 dev mgmt\n", router->guest_address) +
                      router_lines(ends));
  inside += offloads_off(router_netdevs(ends)) + "wait\n";
  if (view.sealed) inside += router_receives(router_netdevs(ends));

  std::string out = kNoIpv6;
  out += kHugePages;
  out += fmt::format("ip netns add {}\n", kRouterNamespace);
  out += batch("ip -batch -", links);
  out += kNoReversePathFilter;
  out += "for f in /proc/sys/net/ipv4/conf/*/accept_local; do echo 1 >$f; done\n";
  out += kEndSysctls;
  if (view.sealed) out += kEachPacketByItself;
  out += fmt::format("ip netns exec {} sh -s <<'R'\n{}R\n", kRouterNamespace, inside);
  for (const PlannedNode* node : residents(view))
    if (node->role != Role::router) out += end_receives(*node);
  const auto all = joined(ends, lan);
  out += offloads_off(end_netdevs(all));
  out += batch("ip -batch -", end_lines(all) + compact_rules(*view.plan));
  out += rdma_devices(all);
  if (view.sealed) out += sealed_identities(*view.plan);
  out += kernel_threads_first(
      view.sealed ? fmt::format("napi/r*) chrt -f -p 1 $p; taskset -p {:x} $p >/dev/null;; ", mask_of(kRouter)) : "");
  return out + "wait\n";
}

/// Interfaces are told apart by MAC; the order in which a kernel finds them is nobody's promise.
std::string name_netdevs(const std::vector<std::pair<std::string, std::string>>& macs) {
  std::string cases;
  for (const auto& [mac, name] : macs) cases += fmt::format("{}) echo link set ${{d##*/}} name {};;\n", mac, name);
  return fmt::format("for d in /sys/class/net/*; do read m <$d/address; case $m in\n{}esac; done | ip -batch -\n",
                     cases);
}

std::string full_setup(const GuestView& view) {
  const PlannedNode& node = *residents(view).front();
  std::vector<std::pair<std::string, std::string>> names{{kControlMac, "mgmt"}};
  std::string out = kNoIpv6;
  std::string lines = fmt::format("link set lo up\nlink set mgmt up\naddress add {}/24 dev mgmt\n", node.guest_address);
  // An end's own queue is not the WAN: no fair queueing, no early drops.
  std::string rest = "echo pfifo_fast >/proc/sys/net/core/default_qdisc\n";
  rest += kNoReversePathFilter;
  const auto mtu = [&](const std::string& netdev) { return fmt::format("link set {} mtu {}\n", netdev, view.mtu); };
  if (node.role == Role::router) {
    const auto ends = all_ends(*view.plan);
    for (const LinkEnd& end : ends) {
      names.emplace_back(end.router_mac, end.router_netdev());
      lines += mtu(end.router_netdev());
    }
    rest += "echo 1 >/proc/sys/net/ipv4/ip_forward\n" + offloads_off(router_netdevs(ends)) +
            batch("ip -batch -", lines + router_lines(ends));
  } else {
    const auto all = joined(node.ends, node.lan);
    for (const LinkEnd& end : all) {
      names.emplace_back(end.mac, end.netdev);
      lines += mtu(end.netdev);
    }
    lines += end_lines(all);
    for (const LinkEnd& end : node.ends) {
      for (const PlannedNode& other : view.plan->nodes)
        if (other.role != node.role && other.role != Role::router)
          for (const LinkEnd& far : other.ends)
            if (far.provider == end.provider)
              lines += fmt::format("route add {}/32 via {} dev {}\n", far.address, end.router_address, end.netdev);
    }
    rest += kEndSysctls + offloads_off(end_netdevs(all)) + batch("ip -batch -", lines) + rdma_devices(all);
  }
  return out + name_netdevs(names) + rest + kernel_threads_first() + "wait\n";
}

/// Enters the node's view of the network; empty where that is the VM's own.
std::string enter(const GuestView& view, const PlannedNode& node) {
  return compact(view) && node.role == Role::router ? fmt::format("ip netns exec {} ", kRouterNamespace) : "";
}

std::string keep_alive(const std::string& name, const std::string& before, const std::string& command) {
  // Restarted at once: a router stays impaired until the next degen clears what the killed one left.
  return fmt::format(
      "#!/bin/sh\nulimit -l unlimited\nulimit -n 65536\n{}while :; do\n{}\necho \"longhaul: {} ended with $?\"\nsleep "
      "0.1\ndone\n",
      before, command, name);
}

std::string degen_command(const GuestView& view, const PlannedNode& router) {
  std::string client, server;
  for (const PlannedNode& node : view.plan->nodes)
    for (const LinkEnd& end : node.ends) {
      std::string& side = node.role == Role::client ? client : server;
      side += (side.empty() ? "" : ",") + end.router_netdev();
    }
  // A sealed lab ends with its run: nothing can be left impaired, and a guard would only take processor time.
  return fmt::format("{}{}degen serve --socket /run/degen/degen.sock --client-side {} --server-side {}{}",
                     enter(view, router), view.sealed ? fmt::format("taskset {:x} ", mask_of(kDegen)) : "", client,
                     server, view.sealed ? " --no-guard" : "");
}

std::string agent_command(const GuestView& view, const PlannedNode& node) {
  std::string out = fmt::format(
      "{0}setpriv --reuid {1} --regid {1} --clear-groups --no-new-privs --inh-caps=-all "
      "--bounding-set=-all "
      "longhaul-agent --node {2} --listen 0.0.0.0:{3} --ca /etc/longhaul/ca.pem --cert /etc/longhaul/agent-{2}.pem "
      "--key /etc/longhaul/agent-{2}.key --bench /usr/bin/longhaul-bench",
      enter(view, node), kAgentUid, node.name, node.guest_port);
  if (node.role == Role::router) out += " --degen /run/degen/degen.sock";
  if (compact(view) && node.role != Role::router)
    out += fmt::format(" --cpus {}", static_cast<unsigned>(processor_of(node)));
  return out;
}

struct Service {
  std::string name, script;
};

std::vector<Service> services(const GuestView& view) {
  std::vector<Service> out;
  if (!ends_of(residents(view)).empty()) {
    out.push_back({"tracing", tracing_script()});
    std::optional<NfsProcessors> processors;
    if (compact(view)) processors = {.client = mask_of(kClients), .server = mask_of(kServer)};
    out.push_back({"nfs", nfs_script(processors)});
  }
  for (const PlannedNode* node : residents(view)) {
    if (node->role == Role::router && has(view, "degen"))
      // Files that it creates there belong to the agents' group.
      out.push_back(
          {"degen",
           keep_alive(
               "degen",
               fmt::format("umask 007\nmkdir -p /run/degen\nchown 0:{} /run/degen\nchmod 2770 /run/degen\n", kAgentUid),
               degen_command(view, *node))});
    if (has(view, "longhaul-agent"))
      out.push_back({"agent-" + node->name, keep_alive("agent of " + node->name, "", agent_command(view, *node))});
  }
  if (view.sealed) return out;
  // One process a connection: as a server of its own dropbear takes five log-ins at a time and hangs up on more.
  out.push_back({"dropbear", keep_alive("dropbear", "",
                                        "tcpserver -b 128 -c 128 -HR -l lab 0 22 dropbear -i -s -j -k -r "
                                        "/etc/dropbear/hostkey")});
  return out;
}

/// Says what the host waits for: services listen, and traffic was seen crossing the router.
std::string ready_script(const GuestView& view) {
  std::string out = "#!/bin/sh\n";
  const auto nodes = residents(view);
  const bool router_here =
      std::ranges::any_of(nodes, [](const PlannedNode* node) { return node->role == Role::router; });

  // The clients send. In full the others may not be up yet, so they try until they get through.
  for (const PlannedLink& link : view.plan->links) {
    const bool ours =
        std::ranges::any_of(ends_of(nodes), [&](const LinkEnd& end) { return end.address == link.source; });
    if (!ours) continue;
    const std::string ping = fmt::format("ping -q -c 3 -i 0.002 -W 1 -I {} {} >/dev/null", link.source, link.target);
    out += compact(view) ? fmt::format("for i in 1 2 3; do {} && break; done\n", ping)
                         : fmt::format("until {}; do sleep 0.05; done\n", ping);
  }

  std::string counting =
      "count() { for s in rx tx; do read x </sys/class/net/$1/statistics/${s}_packets; eval $1_$s=$x; done; }\n";
  std::string wait;
  for (const PlannedLink& link : view.plan->links) {
    const auto c = link.client_side, s = link.server_side;
    if (!compact(view))
      wait += fmt::format(
          "until count {0}; count {1}; [ $(({0}_rx*{0}_tx*{1}_rx*{1}_tx)) -gt 0 ]; do sleep 0.05; done\n", c, s);
    else
      wait += fmt::format("count {}\ncount {}\n", c, s);
    wait += fmt::format("echo \"{0}{1} {2} ${1}_rx ${1}_tx ${2}_rx ${2}_tx\"\n", kCrossedWord, c, s);
  }
  if (router_here) {
    if (compact(view))
      out += fmt::format("ip netns exec {} sh -s <<'R'\n{}{}R\n", kRouterNamespace, counting, wait);
    else
      out += counting + wait;
  }

  out +=
      "listens() { until $2 grep -q \":$1 0\\{8\\}:0000 0A\\|:$1 0\\{32\\}:0000 0A\" /proc/net/tcp /proc/net/tcp6; do "
      "sleep 0.05; done; }\n";
  if (!view.sealed) out += "listens 0016 ''\n";
  if (has(view, "longhaul-agent"))
    for (const PlannedNode* node : nodes)
      out += fmt::format("listens {:04X} '{}'\n", node->guest_port, enter(view, *node));
  if (router_here && has(view, "degen")) out += "until [ -S /run/degen/degen.sock ]; do sleep 0.05; done\n";
  // What cannot be prepared is said again, to the run that asks for it.
  if (view.sealed)
    out += fmt::format(
        "until [ -p {0} ]; do sleep 0.05; done\necho prepare sealed $$ all >{0}\n"
        "until [ -e {0}-sealed.prepare ]; do sleep 0.05; done\necho end sealed >{0}\n",
        kNfsPipe);
  out += fmt::format("echo '{}'\n", kReadyLine);
  // It ends its copy itself. One that dies must not leave a machine behind that nobody ends.
  if (view.sealed)
    out += "longhaul-sealed serve\necho \"longhaul: longhaul-sealed ended with $?\"\necho b >/proc/sysrq-trigger\n";
  return out;
}

}  // namespace

std::string node_script(const GuestView& view, const PlannedNode& node) {
  std::string out = fmt::format("#!/bin/sh\nexport LONGHAUL_NODE={}", node.name);
  for (const LinkEnd& end : node.ends) {
    const std::string suffix = end.provider == "siw" ? "_SIW" : "";
    out += fmt::format(" LONGHAUL_ADDR{0}={1} LONGHAUL_DEVICE{0}={2} LONGHAUL_NETDEV{0}={3} LONGHAUL_PEER{0}={4}",
                       suffix, end.address, end.device, end.netdev, default_peer(*view.plan, node, end).address);
  }
  for (const LinkEnd& end : node.lan) {
    const std::string suffix = end.provider == "siw" ? "_SIW_LAN" : "_LAN";
    out += fmt::format(" LONGHAUL_ADDR{0}={1} LONGHAUL_DEVICE{0}={2} LONGHAUL_NETDEV{0}={3} LONGHAUL_PEER{0}={4}",
                       suffix, end.address, end.device, end.netdev, end.router_address);
  }
  return out + fmt::format("\nexec {}\"$@\"\n", enter(view, node));
}

std::vector<OverlayFile> guest_files(const GuestView& view) {
  std::vector<OverlayFile> files;
  const auto add = [&](const std::string& path, std::string text, std::uint32_t mode) {
    files.push_back({.path = path, .bytes = std::move(text), .mode = mode, .uid = 0});
  };
  add("/etc/longhaul/setup",
      fmt::format("hostname {}\n", view.machine) + (compact(view) ? compact_setup(view) : full_setup(view)), 0644);
  add("/etc/longhaul/ready", ready_script(view), 0755);
  std::string inittab;
  for (const Service& service : services(view)) {
    // Not called like the program: whoever kills that by name means the program.
    add("/etc/longhaul/service/keep-" + service.name, service.script, 0755);
    inittab += fmt::format("::respawn:/etc/longhaul/service/keep-{}\n", service.name);
  }
  add("/etc/inittab", inittab + "::once:/etc/longhaul/ready\n", 0644);
  for (const PlannedNode* node : residents(view))
    add("/etc/longhaul/node/" + node->name, node_script(view, *node), 0755);
  return files;
}

}  // namespace longhaul::lab
