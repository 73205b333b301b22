// The program longhaul-agent as a process of its own, for tests.
#pragma once

#include <fcntl.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/child.hh"
#include "common/fd.hh"
#include "tests/agents/support.hh"

namespace longhaul::agents::testing_support {

inline constexpr const char* kProgram = LONGHAUL_BINARY_DIR "/bin/longhaul-agent";

class Program : public AgentTest {
 protected:
  struct Started {
    Child child;
    std::string log;
  };

  std::vector<std::string> arguments(const std::string& listen = "127.0.0.1:0") const {
    return arguments_of("node", options_.credentials, listen);
  }

  std::vector<std::string> arguments_of(const std::string& name, const Credentials& with,
                                        const std::string& listen = "127.0.0.1:0") const {
    return {kProgram, "--node",  name,    "--listen", listen,    "--ca",        with.ca,
            "--cert", with.cert, "--key", with.key,   "--bench", options_.bench};
  }

  Started start(const std::vector<std::string>& arguments, const std::string& name = "agent") {
    const auto log = (directory_.path() / (name + ".log")).string();
    const OwnFd file{::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    return {.child = Child{{.arguments = arguments,
                            .descriptors = {{file.get(), STDOUT_FILENO}, {file.get(), STDERR_FILENO}},
                            .environment = {},
                            .working_directory = {}}},
            .log = log};
  }

  /// The path of a bench that hangs, whatever it is asked; its first message is its process id.
  std::string hanging_bench() const {
    const auto hang = directory_.path() / "hang";
    std::ofstream(hang) << "#!/bin/sh\nexec " LONGHAUL_SOURCE_DIR "/tests/agents/bench.sh --mode=stubborn\n";
    fs::permissions(hang, fs::perms::owner_all);
    return hang.string();
  }

  static std::string text(const std::string& file) {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }

  /// The port of its first line; 0 when it does not come.
  std::uint16_t port_of(Started& started) {
    std::uint16_t port = 0;
    eventually([&] {
      const auto log = text(started.log);
      const auto at = log.find(" port ");
      if (at != std::string::npos && log.find('\n', at) != std::string::npos)
        port = static_cast<std::uint16_t>(std::stoi(log.substr(at + 6)));
      return port != 0 || !started.child.running() || started.child.poll();
    });
    EXPECT_NE(port, 0) << text(started.log);
    return port;
  }

  std::pair<int, std::string> refusal(const std::vector<std::string>& arguments) {
    auto started = start(arguments);
    const auto ended = started.child.wait(20s);
    return {ended ? ended->code.value_or(-1) : -2, text(started.log)};
  }
};

/// A figure of /proc/PID/status in KiB: VmRSS, VmHWM.
inline std::int64_t memory_of(pid_t pid, const std::string& what) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(what + ":")) return std::stoll(line.substr(what.size() + 1));
  return -1;
}

}  // namespace longhaul::agents::testing_support
