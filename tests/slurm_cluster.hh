// Debian's Slurm on this machine: a controller and some nodes.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/child.hh"
#include "common/fd.hh"
#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {

/// munged, slurmctld and a slurmd a node (n1 to n4, or as many as LONGHAUL_SLURM_NODES says), in a folder that goes
/// with them. SLURM_CONF leads to it.
class SlurmCluster {
 public:
  /// Which program there is not; empty: none.
  static std::string missing();

  /// Throws std::runtime_error when the nodes do not become idle.
  SlurmCluster();

  void start_controller();
  /// As an operator does. One that is killed begins again from what it saved some seconds before, and takes minutes to
  /// find out which of its jobs have ended since.
  void stop_controller();
  void start_node(int number);
  /// As a machine that loses its power: the daemon, and all that it has started.
  void kill_node(int number);
  /// What a job has started there, its steps' keepers with it.
  static std::vector<pid_t> processes_of(int number);
  /// squeue's lines, of all jobs.
  static std::string queue();

 private:
  std::string at(const char* name) const { return (folder_.path() / name).string(); }
  Child start(std::vector<std::string> command);

  TemporaryDirectory folder_;
  OwnFd log_;
  std::map<std::string, Child> daemons_;
};

/// Tests that share a cluster and a folder; skipped where there is no Slurm.
class SlurmTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!SlurmCluster::missing().empty()) return;
    cluster_ = std::make_unique<SlurmCluster>();
    directory_ = std::make_unique<TemporaryDirectory>();
  }
  static void TearDownTestSuite() {
    directory_.reset();
    cluster_.reset();
  }
  void SetUp() override {
    if (!cluster_) GTEST_SKIP() << SlurmCluster::missing();
  }
  static std::string path(const std::string& name) { return (directory_->path() / name).string(); }

  static inline std::unique_ptr<SlurmCluster> cluster_;
  static inline std::unique_ptr<TemporaryDirectory> directory_;
};

}  // namespace longhaul::testing
