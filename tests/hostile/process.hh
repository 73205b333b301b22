// Programs under test as processes, their output in a file.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/child.hh"
#include "common/error.hh"
#include "common/fd.hh"

namespace longhaul::testing_support {

inline std::string text_of(const std::filesystem::path& file) {
  std::ostringstream all;
  all << std::ifstream(file).rdbuf();
  return all.str();
}

/// A program with its standard output and error in `log`. Its input ends with end_input(), or with this object.
class Running {
 public:
  Running(std::vector<std::string> arguments, std::filesystem::path log, std::string directory = {})
      : log_(std::move(log)) {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC), "making a pipe");
    const OwnFd input{ends[0]};
    hold_ = OwnFd{ends[1]};
    const OwnFd file{check(::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "opening a log")};
    child_ =
        Child{{.arguments = std::move(arguments),
               .descriptors = {{input.get(), STDIN_FILENO}, {file.get(), STDOUT_FILENO}, {file.get(), STDERR_FILENO}},
               .environment = {},
               .working_directory = std::move(directory)}};
  }
  Child& child() { return child_; }
  std::string said() const { return text_of(log_); }
  void end_input() { hold_ = OwnFd{}; }
  /// Whether it says `word` before it ends, within a minute.
  bool says(const std::string& word, std::chrono::seconds limit = std::chrono::seconds{60}) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (said().find(word) == std::string::npos) {
      if (child_.poll() || std::chrono::steady_clock::now() > until) return said().find(word) != std::string::npos;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return true;
  }

 private:
  std::filesystem::path log_;
  OwnFd hold_;
  Child child_;
};

}  // namespace longhaul::testing_support
