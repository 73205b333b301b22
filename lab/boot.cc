#include "lab/boot.hh"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/error.hh"
#include "common/log.hh"
#include "common/replace_file.hh"
#include "lab/control.hh"
#include "lab/emulator.hh"
#include "lab/image.hh"
#include "lab/plan/cpio.hh"
#include "lab/plan/guest.hh"
#include "lab/plan/inventory.hh"
#include "lab/programs.hh"

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned kMaxClients = 16;
constexpr auto kPatience = std::chrono::seconds{90};
constexpr auto kPatienceWithSystems = std::chrono::seconds{300};
constexpr auto kGlance = std::chrono::milliseconds{20};
constexpr int kAttempts = 3;

/// Takes a half-made lab away unless it is kept.
class Undo {
 public:
  explicit Undo(std::string name) : name_(std::move(name)) {}
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (kept_) return;
    try {
      remove_lab(name_);
    } catch (const std::exception& error) {
      log::warn("cleaning up lab '{}': {}", name_, error.what());
    }
  }
  void keep() { kept_ = true; }

 private:
  std::string name_;
  bool kept_ = false;
};

/// Ports that are free now. Somebody may take one before QEMU does: then the boot is tried again.
std::vector<std::uint16_t> free_ports(unsigned count) {
  std::vector<OwnFd> held;
  std::vector<std::uint16_t> ports;
  for (unsigned number = 0; number < count; ++number) {
    OwnFd socket{check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "creating a socket")};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "looking for a free port");
    socklen_t length = sizeof address;
    check(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length), "looking for a free port");
    ports.push_back(ntohs(address.sin_port));
    held.push_back(std::move(socket));
  }
  return ports;
}

bool whole_systems(const PlanOptions& wanted) {
  return wanted.topology == Topology::systems;
}

/// An agent without a certificate authority would not start, and the boot would wait for it in vain.
bool certificates_suffice(const std::vector<std::string>& programs, const std::vector<OverlayFile>& files) {
  const bool agents = std::find(programs.begin(), programs.end(), "longhaul-agent") != programs.end();
  return !agents || std::any_of(files.begin(), files.end(),
                                [](const OverlayFile& file) { return file.path == "/etc/longhaul/ca.pem"; });
}

void append_file(std::ofstream& out, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_errno("opening " + path);
  out << in.rdbuf();
}

/// An agent's key goes to the VM of its node only.
bool belongs_here(const OverlayFile& file, const LabPlan& plan, const std::string& machine) {
  for (const PlannedNode& node : plan.nodes)
    if (node.machine != machine && file.path.starts_with(fmt::format("/etc/longhaul/agent-{}.", node.name)))
      return false;
  return true;
}

bool cancelled(const UpOptions& options) {
  return options.cancelled && options.cancelled();
}

tl::unexpected<Error> interrupted() {
  return tl::unexpected(Error{"interrupted while the lab was starting", ExitCode::interrupted});
}

tl::unexpected<Error> died(const Machine& machine) {
  const std::string complaints = machine.emulator_log();
  return fail("VM {} died while starting{}; its console said last:\n{}", machine.name(),
              complaints.empty() ? "" : " (QEMU: " + complaints + ")", machine.console_tail());
}

/// Starts the VMs of a plan, each after the sockets that it connects to are there.
Result<std::vector<Machine>> start_machines(const LabPlan& plan, const UpOptions& options, const std::string& directory,
                                            const Image& image, const Accelerator& accelerator) {
  std::vector<Machine> machines;
  for (const PlannedMachine& planned : plan.machines) {
    auto command = accelerator.command;
    command.insert(command.end(),
                   {"-kernel", image.kernel, "-initrd", write_initrd(directory, planned, plan, options.files, image)});
    command.insert(command.end(), planned.arguments.begin(), planned.arguments.end());
    auto machine = Machine::start(
        {.name = planned.name, .directory = directory, .command = command, .ephemeral = options.ephemeral});
    if (!machine) return tl::unexpected(machine.error());
    machines.push_back(std::move(*machine));
    const auto deadline = Clock::now() + kPatience;
    for (const std::string& socket : planned.listens)
      while (!fs::exists(socket)) {
        if (!machines.back().running() || Clock::now() > deadline) return died(machines.back());
        if (cancelled(options)) return interrupted();
        std::this_thread::sleep_for(kGlance);
      }
  }
  return machines;
}

/// Waits until every VM has said that it is ready; returns all that they said.
Result<std::string> await_ready(std::vector<Machine>& machines, const UpOptions& options,
                                std::chrono::seconds patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    std::string said, waiting;
    for (Machine& machine : machines) {
      const std::string text = machine.console_text();
      if (text.find(kReadyLine) == std::string::npos) waiting += (waiting.empty() ? "" : ", ") + machine.name();
      said += text + '\n';
    }
    if (waiting.empty()) return said;
    for (Machine& machine : machines)
      if (!machine.running()) return died(machine);
    if (cancelled(options)) return interrupted();
    if (Clock::now() > deadline)
      return fail("the lab was not ready after {} s; waiting for: {}{}", patience.count(), waiting,
                  console_tails(machines));
    std::this_thread::sleep_for(kGlance);
  }
}

struct Attempt {
  LabPlan plan;
  std::vector<Machine> machines;
};

Result<Attempt> attempt(const UpOptions& options, PlanOptions wanted, const std::string& directory, const Image& image,
                        const Accelerator& accelerator) {
  Attempt result;
  wanted.host_ports = free_ports(ports_needed(wanted.topology, wanted.clients));
  result.plan = make_plan(wanted);
  auto machines = start_machines(result.plan, options, directory, image, accelerator);
  if (!machines) return tl::unexpected(machines.error());
  result.machines = std::move(*machines);
  auto said = await_ready(result.machines, options, whole_systems(wanted) ? kPatienceWithSystems : kPatience);
  if (!said) return tl::unexpected(said.error());
  if (whole_systems(wanted)) return result;  // nothing is routed yet
  if (auto crossed = check_crossings(result.plan, parse_crossings(*said)); !crossed)
    return tl::unexpected(crossed.error());
  return result;
}

/// One with a lost race for a port is worth another try.
Result<Attempt> attempt_often(const UpOptions& options, const PlanOptions& wanted, const std::string& directory,
                              const Image& image, const Accelerator& accelerator) {
  for (int left = kAttempts - 1;; --left) {
    auto result = attempt(options, wanted, directory, image, accelerator);
    if (result || left == 0 || result.error().message.find("Could not set up host forwarding") == std::string::npos)
      return result;
    for (const auto& entry : fs::directory_iterator(directory))
      if (entry.path().extension() == ".pid")
        if (auto running = Machine::find(entry.path().stem(), directory)) running->stop();
  }
}

/// Completes what is wanted by what the image has.
Result<Image> prepare_image(const UpOptions& options, PlanOptions& wanted) {
  if (whole_systems(wanted)) {
    auto image = build_system_image();
    if (image) wanted.disk = image->disk;
    return image;
  }
  const Programs programs = find_programs(options.program_dir, Inside::open);
  wanted.programs = programs.names;
  if (!certificates_suffice(programs.names, options.files))
    return refuse("the lab's longhaul-agent needs the testbed's certificates: none was given as /etc/longhaul/ca.pem");
  return build_image(programs.files, options.kernel);
}

void drop_initrds(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".initrd") fs::remove(entry.path());
}

}  // namespace

std::string write_initrd(const std::string& directory, const PlannedMachine& machine, const LabPlan& plan,
                         const std::vector<OverlayFile>& more, const Image& image) {
  std::vector<OverlayFile> files = machine.files;
  for (const OverlayFile& file : more)
    if (belongs_here(file, plan, machine.name)) files.push_back(file);
  // A system with a disk gets them from there (image/systems-init).
  if (!image.disk.empty())
    for (OverlayFile& file : files) file.path = "/overlay" + file.path;
  std::string path = directory + "/" + machine.name + ".initrd";
  std::ofstream out(path, std::ios::binary);
  // Uncompressed first: behind a compressed archive the kernel would take it for more of the same.
  out << make_cpio(files);
  append_file(out, image.base);
  if (!image.programs.empty()) append_file(out, image.programs);
  if (!out.flush()) throw_errno("writing " + path);
  return path;
}

std::vector<Crossing> parse_crossings(const std::string& console) {
  std::vector<Crossing> crossings;
  std::istringstream lines(console);
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(kCrossedWord);
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + std::string_view(kCrossedWord).size()));
    Crossing crossing;
    if (words >> crossing.client_side >> crossing.server_side >> crossing.client_received >> crossing.client_sent >>
        crossing.server_received >> crossing.server_sent)
      crossings.push_back(std::move(crossing));
  }
  return crossings;
}

Result<void> check_crossings(const LabPlan& plan, const std::vector<Crossing>& crossings) {
  for (const PlannedLink& link : plan.links) {
    const auto found = std::ranges::find_if(crossings, [&](const Crossing& crossing) {
      return crossing.client_side == link.client_side && crossing.server_side == link.server_side;
    });
    if (found == crossings.end())
      return fail("the lab's router said nothing about the path {} - {}", link.client_side, link.server_side);
    if (!found->both_ways())
      return fail(
          "traffic from {} to {} does not cross the router: {} received {} and sent {} packets, {} received {} and "
          "sent {}",
          link.source, link.target, link.client_side, found->client_received, found->client_sent, link.server_side,
          found->server_received, found->server_sent);
  }
  return {};
}

Result<Booted> boot(const UpOptions& asked) {
  if (asked.clients < 1 || asked.clients > kMaxClients)
    return refuse("{} clients: expected 1 to {}", asked.clients, kMaxClients);
  if (auto valid = check_prefix(asked.prefix); !valid) return tl::unexpected(valid.error());
  if (asked.mtu < 576 || asked.mtu > 9000) return refuse("MTU {}: expected 576 to 9000", asked.mtu);
  if (asked.topology == Topology::systems && asked.kernel != KernelChoice{})
    return refuse("--kernel {}: whole Debian systems boot this machine's release; leave one of both out",
                  asked.kernel.kernel);
  UpOptions options = asked;
  const auto say = [&](const std::string& text) {
    if (options.progress) options.progress(text);
  };
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  PlanOptions wanted{.topology = choose_topology(options.topology, cores, options.clients + 2),
                     .clients = options.clients,
                     .prefix = options.prefix,
                     .mtu = options.mtu,
                     .cores = cores};

  Booted booted;
  booted.known = {
      .name = options.name, .topology = std::string(to_string(wanted.topology)), .ephemeral = options.ephemeral};
  auto directory = claim(booted.known);
  if (!directory) return tl::unexpected(directory.error());
  Undo undo(options.name);
  wanted.directory = *directory;

  auto image = prepare_image(options, wanted);
  if (!image) return tl::unexpected(image.error());
  const auto accelerator = choose_accelerator(*image);
  if (!accelerator) return tl::unexpected(accelerator.error());
  booted.known.emulated = accelerator->emulated;
  booted.known.kernel = image->release;
  auto keys = make_keys(*directory, whole_systems(wanted) ? SshServer::openssh : SshServer::dropbear);
  for (OverlayFile& file : keys) options.files.push_back(std::move(file));

  say(fmt::format("booting lab '{}': {}, Linux {}, {}", options.name, booted.known.topology, image->release,
                  accelerator->words));
  auto result = attempt_often(options, wanted, *directory, *image, *accelerator);
  if (!result) return tl::unexpected(result.error());

  // The VMs have read them, and there are keys inside.
  drop_initrds(*directory);
  const auto inventory = make_inventory(result->plan, {.emulated = booted.known.emulated,
                                                       .ca = options.ca,
                                                       .cert = options.cert,
                                                       .key = options.key,
                                                       .directory = *directory,
                                                       .program_dir = program_directory(options.program_dir)});
  if (auto written = replace_file(*directory + "/inventory.yml", inventory); !written)
    return tl::unexpected(written.error());
  for (const PlannedMachine& machine : result->plan.machines) booted.known.machines.push_back(machine.name);
  for (const PlannedNode& node : result->plan.nodes)
    booted.known.nodes.push_back(
        {.name = node.name, .machine = node.machine, .ssh_port = result->plan.machine_of(node).ssh_port});
  booted.known.phase = "up";
  if (auto saved = save(booted.known); !saved) return tl::unexpected(saved.error());
  booted.machines = std::move(result->machines);
  undo.keep();
  say(whole_systems(wanted)
          ? fmt::format("lab '{}' is up: {} Debian systems", options.name, result->plan.machines.size())
          : fmt::format("lab '{}' is up: traffic crosses the router on {} paths", options.name,
                        result->plan.links.size()));
  return booted;
}

}  // namespace longhaul::lab
