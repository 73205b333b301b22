// The lab: a testbed of micro-VMs on this machine, with RDMA by the kernel's rxe and siw. Unprivileged.
//
//   up() boots it and proves that traffic crosses the router; the Lab that it returns owns an ephemeral lab and watches
//   over it. down(), status() and exec() work on any lab by its name, from any process of the same user.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "lab/kernel.hh"
#include "lab/plan/topology.hh"

namespace longhaul::lab {

struct UpOptions {
  std::string name = "default";  ///< several labs live side by side; letters, digits, '-', '_'
  Topology topology = Topology::automatic;
  unsigned clients = 1;  ///< client, client2, client3 ...
  std::string prefix;    ///< of all nodes' names: two labs that share a campaign have different ones
  unsigned mtu = 1500;   ///< of the measured interfaces
  KernelChoice kernel;   ///< whole systems have this machine's
  /// Programs put into the guests' /usr/bin: longhaul-agent, longhaul-bench and degen are looked for here; one that is
  /// missing is left out with a warning. Empty: the folder of the running executable.
  std::string program_dir;
  /// Files given to every VM: the testbed's certificates. Never cached. See node_names() for whom to make them.
  std::vector<OverlayFile> files;
  /// The controller's credentials, named in the inventory; may be empty.
  std::string ca, cert, key;
  /// True: the lab ends with the returned Lab, and with this process however it dies. Call up() from a thread that
  /// lives as long as the lab, because the kernel ties the VMs to that thread. False: it stays until down().
  bool ephemeral = false;
  /// One line for people at each step; may be empty.
  std::function<void(const std::string&)> progress;
  /// Polled while waiting; true gives up and takes everything down (Ctrl-C). May be empty.
  std::function<bool()> cancelled;
};

/// A VM that is no longer there, and what it said last.
struct DeadMachine {
  std::string name;
  std::string console_tail;
};

/// A running lab. Move-only. The destructor takes an ephemeral lab down and leaves any other alone.
class Lab {
 public:
  struct State;
  explicit Lab(std::unique_ptr<State> state);
  Lab(Lab&&) noexcept;
  Lab& operator=(Lab&&) noexcept;
  ~Lab();

  const std::string& name() const;
  Topology topology() const;          ///< compact or full
  bool emulated() const;              ///< true: TCG, no KVM
  const std::string& kernel() const;  ///< its release
  std::string directory() const;
  std::string inventory_path() const;
  /// The first VM that has died, if one has. Cheap: call it whenever a node does not answer.
  std::optional<DeadMachine> dead_machine();
  /// The last lines of its VMs' consoles, to go behind a sentence: for when a node is silent and no VM is dead.
  std::string console_tails() const;
  /// Ends the VMs and removes every trace. Idempotent.
  void down();

 private:
  std::unique_ptr<State> state_;
};

/// Builds the image when it is not cached, boots, waits until every service listens and traffic was seen crossing the
/// router. Refuses a name in use. Cleans what dead owners left behind. Throws std::system_error when the machine is
/// broken.
Result<Lab> up(const UpOptions& options);

/// Takes a lab down; refuses a name that is not there.
Result<void> down(const std::string& name);

struct MachineStatus {
  std::string name;
  int pid = -1;
  bool running = false;
  std::string console;  ///< path of its console log
};

struct LabStatus {
  std::string name;
  std::string topology;
  std::string kernel;  ///< its release; empty while it is starting
  bool emulated = false;
  bool ephemeral = false;
  std::string phase;  ///< starting, up, or broken (a VM died)
  std::string directory;
  std::string inventory;
  std::vector<MachineStatus> machines;
  std::vector<std::string> nodes;
};

/// Every lab of this user, after cleaning what dead owners left behind.
std::vector<LabStatus> status();

struct ExecOptions {
  std::string lab = "default";
  std::string node;
  std::vector<std::string> command;
};

/// Runs a command on a node, as root, in that node's view of the network, with our stdin, stdout and stderr; returns
/// its exit code. Its environment names the node's place in the testbed: LONGHAUL_NODE, and on end nodes LONGHAUL_ADDR,
/// LONGHAUL_DEVICE, LONGHAUL_NETDEV (the rxe attachment), LONGHAUL_ADDR_SIW, LONGHAUL_DEVICE_SIW, LONGHAUL_NETDEV_SIW,
/// and for the far end LONGHAUL_PEER and LONGHAUL_PEER_SIW. Several may run at once.
Result<int> exec(const ExecOptions& options);

/// The argv that exec() would run on this machine, for callers that start it themselves (`environment` is added to
/// theirs).
struct ExecCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};
Result<ExecCommand> exec_command(const ExecOptions& options);

}  // namespace longhaul::lab
