#include "workloads/harness/loop.hh"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "common/error.hh"
#include "model/units.hh"
#include "observe/clock.hh"
#include "observe/polling.hh"
#include "workloads/harness/waiter.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kTick = 4ms;    // between looks at the world while spinning
constexpr Nanoseconds kSleep = 50ms;  // while sleeping, descriptors wake it for anything urgent

// The part of both loops for idle rounds, and for looks at the world now and then. False: the tick ended the loop.
class Idle {
 public:
  Idle(const Lanes& lanes, const LoopOptions& options)
      : options_(options), pace_(kTick), progress_(observe::raw_time()) {
    if (options.sleeping) waiter_ = std::make_unique<Waiter>(lanes, options.wake_fds);
  }

  bool progressed(observe::RawTime now) {
    progress_ = now;
    polling_.something();
    return !pace_.due(now) || tick();
  }

  // The same where nobody has read the clock.
  bool answered() {
    polling_.something();
    return !pace_.worth_a_look() || !pace_.due(observe::raw_time()) || tick();
  }

  bool idle() {
    if (waiter_) {
      polling_.something();
      if (!waiter_->sleep(kSleep)) return true;
    } else {
      polling_.nothing();
      if (!pace_.worth_a_look() || !pace_.due(observe::raw_time())) return true;
    }
    if (!tick()) return false;
    if (options_.timeout > 0ns && observe::raw_time() - progress_ > options_.timeout)
      throw_errno(
          fmt::format("no operation came to its end for {}", format_quantity(Kind::duration, options_.timeout.count())),
          ETIMEDOUT);
    return true;
  }

 private:
  bool tick() const { return !options_.tick || options_.tick(); }

  const LoopOptions& options_;
  Pace pace_;
  observe::Polling& polling_ = observe::polling();
  observe::RawTime progress_;
  std::unique_ptr<Waiter> waiter_;
};

// Of the kind that has the fewest, with the one operation that is not recorded yet: it counts where there is only one.
std::uint64_t fewest(const std::vector<Samples>& all, const LoopOptions& options) {
  if (options.count) return options.count();
  auto least = all.front().histogram.count();
  for (const auto& samples : all) least = std::min(least, samples.histogram.count());
  return least + (all.size() == 1 ? 1 : 0);
}

struct Slot {
  Lane* lane;
  observe::RawTime started;
  bool busy;
  std::optional<Nanoseconds> last;  // its last operation is over, something else of it is still under way
};

}  // namespace

std::vector<Samples> run_operations(const Lanes& lanes, Window window, const LoopOptions& options) {
  std::vector<Samples> all(options.kinds);
  for (auto& samples : all) samples.raw.reserve(options.raw_limit);
  Idle idle{lanes, options};
  std::vector<Slot> slots;
  slots.reserve(lanes.size());
  for (const auto& lane : lanes) lane->reset();
  window.open(observe::raw_time());
  for (const auto& lane : lanes) {
    slots.push_back({lane.get(), observe::raw_time(), true, {}});
    lane->start();
  }
  std::size_t busy = slots.size();
  bool over = false;
  while (busy > 0) {
    bool progressed = false;
    for (auto& slot : slots) {
      if (!slot.busy || !slot.lane->advance()) continue;
      progressed = true;
      const auto now = observe::raw_time();
      const auto sample = slot.last.value_or((now - slot.started) / options.divisor);
      auto& samples = all[slot.lane->kind()];
      over = over || window.over(now, fewest(all, options));
      if (over) {
        if (!slot.lane->idle()) {
          slot.last = sample;
          continue;
        }
        slot.busy = false;
        --busy;
        if (options.inspecting) slot.lane->inspect();
      } else if (options.inspecting) {
        slot.lane->inspect();
        slot.started = observe::raw_time();
        slot.lane->start();
      } else {
        slot.started = now;
        slot.lane->start();
      }
      // The sample is kept while the next operation is on its way.
      samples.add(sample, options.raw_limit);
      if (!idle.progressed(now)) return all;
    }
    if (!progressed && !idle.idle()) return all;
  }
  return all;
}

void serve(const Lanes& lanes, const LoopOptions& options) {
  Idle idle{lanes, options};
  for (;;) {
    bool progressed = false;
    for (const auto& lane : lanes) progressed = lane->advance() || progressed;
    if (!(progressed ? idle.answered() : idle.idle())) return;
  }
}

}  // namespace longhaul::workloads
