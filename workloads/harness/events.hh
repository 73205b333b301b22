// Events for the supervisor (child contract): frames on the descriptor that LONGHAUL_EVENT_FD names.
#pragma once

#include <optional>
#include <string>

#include "common/fd.hh"
#include "common/result.hh"
#include "model/event.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

class Events {
 public:
  /// No supervisor: events go nowhere.
  Events() = default;
  explicit Events(OwnFd fd) : fd_(std::move(fd)) {}
  /// From the environment. Refuses a value that is not an open descriptor.
  static Result<Events> from_environment();

  explicit operator bool() const { return static_cast<bool>(fd_); }
  /// Stamps the time. Waits while the descriptor is full; a supervisor that is gone is not told any more.
  void emit(BenchEvent event);
  void emit(BenchEventKind kind, std::optional<std::string> message = {});
  /// The last event of a run: its record, or why there is none.
  void conclude(const Attempt<NodeRecord>& outcome);

 private:
  OwnFd fd_;
};

}  // namespace longhaul::workloads
