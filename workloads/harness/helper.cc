#include "workloads/harness/helper.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/error.hh"
#include "common/fd.hh"
#include "observe/clock.hh"

namespace longhaul::workloads {
namespace {

constexpr std::chrono::milliseconds kGlance{5};

}  // namespace

bool has_helper(const char* pipe) {
  return ::access(pipe, W_OK) == 0;
}

void tell_helper(const char* pipe, const std::string& line) {
  const OwnFd fd{::open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
  const auto text = line + "\n";
  if (!fd || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw_errno(fmt::format("ask the helper at {}", pipe));
}

std::string await_helper(const std::string& path, Nanoseconds patience) {
  const auto deadline = observe::raw_time() + patience;
  while (!std::filesystem::exists(path)) {
    if (observe::raw_time() > deadline) throw_errno("wait for the helper's " + path, ETIMEDOUT);
    std::this_thread::sleep_for(kGlance);
  }
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

}  // namespace longhaul::workloads
