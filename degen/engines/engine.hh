// The doing half of an engine: it puts its planner's objects into the kernel. One is in use at a time; the service
// decides which.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "degen/impairment/lack.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

/// Of one way, since the engine's objects were made; they never fall while these objects live.
struct Counters {
  std::uint64_t dropped = 0;     ///< packets: asked losses and full queues together
  std::uint64_t overflowed = 0;  ///< of these, lost to full queues, where the engine can tell
  std::uint64_t numbered = 0;    ///< packets that came, where they are numbered (faults.hh)
};

/// What sweep() did on a router.
struct Swept {
  std::vector<std::string> removed;  ///< for people
  bool clean = true;                 ///< false: something could not be removed (logged); to be tried again
};

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;

  /// Looks whether `plan` can be applied, changes nothing. Refuses to touch what is not degen's own, naming it.
  virtual Result<void> check(const ImpairmentPlan& plan) = 0;

  /// Puts a plan into the kernel in place of the one before. When it fails, nothing of it is left.
  virtual Result<void> apply(const ImpairmentPlan& plan) = 0;

  /// Takes everything away that apply() made. Never throws. False: something could not be taken away (logged); sweep()
  /// finds it later.
  virtual bool clear() noexcept = 0;

  /// What of the applied plan is not in force any more, although nobody told this engine: a qdisc that a stranger
  /// removed, an interface that was made anew, a queue whose thread has stopped. Empty: all is there. Throws
  /// std::system_error.
  virtual std::optional<std::string> missing() = 0;

  virtual Counters counters(Way way) = 0;

  /// What it needs and cannot have here: by trying, without a trace. Throws std::system_error.
  virtual std::vector<Lack> lacks() { return {}; }

  /// What is random follows from the plan's seed; false: from the kernel's random numbers.
  virtual bool draws_by_seed() const { return true; }

  /// An engine whose objects need somebody as time goes on (a lease to be renewed, the next step of a schedule) does so
  /// here. Returns after what time it is to be called again; empty: not at all. May throw: the impairment is then
  /// cleared.
  virtual std::optional<Nanoseconds> renew() { return {}; }

  /// Removes what an earlier process left on these interfaces. One that makes trouble keeps none of the others.
  virtual Swept sweep(const std::vector<std::string>& interfaces) = 0;
};

struct EngineOptions {
  /// Engines that hold packets themselves stop sleeping so long before one is due, and spin. Sharper, but takes the
  /// processor from others.
  Nanoseconds spin{0};
  /// Called between the parts of what takes long, so that nobody takes it for a hang; none: nobody would.
  std::function<void()> alive;
};

/// All of them. Generated from the list in degen/engines/engines.cmake.
std::vector<std::unique_ptr<Engine>> make_engines(const EngineOptions& options);

}  // namespace longhaul::degen
