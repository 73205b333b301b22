// longhaul lab up, down, status, exec.
#include <unistd.h>

#include <boost/json.hpp>
#include <memory>

#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/lab_session.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

struct LabOptions {
  std::string name = "default";
  std::string topology = "automatic";
  bool systems = false;
  unsigned nodes = 3;
  std::string prefix;
  unsigned mtu = 1500;
  lab::KernelChoice kernel;
  std::string node;
  std::vector<std::string> command;
  bool as_json = false;
};

int up(const LabOptions& options) {
  const auto topology = lab::parse_topology(options.systems ? "systems" : options.topology);
  if (!topology) return report_error(topology.error(), options.as_json);
  watch_interrupts();
  lab::UpOptions asked;
  asked.name = options.name;
  asked.kernel = options.kernel;
  asked.topology = *topology;
  asked.clients = options.nodes - 2;
  asked.prefix = options.prefix;
  asked.mtu = options.mtu;
  asked.cancelled = [] { return interrupted(); };
  if (::isatty(STDERR_FILENO) != 0) asked.progress = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  const auto lab = start_lab(std::move(asked));
  if (!lab)
    return report_error(interrupted() ? Error{"interrupted", ExitCode::interrupted} : lab.error(), options.as_json);
  if (options.as_json) {
    fmt::print("{}\n", json::serialize(json::object{{"name", lab->name()},
                                                    {"topology", lab::to_string(lab->topology())},
                                                    {"kernel", lab->kernel()},
                                                    {"emulated", lab->emulated()},
                                                    {"inventory", lab->inventory_path()}}));
  } else {
    fmt::print("lab {} is up ({}, Linux {}{}); its inventory: {}\n", lab->name(), lab::to_string(lab->topology()),
               lab->kernel(), lab->emulated() ? ", emulated" : "", lab->inventory_path());
    if (lab->topology() == lab::Topology::systems)
      fmt::print("make a testbed of it: ansible-playbook -i {} longhaul.testbed.site\n", lab->inventory_path());
  }
  return 0;
}

int down(const LabOptions& options) {
  if (auto gone = lab::down(options.name); !gone) return report_error(gone.error(), options.as_json);
  if (options.as_json) fmt::print("{}\n", json::serialize(json::object{{"down", options.name}}));
  return 0;
}

int status(const LabOptions& options) {
  const auto labs = lab::status();
  if (!options.as_json) {
    for (const auto& lab : labs) {
      fmt::print("{}: {}, {}{}{}{}, inventory {}\n", lab.name, lab.phase, lab.topology,
                 lab.kernel.empty() ? "" : ", Linux " + lab.kernel, lab.emulated ? ", emulated" : "",
                 lab.ephemeral ? ", ends with its campaign" : "", lab.inventory);
      for (const auto& machine : lab.machines)
        fmt::print("  {} {} console {}\n", machine.name,
                   machine.running ? fmt::format("runs as {}", machine.pid) : "is dead", machine.console);
    }
    if (labs.empty()) fmt::print("no lab is up\n");
    return 0;
  }
  json::array list;
  for (const auto& lab : labs) {
    json::array machines;
    for (const auto& machine : lab.machines)
      machines.push_back(
          {{"name", machine.name}, {"pid", machine.pid}, {"running", machine.running}, {"console", machine.console}});
    list.push_back({{"name", lab.name},
                    {"topology", lab.topology},
                    {"kernel", lab.kernel},
                    {"emulated", lab.emulated},
                    {"ephemeral", lab.ephemeral},
                    {"phase", lab.phase},
                    {"inventory", lab.inventory},
                    {"machines", machines},
                    {"nodes", json::value_from(lab.nodes)}});
  }
  fmt::print("{}\n", json::serialize(json::object{{"labs", list}}));
  return 0;
}

int exec(const LabOptions& options) {
  const auto code = lab::exec({.lab = options.name, .node = options.node, .command = options.command});
  return code ? *code : report_error(code.error());
}

}  // namespace

void add_kernel_options(CLI::App& command, lab::KernelChoice& kernel) {
  command
      .add_option(
          "--kernel", kernel.kernel,
          "of the lab: one of Debian's by its series (6.12) or release (6.12.107+deb12-amd64), or a file; without "
          "it that of this machine's linux-headers-amd64")
      ->type_name("KERNEL");
  command
      .add_option("--modules", kernel.modules,
                  "of a kernel that is a file: the folder lib/modules/RELEASE that `make modules_install` wrote")
      ->type_name("DIR");
}

void add_lab(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LabOptions>();
  auto* lab =
      app.add_subcommand("lab", "a testbed of micro-VMs on this machine, with RDMA by the kernel's rxe and siw");
  lab->require_subcommand(1);
  lab->footer(
      "Examples:\n  longhaul lab up --topology compact\n"
      "  longhaul lab exec server -- ib_write_lat -d rxe_b0 &\n"
      "  longhaul lab exec client -- sh -c 'ib_write_lat -d $LONGHAUL_DEVICE $LONGHAUL_PEER'\n"
      "  longhaul lab exec router -- degen show\n  longhaul lab down");
  const auto common = [&](CLI::App* command) {
    command->add_option("--name", options->name, "which lab; several live side by side")->capture_default_str();
    command->add_flag("--json", options->as_json, "print one JSON document");
  };

  auto* one = lab->add_subcommand("up", "boot it and prove that traffic crosses its router");
  one->add_option("--topology", options->topology,
                  "compact: one VM; full: one VM a node; automatic: full where every node has a core")
      ->capture_default_str();
  one->add_flag("--systems", options->systems,
                "bare Debian systems with systemd and sshd, one VM a node, for the Ansible collection");
  one->add_option("--nodes", options->nodes, "a router, a server, and the rest clients")
      ->check(CLI::Range(3, 10))
      ->capture_default_str();
  one->add_option("--prefix", options->prefix,
                  "of the nodes' names, such as west-: labs that share a campaign have different ones");
  one->add_option("--mtu", options->mtu, "of the measured interfaces")
      ->check(CLI::Range(576, 9000))
      ->capture_default_str();
  add_kernel_options(*one, options->kernel);
  common(one);
  one->footer(
      "Examples:\n  longhaul lab up --topology full\n  longhaul lab up --name west --prefix west-\n  longhaul run "
      "campaigns/quick.yaml --inventory INVENTORY --out "
      "out/quick\n  longhaul lab up --kernel 6.12\n  longhaul lab up --systems --name cluster && ansible-playbook -i "
      "INVENTORY longhaul.testbed.site");
  one->callback([options, &exit_code] { exit_code = up(*options); });

  auto* two = lab->add_subcommand("down", "take it down and remove every trace");
  common(two);
  two->footer("Example:\n  longhaul lab down");
  two->callback([options, &exit_code] { exit_code = down(*options); });

  auto* three = lab->add_subcommand("status", "which labs there are");
  three->add_flag("--json", options->as_json, "print one JSON document");
  three->footer("Example:\n  longhaul lab status --json");
  three->callback([options, &exit_code] { exit_code = status(*options); });

  auto* four =
      lab->add_subcommand("exec", "run a command on a node, in its view of the network; exits with its exit code");
  four->add_option("--name", options->name, "which lab")->capture_default_str();
  four->add_option("NODE", options->node, "client, server, router ...")->required();
  four->add_option("COMMAND", options->command, "after --")->required();
  four->footer(
      "The environment says where the node is: LONGHAUL_ADDR, LONGHAUL_DEVICE, LONGHAUL_NETDEV, LONGHAUL_PEER, and the "
      "same with\n"
      "_SIW for its second attachment.\nExample:\n  longhaul lab exec client -- sh -c 'ping -c 3 -I $LONGHAUL_ADDR "
      "$LONGHAUL_PEER'");
  four->callback([options, &exit_code] { exit_code = exec(*options); });
}

}  // namespace longhaul::orchestrator
