#include "orchestrator/sealed/inject.hh"

#include <signal.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <time.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/describe/enum_from_string.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include "common/child.hh"
#include "common/error.hh"
#include "common/log.hh"
#include "lab/machine.hh"
#include "lab/plan/guest.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

using Undo = std::function<void()>;

constexpr time_t kStep = 3600;  // s

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream{file};
  if (!(stream << text << std::flush))
    throw std::system_error(errno, std::generic_category(), "writing " + file.string());
}

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::vector<std::string> words;  // its command line

  bool is(std::string_view program) const {
    return !words.empty() && fs::path{words.front()}.filename().string() == program;
  }
};

std::vector<Process> processes() {
  std::vector<Process> all;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    Process process;
    if (std::from_chars(name.data(), name.data() + name.size(), process.pid).ptr != name.data() + name.size()) continue;
    auto line = lab::read_text(entry.path() / "cmdline");
    for (std::size_t end = 0; (end = line.find('\0')) != std::string::npos; line.erase(0, end + 1))
      process.words.push_back(line.substr(0, end));
    const auto status = lab::read_text(entry.path() / "status");
    const auto parent = status.find("PPid:\t");
    if (parent != std::string::npos) process.parent = std::stoi(status.substr(parent + 6));
    all.push_back(std::move(process));
  }
  return all;
}

// The first node of that role.
const Node* node_of(const Testbed& testbed, const std::string& role) {
  Role wanted{};
  if (!boost::describe::enum_from_string(role.c_str(), wanted)) return nullptr;
  const auto nodes = testbed.with_role(wanted);
  return nodes.empty() ? nullptr : nodes.front();
}

std::vector<pid_t> processes_called(std::string_view program) {
  std::vector<pid_t> found;
  for (const auto& process : processes())
    if (process.is(program)) found.push_back(process.pid);
  return found;
}

// The node's agent, what the agent has started, and on a router degen.
struct NodeProcesses {
  std::vector<pid_t> agent, bench, degen;
};

NodeProcesses processes_of(const Node& node) {
  const auto all = processes();
  NodeProcesses found;
  for (const auto& process : all) {
    const auto named = std::find(process.words.begin(), process.words.end(), node.name);
    if (process.is("longhaul-agent") && named != process.words.end()) found.agent = {process.pid};
    if (node.role == Role::router && process.is("degen")) found.degen.push_back(process.pid);
  }
  for (const auto& process : all)
    if (!found.agent.empty() && process.parent == found.agent.front() && process.is("longhaul-bench"))
      found.bench.push_back(process.pid);
  return found;
}

std::vector<pid_t> processes_of(const InjectionTarget& target, const Testbed& testbed) {
  if (target.role.empty()) return processes_called(target.program);
  const auto* node = node_of(testbed, target.role);
  if (node == nullptr) return {};
  const auto all = processes_of(*node);
  return target.program == "agent" ? all.agent : all.bench;
}

void signal_all(const std::vector<pid_t>& processes, int signal) {
  for (const pid_t process : processes) ::kill(process, signal);
}

// The whole way that an OOM kill takes: the kernel chooses, by the score, and kills. Agents make their children the
// first to go, so that others must not be chosen instead.
void run_out_of_memory(const std::vector<pid_t>& chosen) {
  const auto score = [](pid_t process, const char* adjusted) {
    write_text(fmt::format("/proc/{}/oom_score_adj", process), adjusted);
  };
  for (const auto& process : processes())
    if (process.is("longhaul-bench")) score(process.pid, "0");
  for (const pid_t process : chosen) {
    score(process, "1000");
    write_text("/proc/sysrq-trigger", "f");
  }
}

// Not one page and not one file more than there is now.
Undo fill(const std::string& mount) {
  struct statvfs now {};
  check(::statvfs(mount.c_str(), &now), "asking for the room of " + mount);
  if (now.f_blocks == 0) throw std::runtime_error(mount + " is no file system whose size can be set");
  const auto set = [mount](std::uint64_t bytes, std::uint64_t files) {
    const auto options = fmt::format("size={},nr_inodes={}", bytes, files);
    check(::mount("tmpfs", mount.c_str(), nullptr, MS_REMOUNT, options.c_str()), "setting the size of " + mount);
  };
  const std::uint64_t block = now.f_frsize;
  set((now.f_blocks - now.f_bfree) * block, now.f_files - now.f_ffree);
  return [set, bytes = now.f_blocks * block, files = now.f_files] { set(bytes, files); };
}

void ip(const std::vector<std::string>& words) {
  std::vector<std::string> command{"ip"};
  command.insert(command.end(), words.begin(), words.end());
  if (const auto done = run_command(command); !done.exit.ok()) throw std::runtime_error("ip rule: " + done.exit.text());
}

// Routes to nowhere, before any other rule: for what goes to the agent's port and for what comes from it.
Undo part(const Node& node) {
  const auto rules = [port = std::to_string(node.port)](const char* verb) {
    for (const char* way : {"sport", "dport"})
      ip({"rule", verb, "pref", "5", "ipproto", "tcp", way, port, "type", "blackhole"});
  };
  rules("add");
  return [rules] { rules("del"); };
}

// As a machine that has lost its power looks to the others: nothing of it runs, no packet reaches it, leaves it or is
// forwarded by it. Its programs are started again at once, but nobody hears of them until it is undone.
Undo power_off(const Node& node) {
  const auto isolated = [node](const char* verb) {
    if (node.role == Role::router)
      ip({"-netns", lab::kRouterNamespace, "rule", verb, "pref", "5", "type", "blackhole"});
    for (const auto& attachment : node.attachments) {
      ip({"rule", verb, "pref", "5", "iif", attachment.netdev, "type", "blackhole"});
      ip({"rule", verb, "pref", "5", "iif", "lo", "from", attachment.address, "type", "blackhole"});  // what it sends
    }
  };
  auto control = part(node);
  isolated("add");
  const auto all = processes_of(node);
  for (const auto* some : {&all.agent, &all.bench, &all.degen}) signal_all(*some, SIGKILL);
  return [isolated, control = std::move(control)] {
    isolated("del");
    control();
  };
}

void step_clock(time_t by) {
  timespec now{};
  check(::clock_gettime(CLOCK_REALTIME, &now), "reading the clock");
  now.tv_sec += by;
  check(::clock_settime(CLOCK_REALTIME, &now), "setting the clock");
}

Result<Undo> carry_out(const Injection& injection, const Testbed& testbed) {
  const auto target = target_of(injection);
  if (injection.fault == "disk-full") return fill(injection.target);
  if (injection.fault == "clock-step") {
    step_clock(injection.target == "back" ? -kStep : kStep);
    return Undo{};
  }
  if (injection.fault == "reset") {
    if (injection.target == "driver") ::raise(SIGKILL);
    write_text("/proc/sysrq-trigger", "b");
    return Undo{};
  }
  if (injection.fault == "partition" || injection.fault == "power-off") {
    const auto* node = node_of(testbed, target.role);
    if (node == nullptr) return fail("this testbed has no {}", target.role);
    return injection.fault == "partition" ? part(*node) : power_off(*node);
  }
  const auto hit = processes_of(target, testbed);
  if (hit.empty()) return fail("no process of {} runs at this moment", injection.target);
  if (injection.fault == "kill") {
    signal_all(hit, SIGKILL);
  } else if (injection.fault == "oom") {
    run_out_of_memory(hit);
  } else if (injection.fault == "stop") {
    signal_all(hit, SIGSTOP);
    return Undo{[hit] { signal_all(hit, SIGCONT); }};
  }
  return Undo{};
}

}  // namespace

Result<void> inject(const Injection& injection, const Testbed& testbed, const boost::asio::any_io_executor& executor) {
  Undo undo;
  try {
    auto done = carry_out(injection, testbed);
    if (!done) return tl::unexpected(done.error());
    undo = std::move(*done);
  } catch (const std::exception& error) {
    return fail("{}", error.what());
  }
  const auto* fault = find_fault(injection.fault);
  if (!undo || fault == nullptr || fault->lasts.count() == 0) return {};
  auto timer = std::make_shared<boost::asio::steady_timer>(executor, fault->lasts);
  timer->async_wait([timer, undo = std::move(undo)](boost::system::error_code cancelled) {
    if (cancelled) return;
    try {
      undo();
    } catch (const std::exception& error) {
      log::error("undoing an injected fault: {}", error.what());
    }
  });
  return {};
}

}  // namespace longhaul::orchestrator
