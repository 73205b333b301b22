#include "tests/slurm_cluster.hh"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "common/error.hh"
#include "tests/free_port.hh"

namespace longhaul::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

int nodes() {
  const char* asked = std::getenv("LONGHAUL_SLURM_NODES");
  return asked == nullptr ? 4 : std::stoi(asked);
}

}  // namespace

std::string SlurmCluster::missing() {
  for (const char* program : {"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/bin/sbatch", "/usr/sbin/munged"})
    if (!fs::exists(program)) return fmt::format("{} is missing: apt-get install slurmctld slurmd munge", program);
  return "";
}

SlurmCluster::SlurmCluster() {
  write_file(at("key"), std::string(128, 'k'));
  fs::permissions(at("key"), fs::perms::owner_read);
  for (const char* name : {"state", "spool"}) fs::create_directory(folder_.path() / name);
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  *std::find(host, host + sizeof host - 1, '.') = '\0';
  // Names of users, since slurm.conf knows no numbers.
  const auto user = run_program({"id", "-un"}).out;
  const auto name = user.substr(0, user.find('\n'));
  const auto ports = free_ports(1 + static_cast<std::size_t>(nodes()));
  std::string text = fmt::format(
      "ClusterName=test\nSlurmctldHost={0}(127.0.0.1)\nSlurmctldPort={1}\nSlurmUser={2}\nSlurmdUser={2}\n"
      "AuthType=auth/munge\nAuthInfo=socket={3}/munge\nCredType=cred/munge\nStateSaveLocation={3}/state\n"
      "SlurmdSpoolDir={3}/spool/%n\nSlurmctldPidFile={3}/ctld.pid\nSlurmdPidFile={3}/%n.pid\n"
      "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_CPU\nSchedulerParameters=sched_interval=1,bf_interval=1\nReturnToService=2\n"
      "SlurmdTimeout=10\nKillWait=2\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n"
      "AccountingStorageType=accounting_storage/none\nSlurmdParameters=config_overrides\n",
      host, ports[0], name, folder_.path().string());
  for (int i = 1; i <= nodes(); ++i)
    text += fmt::format("NodeName=n{} NodeHostname={} NodeAddr=127.0.0.1 Port={} CPUs=1\n", i, host,
                        ports[static_cast<std::size_t>(i)]);
  text += fmt::format("PartitionName=main Nodes=n[1-{}] Default=YES MaxTime=INFINITE State=UP\n", nodes());
  write_file(at("slurm.conf"), text);
  ::setenv("SLURM_CONF", at("slurm.conf").c_str(), 1);
  log_ = OwnFd{::open(at("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
  daemons_["munged"] =
      start({"/usr/sbin/munged", "--foreground", "--force", "--key-file=" + at("key"), "--socket=" + at("munge"),
             "--pid-file=" + at("munge.pid"), "--seed-file=" + at("munge.seed"), "--log-file=" + at("munge.log")});
  holds_within(5s, [&] { return fs::exists(at("munge")); });
  start_controller();
  for (int i = 1; i <= nodes(); ++i) start_node(i);
  const auto idle = [] {
    return run_program({"sinfo", "-h", "-t", "idle", "-o", "%D"}).out == fmt::format("{}\n", nodes());
  };
  if (!holds_within(30s, idle)) throw std::runtime_error("no Slurm here:\n" + read_file(at("log")));
}

void SlurmCluster::start_controller() {
  daemons_["controller"] = start({"/usr/sbin/slurmctld", "-D", "-i"});
}

void SlurmCluster::stop_controller() {
  daemons_["controller"].terminate(10s);
}

void SlurmCluster::start_node(int number) {
  daemons_[fmt::format("n{}", number)] = start({"/usr/sbin/slurmd", "-D", "-N", fmt::format("n{}", number)});
}

void SlurmCluster::kill_node(int number) {
  daemons_[fmt::format("n{}", number)] = Child{};
  for (const pid_t process : processes_of(number)) ::kill(process, SIGKILL);
}

std::vector<pid_t> SlurmCluster::processes_of(int number) {
  std::vector<pid_t> all;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto environment = read_file(entry.path() / "environ");
    if (environment.find(fmt::format("SLURMD_NODENAME=n{}", number) + '\0') != std::string::npos)
      all.push_back(std::stoi(entry.path().filename()));
  }
  return all;
}

std::string SlurmCluster::queue() {
  return run_program({"squeue", "-h", "-r"}).out;
}

Child SlurmCluster::start(std::vector<std::string> command) {
  return Child{{.arguments = std::move(command), .descriptors = {{log_.get(), 1}, {log_.get(), 2}}}};
}

}  // namespace longhaul::testing
