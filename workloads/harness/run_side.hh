// One process's part of a run: its parameters, what was used while its window was open, the record that comes of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/record.hh"
#include "model/units.hh"
#include "observe/clock.hh"
#include "observe/counters.hh"
#include "observe/cpu.hh"
#include "observe/cycles.hh"
#include "workloads/harness/events.hh"

namespace longhaul::workloads {

/// The processors that this process may use: a node's own where several nodes share a machine.
std::vector<int> own_processors();

/// The parameters that mean nothing on this transport: left out of the record.
std::vector<std::string> unused_on(const WorkloadSpec& spec, std::string_view transport);

/// `given` with the spec's defaults filled in; refuses unknown names and values out of range.
Result<Parameters> complete(const WorkloadSpec& spec, const Parameters& given);

/// That TCP ran short of memory since it had `before` times (observe::tcp_memory_pressures()), and what to do; empty:
/// it did not.
std::string short_of_memory(std::int64_t before);

/// The common part of the processes of every role. Tells the supervisor when its window opens and closes.
class RunSide {
 public:
  const WorkloadSpec& spec() const { return spec_; }
  const Parameters& parameters() const { return parameters_; }
  /// By name (model/transport.hh); empty: the workload has none.
  const std::string& transport() const { return transport_name_; }
  /// True if it is a byte stream: there is no `op` then.
  bool streams() const { return offers(transport_name_, Capability::stream); }
  std::int64_t number(std::string_view name) const { return integer(parameters_, spec_.parameters, name); }
  Nanoseconds duration(std::string_view name) const { return Nanoseconds{number(name)}; }
  std::string word(std::string_view name) const { return text(parameters_, spec_.parameters, name); }

  /// Processor use of this end during the window that has been closed.
  const CpuUse& cpu() const { return cpu_; }
  /// For what compares wall clocks: throws std::runtime_error when this end's was set since the window opened.
  void check_clock() const;
  /// The result is limited, and by what.
  void limit(std::string why) { limits_.push_back(std::move(why)); }

 protected:
  /// `unused`: parameters that are left out of the record.
  RunSide(const WorkloadSpec& spec, Role role, Parameters parameters, std::vector<std::string> unused,
          std::string transport, Events& events, int stop)
      : spec_(spec),
        parameters_(std::move(parameters)),
        transport_name_(std::move(transport)),
        events_(events),
        stop_(stop),
        role_(role),
        unused_(std::move(unused)) {}

  void open_window();
  void close_window();
  /// Tells the supervisor how far the run is, in [0, 1]; not more often than it wants to know.
  void progress(double done);
  /// The record of a good run, but for its transport.
  NodeRecord record(std::map<std::string, Metric> metrics) const;

  const WorkloadSpec& spec_;
  Parameters parameters_;
  std::string transport_name_;
  Events& events_;
  int stop_;  ///< readable when the user wants to end it

 private:
  Role role_;
  std::vector<std::string> unused_;
  std::int64_t pressures_ = observe::tcp_memory_pressures();  ///< before this part
  observe::CycleCounter cycles_;                              // threads that are begun later count, too
  std::optional<std::int64_t> cycles_start_;
  observe::CpuSample cpu_start_;
  CpuUse cpu_;
  std::int64_t window_start_ = 0;
  observe::RawTime window_opened_;  ///< the same moment, by a clock that nobody sets
  std::int64_t clock_offset_ = 0;   ///< wall clock less raw clock when the window opened
  std::int64_t window_stop_ = 0;
  observe::RawTime progress_due_;
  std::vector<std::string> limits_;
};

}  // namespace longhaul::workloads
