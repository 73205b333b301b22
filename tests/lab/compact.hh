// One VM holds client, server and router; booted once for all tests of the program.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "degen/engines/kernel.hh"
#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {

/// A metric of a node's record, in its base unit.
inline double metric(const boost::json::value& record, const char* name) {
  return record.at("metrics").at(name).at("value").to_number<double>();
}

class CompactLab : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    lab_ = std::make_unique<BootedLab>("compact");
    lab_->install("client", "degen_traffic");
  }
  static void TearDownTestSuite() { lab_.reset(); }
  void TearDown() override {
    if (HasFailure()) end_if_gone(lab_);
  }
  static BootedLab& lab() { return *lab_; }

  /// Whether the lab's kernel, which is this machine's, is of such a release or newer.
  static bool linux_since(int major, int minor) {
    return degen::at_least(lab().must("router", "uname -r"), major, minor);
  }

  /// Runs the latency workload by hand, both ends; the client's exit code, JSON on standard output.
  static Outcome latency(const std::string& provider, const std::string& options) {
    return by_hand("latency", provider, options);
  }
  static Outcome by_hand(const std::string& workload, const std::string& provider, const std::string& options) {
    const std::string s = provider == "rxe" ? "" : "_SIW";
    return lab().on("client", "export LONGHAUL_TOKEN=compact\ntaskset 2 longhaul-bench " + workload +
                                  " --listen --once --bind $LONGHAUL_PEER" + s +
                                  " >/dev/null 2>/tmp/server.log & p=$!\n" +
                                  wait_until("ss -Hltn 'sport = :7470' | grep -q .") + "taskset 1 longhaul-bench " +
                                  workload + " --connect $LONGHAUL_PEER" + s + " --bind $LONGHAUL_ADDR" + s +
                                  (options.find("--duration") == std::string::npos ? " --duration 200ms" : "") +
                                  " --json " + options +
                                  "; e=$?\n"
                                  "kill $p 2>/dev/null; wait; exit $e");
  }

  /// The records of both ends of such a run, by name of the end; null, and a failed test, where it fails.
  static boost::json::value records(const std::string& workload, const std::string& provider,
                                    const std::string& options) {
    const auto outcome = by_hand(workload, provider, options);
    EXPECT_EQ(outcome.code, 0) << workload << " " << provider << " " << options << ": " << outcome.out << outcome.err;
    return outcome.code == 0 ? boost::json::parse(outcome.out) : boost::json::value{};
  }

  /// Holds an impairment with `degen apply` and lets probes pass; the state as `degen show --json` tells it.
  static boost::json::value applied(const std::string& options, int probes = 60) {
    lab().must("router", "degen apply " + options + " --for 60s >/tmp/apply.log 2>&1 & sleep 1.5");
    lab().must("client", "/tmp/degen_traffic probe $LONGHAUL_ADDR $LONGHAUL_PEER " + std::to_string(probes));
    return boost::json::parse(lab().must("router", "degen show --json"));
  }
  static void clear() {
    // Its time may be over already.
    if (!lab().processes("router", "degen apply ").empty())
      static_cast<void>(lab().signal("router", "INT", "degen apply "));
    lab().must("router", "sleep 0.3; degen clear --force >/dev/null");
  }

 private:
  static inline std::unique_ptr<BootedLab> lab_;
};

}  // namespace longhaul::testing
