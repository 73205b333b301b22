#include "lab/plan/topology.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "lab/plan/guest.hh"
#include "lab/plan/system_guest.hh"

namespace longhaul::lab {
namespace {

constexpr const char* kProviders[] = {"rxe", "siw"};
constexpr std::uint16_t kFirstAgentPort = 41001;
constexpr std::size_t kLongestPrefix = 32;
constexpr const char* kGuestAddress = "10.0.2.15";
constexpr const char* kCompactRouterAddress = "10.0.2.16";

/// Without tsc=reliable two emulated processors fall back to hpet: 0.86 us a clock read instead of 76 ns; on a busy
/// host the kernel's check of its timer panics without no_timer_check. The second line
/// leaves out what costs an emulated processor 1.3 s of its boot and serves no lab: self-tests, certificates, security
/// modules. norandmaps: QEMU keeps what it has translated of a program by its address; with random ones it translates
/// every process anew, and a program with a dozen libraries takes three times as long to main(). loglevel=5: with quiet
/// alone a kernel that stands still names the process, and no line of its stack.
constexpr const char* kKernelArguments =
    "console=ttyS0 quiet loglevel=5 tsc=reliable clocksource=tsc no_timer_check panic=-1 mitigations=off "
    "random.trust_cpu=on "
    "cryptomgr.notests initcall_blacklist=crypto_kdf108_init,load_system_certificate_list lsm=capability audit=0 "
    "norandmaps";

/// A small lab VM holds everything in memory and ends when it would start again; a whole system has a disk, whose
/// changes go with QEMU, and may be rebooted.
struct Hardware {
  unsigned processors = 1;
  unsigned megabytes = 512;
  std::string disk;
};

/// `subnet` is the second octet of its rxe network (siw's is one more), `number` the third.
std::vector<LinkEnd> make_ends(char letter, unsigned first_netdev, unsigned subnet, unsigned number,
                               unsigned first_index) {
  std::vector<LinkEnd> ends;
  for (unsigned kind = 0; kind < std::size(kProviders); ++kind) {
    LinkEnd end;
    end.netdev = fmt::format("{}{}", letter, first_netdev + kind);
    end.address = fmt::format("10.{}.{}.1", subnet + kind, number);
    end.router_address = fmt::format("10.{}.{}.254", subnet + kind, number);
    end.provider = kProviders[kind];
    end.device = fmt::format("{}_{}", end.provider, end.netdev);
    end.index = first_index + kind;
    end.mac = fmt::format("02:6c:68:00:01:{:02x}", end.index);
    end.router_mac = fmt::format("02:6c:68:00:02:{:02x}", end.index);
    ends.push_back(std::move(end));
  }
  return ends;
}

// Both ends of the cables between the first client and the server.
void add_lan(PlannedNode& client, PlannedNode& server) {
  client.lan = make_ends('c', 0, 30, 0, 31);
  server.lan = make_ends('d', 0, 30, 0, 41);
  for (std::size_t kind = 0; kind < client.lan.size(); ++kind) {
    auto& near = client.lan[kind];
    auto& far = server.lan[kind];
    far.address = far.address.substr(0, far.address.size() - 1) + "2";
    near.router_address = far.address;
    near.router_mac = far.mac;
    far.router_address = near.address;
    far.router_mac = near.mac;
  }
}

std::string client_name(unsigned number) {
  return number == 0 ? "client" : fmt::format("client{}", number + 1);
}

/// QEMU splits its options at commas; a doubled one stands for itself.
std::string escape(std::string text) {
  for (std::size_t at = 0; (at = text.find(',', at)) != std::string::npos; at += 2) text.insert(at, ",");
  return text;
}

void add(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
}

/// Arguments common to every VM: no default devices, a console that goes to a file, the control network.
std::vector<std::string> common_arguments(const PlanOptions& options, const std::string& name, const Hardware& hardware,
                                          const std::string& forwards) {
  std::vector<std::string> arguments;
  add(arguments, {"-name", "longhaul-" + name, "-nodefaults", "-no-user-config", "-display", "none"});
  add(arguments, {"-smp", fmt::format("{}", hardware.processors), "-m", fmt::format("{}", hardware.megabytes)});
  if (hardware.disk.empty()) {
    add(arguments, {"-no-reboot"});
  } else {
    add(arguments, {"-drive", fmt::format("file={},if=none,id=disk,format=raw,snapshot=on", escape(hardware.disk))});
    add(arguments, {"-device", "virtio-blk-pci,drive=disk"});
  }
  // A firmware that does nothing but start a kernel: the usual one takes as long as a third of the boot when emulated.
  add(arguments, {"-bios", "qboot.rom"});
  add(arguments, {"-append", kKernelArguments});
  add(arguments, {"-serial", fmt::format("file:{}", options.directory + "/" + name + ".console")});
  add(arguments, {"-netdev", "user,id=mgmt,restrict=on" + forwards});
  add(arguments, {"-device", fmt::format("virtio-net-pci,netdev=mgmt,romfile=,mac={}", kControlMac)});
  return arguments;
}

std::string forward(std::uint16_t from, const std::string& address, std::uint16_t to) {
  return fmt::format(",hostfwd=tcp:127.0.0.1:{}-{}:{}", from, address, to);
}

void add_wire(PlannedMachine& machine, const PlanOptions& options, const LinkEnd& end, bool router) {
  const std::string id = router ? end.router_netdev() : end.netdev;
  const std::string path = options.directory + "/" + end.router_netdev() + ".sock";
  add(machine.arguments, {"-netdev", fmt::format("stream,id={},server={},addr.type=unix,addr.path={}", id,
                                                 router ? "on" : "off", escape(path))});
  add(machine.arguments,
      {"-device", fmt::format("virtio-net-pci,netdev={},romfile=,mac={}{}", id, router ? end.router_mac : end.mac,
                              options.mtu == 1500 ? "" : fmt::format(",host_mtu={}", options.mtu))});
  if (router) machine.listens.push_back(path);
}

// A cable between two VMs: the client, which is started first, listens.
void add_cable(PlannedMachine& machine, const PlanOptions& options, const LinkEnd& end, bool client) {
  const auto path = fmt::format("{}/lan-{}.sock", options.directory, end.provider);
  add(machine.arguments, {"-netdev", fmt::format("stream,id={},server={},addr.type=unix,addr.path={}", end.netdev,
                                                 client ? "on" : "off", escape(path))});
  add(machine.arguments, {"-device", fmt::format("virtio-net-pci,netdev={},romfile=,mac={}{}", end.netdev, end.mac,
                                                 options.mtu == 1500 ? "" : fmt::format(",host_mtu={}", options.mtu))});
  if (client) machine.listens.push_back(path);
}

void plan_compact(LabPlan& plan, const PlanOptions& options) {
  PlannedMachine machine;
  machine.name = "compact";
  machine.ssh_port = options.host_ports.back();
  std::string forwards = forward(machine.ssh_port, kGuestAddress, 22);
  for (PlannedNode& node : plan.nodes) {
    node.machine = machine.name;
    node.guest_address = node.role == Role::router ? kCompactRouterAddress : kGuestAddress;
    forwards += forward(node.host_port, node.guest_address, node.guest_port);
  }
  // Two ends that poll want a processor each.
  machine.processors = options.sealed ? kSealedProcessors : std::clamp(options.cores, 2U, 4U);
  // A sealed one's hardware is lab/sealed.cc's.
  if (!options.sealed)
    machine.arguments =
        common_arguments(options, machine.name, {.processors = machine.processors, .megabytes = 1024}, forwards);
  plan.machines.push_back(std::move(machine));
}

void plan_full(LabPlan& plan, const PlanOptions& options) {
  std::size_t next_port = plan.nodes.size();
  const unsigned processors = options.cores >= 2 * plan.nodes.size() ? 2 : 1;
  std::vector<LinkEnd> wires;
  for (const PlannedNode& node : plan.nodes) wires.insert(wires.end(), node.ends.begin(), node.ends.end());
  const auto plan_one = [&](PlannedNode& node) {
    PlannedMachine machine;
    machine.name = node.name;
    machine.ssh_port = options.host_ports.at(next_port++);
    node.machine = node.name;
    node.guest_address = kGuestAddress;
    machine.processors = processors;
    machine.arguments = common_arguments(
        options, node.name,
        {.processors = processors, .megabytes = options.disk.empty() ? 512U : 768U, .disk = options.disk},
        forward(machine.ssh_port, kGuestAddress, 22) + forward(node.host_port, kGuestAddress, node.guest_port));
    const bool router = node.role == Role::router;
    for (const LinkEnd& end : router ? wires : node.ends) add_wire(machine, options, end, router);
    for (const LinkEnd& end : node.lan) add_cable(machine, options, end, node.role == Role::client);
    plan.machines.push_back(std::move(machine));
  };
  // The router first: it listens on the wires that the others connect to.
  for (PlannedNode& node : plan.nodes)
    if (node.role == Role::router) plan_one(node);
  for (PlannedNode& node : plan.nodes)
    if (node.role != Role::router) plan_one(node);
}

}  // namespace

Result<Topology> parse_topology(std::string_view text) {
  if (text == "auto" || text == "automatic") return Topology::automatic;
  if (text == "compact") return Topology::compact;
  if (text == "full") return Topology::full;
  if (text == "systems") return Topology::systems;
  return refuse("topology '{}': expected compact, full, systems or auto", text);
}

const char* kernel_arguments() {
  return kKernelArguments;
}

std::string_view to_string(Topology topology) {
  switch (topology) {
    case Topology::automatic:
      return "auto";
    case Topology::compact:
      return "compact";
    case Topology::full:
      return "full";
    case Topology::systems:
      return "systems";
  }
  throw std::logic_error("topology out of range");
}

Topology choose_topology(Topology asked, unsigned cores, unsigned nodes) {
  if (asked != Topology::automatic) return asked;
  return cores >= nodes ? Topology::full : Topology::compact;
}

std::vector<std::string> node_names(unsigned clients, const std::string& prefix) {
  std::vector<std::string> names;
  for (unsigned number = 0; number < clients; ++number) names.push_back(prefix + client_name(number));
  names.insert(names.end(), {prefix + "server", prefix + "router"});
  return names;
}

Result<void> check_prefix(std::string_view prefix) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (prefix.empty() || (prefix.size() <= kLongestPrefix && std::isalnum(static_cast<unsigned char>(prefix[0])) != 0 &&
                         std::ranges::all_of(prefix, fits)))
    return {};
  return refuse("prefix '{}': expected at most {} letters, digits, '-' or '_', a letter or a digit first", prefix,
                kLongestPrefix);
}

unsigned ports_needed(Topology topology, unsigned clients) {
  const unsigned nodes = clients + 2;
  return topology == Topology::compact ? nodes + 1 : 2 * nodes;
}

const PlannedNode* LabPlan::find(std::string_view name) const {
  const auto found = std::ranges::find(nodes, name, &PlannedNode::name);
  return found == nodes.end() ? nullptr : &*found;
}

const PlannedMachine& LabPlan::machine_of(const PlannedNode& node) const {
  return *std::ranges::find(machines, node.machine, &PlannedMachine::name);
}

LabPlan make_plan(const PlanOptions& options) {
  if (options.topology == Topology::automatic ||
      options.host_ports.size() < ports_needed(options.topology, options.clients))
    throw std::logic_error("make_plan wants a topology and its ports");
  LabPlan plan;
  plan.topology = options.topology;
  for (const std::string& name : node_names(options.clients, options.prefix)) {
    const auto number = static_cast<unsigned>(plan.nodes.size());
    PlannedNode node;
    node.name = name;
    node.guest_port = static_cast<std::uint16_t>(kFirstAgentPort + number);
    node.host_port = options.host_ports[number];
    // One variable of the inventory says both where the agent listens and where it is found.
    if (options.topology == Topology::systems) node.guest_port = node.host_port;
    if (number < options.clients) {
      node.role = Role::client;
      node.ends = make_ends('a', 2 * number, 10, number, 101 + 2 * number);
    } else if (number == options.clients) {
      node.role = Role::server;
      node.ends = make_ends('b', 0, 20, 0, 201);
    } else {
      node.role = Role::router;
    }
    plan.nodes.push_back(std::move(node));
  }
  PlannedNode& server = plan.nodes[options.clients];
  add_lan(plan.nodes.front(), server);
  for (const PlannedNode& node : plan.nodes)
    if (node.role == Role::client)
      for (std::size_t kind = 0; kind < node.ends.size(); ++kind)
        plan.links.push_back({node.ends[kind].router_netdev(), server.ends[kind].router_netdev(),
                              node.ends[kind].address, server.ends[kind].address});

  if (options.topology == Topology::compact)
    plan_compact(plan, options);
  else
    plan_full(plan, options);
  for (PlannedMachine& machine : plan.machines) {
    const GuestView view{.plan = &plan,
                         .machine = machine.name,
                         .mtu = options.mtu,
                         .programs = options.programs,
                         .sealed = options.sealed};
    machine.files = options.topology == Topology::systems ? system_files(view) : guest_files(view);
  }
  return plan;
}

}  // namespace longhaul::lab
