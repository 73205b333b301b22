#include "lab/lab.hh"

#include <fmt/format.h>

#include <algorithm>

#include "common/child.hh"
#include "common/log.hh"
#include "lab/boot.hh"
#include "lab/control.hh"
#include "lab/state.hh"

namespace longhaul::lab {

struct Lab::State {
  LabState known;
  std::vector<Machine> machines;
  bool gone = false;
};

Lab::Lab(std::unique_ptr<State> state) : state_(std::move(state)) {}
Lab::Lab(Lab&&) noexcept = default;

Lab& Lab::operator=(Lab&& other) noexcept {
  if (this != &other) {
    Lab old(std::move(*this));
    state_ = std::move(other.state_);
  }
  return *this;
}

Lab::~Lab() {
  if (!state_ || !state_->known.ephemeral) return;
  try {
    down();
  } catch (const std::exception& error) {
    log::warn("taking lab '{}' down: {}", state_->known.name, error.what());
  }
}

const std::string& Lab::name() const {
  return state_->known.name;
}
Topology Lab::topology() const {
  return parse_topology(state_->known.topology).value();
}
bool Lab::emulated() const {
  return state_->known.emulated;
}
const std::string& Lab::kernel() const {
  return state_->known.kernel;
}
std::string Lab::directory() const {
  return lab_directory(name());
}
std::string Lab::inventory_path() const {
  return directory() + "/inventory.yml";
}

std::optional<DeadMachine> Lab::dead_machine() {
  for (Machine& machine : state_->machines)
    if (!machine.running()) return DeadMachine{.name = machine.name(), .console_tail = machine.console_tail()};
  return {};
}

std::string Lab::console_tails() const {
  return lab::console_tails(state_->machines);
}

void Lab::down() {
  if (state_->gone) return;
  state_->gone = true;
  for (Machine& machine : state_->machines) machine.stop();
  remove_lab(name());
}

Result<Lab> up(const UpOptions& options) {
  auto booted = boot(options);
  if (!booted) return tl::unexpected(booted.error());
  auto state = std::make_unique<Lab::State>();
  state->known = std::move(booted->known);
  state->machines = std::move(booted->machines);
  return Lab(std::move(state));
}

Result<void> down(const std::string& name) {
  if (auto valid = check_name(name); !valid) return valid;
  const auto names = lab_names();
  if (std::ranges::find(names, name) == names.end())
    return refuse("no lab '{}' is up{}", name,
                  names.empty() ? "" : fmt::format("; there is: {}", fmt::join(names, ", ")));
  remove_lab(name);
  return {};
}

std::vector<LabStatus> status() {
  clean_stale();
  std::vector<LabStatus> all;
  for (const std::string& name : lab_names()) {
    const auto known = load(name);
    if (!known) continue;
    LabStatus one{.name = name,
                  .topology = known->topology,
                  .kernel = known->kernel,
                  .emulated = known->emulated,
                  .ephemeral = known->ephemeral,
                  .phase = known->phase,
                  .directory = lab_directory(name),
                  .inventory = lab_directory(name) + "/inventory.yml",
                  .machines = {},
                  .nodes = {}};
    for (const std::string& machine_name : known->machines) {
      auto machine = Machine::find(machine_name, one.directory);
      MachineStatus machine_status{.name = machine_name, .console = one.directory + "/" + machine_name + ".console"};
      if (machine) machine_status.pid = machine->pid(), machine_status.running = machine->running();
      if (!machine_status.running && one.phase == "up") one.phase = "broken";
      one.machines.push_back(std::move(machine_status));
    }
    for (const StateNode& node : known->nodes) one.nodes.push_back(node.name);
    all.push_back(std::move(one));
  }
  return all;
}

Result<ExecCommand> exec_command(const ExecOptions& options) {
  if (auto valid = check_name(options.lab); !valid) return tl::unexpected(valid.error());
  const auto known = load(options.lab);
  if (!known || known->phase != "up") return refuse("no lab '{}' is up: `longhaul lab up` starts one", options.lab);
  const auto node = std::ranges::find(known->nodes, options.node, &StateNode::name);
  if (node == known->nodes.end()) {
    std::vector<std::string> names;
    for (const StateNode& one : known->nodes) names.push_back(one.name);
    return refuse("lab '{}' has no node '{}'; it has: {}", options.lab, options.node, fmt::join(names, ", "));
  }
  if (options.command.empty()) return refuse("no command given for node '{}'", options.node);
  auto machine = Machine::find(node->machine, lab_directory(options.lab));
  if (!machine || !machine->running()) {
    const auto tail = machine ? machine->console_tail() : std::string{};
    return fail("VM {} of lab '{}' is not running any more; its console is {}/{}.console{}", node->machine, options.lab,
                lab_directory(options.lab), node->machine, tail.empty() ? "" : ":\n" + tail);
  }
  auto remote = remote_command(lab_directory(options.lab), node->ssh_port, node->name, options.command);
  return ExecCommand{.arguments = std::move(remote.arguments), .environment = std::move(remote.environment)};
}

Result<int> exec(const ExecOptions& options) {
  const auto command = exec_command(options);
  if (!command) return tl::unexpected(command.error());
  Child child({.arguments = command->arguments, .environment = command->environment});
  for (;;)
    if (const auto ended = child.wait(std::chrono::hours{1})) {
      if (ended->code) return *ended->code;
      return 128 + ended->signal.value_or(0);
    }
}

}  // namespace longhaul::lab
