// A booted lab that the tests of one program share, and the programs as a user starts them.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/child.hh"

namespace longhaul::testing {

/// A program's output with its exit; standard error is kept too.
struct Outcome {
  int code = -1;  ///< 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

std::string bin(const std::string& program);

/// Runs a program to its end; `environment` is added to ours ("NAME=value").
Outcome run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

/// Runs `longhaul` to its end.
Outcome longhaul(const std::vector<std::string>& arguments);

/// Starts `longhaul` and returns at once; output goes to `log`.
Child start_longhaul(const std::vector<std::string>& arguments, const std::filesystem::path& log);

/// `longhaul lab up` at construction, `lab down` at destruction. Throws std::runtime_error when it does not come up.
class BootedLab {
 public:
  /// `more`: further options of `lab up`.
  explicit BootedLab(const std::string& topology, const std::vector<std::string>& more = {});
  ~BootedLab();
  BootedLab(const BootedLab&) = delete;
  BootedLab& operator=(const BootedLab&) = delete;

  const std::string& name() const { return name_; }
  const std::string& inventory() const { return inventory_; }
  /// A shell script on a node, in its view of the network.
  Outcome on(const std::string& node, const std::string& script) const;
  /// The same; fails the test when it does not exit with 0. Returns its standard output.
  std::string must(const std::string& node, const std::string& script) const;
  /// The programs on a node whose command line has this text: their process ids, one a line.
  std::string processes(const std::string& node, const std::string& text) const;
  /// Sends a signal to them; false when after 5 s there is none.
  [[nodiscard]] bool signal(const std::string& node, const std::string& signal, const std::string& text) const;
  /// False when its router runs no command within 30 s: its VM's kernel stands still, or the VM is gone.
  bool answers() const;
  /// Copies a program of the build into /tmp of the node and makes it executable.
  void install(const std::string& node, const std::string& program) const;

 private:
  void show_consoles() const;

  std::string name_;
  std::string inventory_;
};

/// Ends the test program when the lab answers no more, after its consoles were shown and it was taken down: every
/// further test would wait for it in vain until ctest kills the program, and the VM would outlive it.
void end_if_gone(std::unique_ptr<BootedLab>& lab);

/// Waits until `condition` holds, `limit` at most; false: it does not.
bool holds_within(std::chrono::seconds limit, const std::function<bool()>& condition);

/// A line of shell that waits until `condition` holds, 5 s at most.
std::string wait_until(const std::string& condition);

/// A directory that goes with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::filesystem::path path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

/// cells.csv as rows of column -> text.
std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& path);

/// The same, but only the lines of one metric: each cell also has those of its processors.
std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& path, const std::string& metric);

/// A small campaign on a booted lab: send over rxe and siw and sockets, without delay and at 50 ms. Fails the test when
/// it does not exit with 0. The latencies of its cells.csv.
std::vector<std::map<std::string, std::string>> compare_latencies(const BootedLab& lab);

}  // namespace longhaul::testing
