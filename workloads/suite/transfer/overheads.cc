#include "workloads/suite/transfer/overheads.hh"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "common/error.hh"
#include "common/fd.hh"
#include "observe/clock.hh"
#include "workloads/harness/session.hh"

namespace longhaul::workloads::transfer {
namespace {

constexpr int kWrites = 5;  // each takes a round trip
constexpr int kWakes = 30;
constexpr int kCalls = 200;

// Time of taking a completion, less that of a look in vain.
Metric completion_entry(Connection& connection, std::size_t scratch) {
  Histogram with;
  Histogram without;
  std::array<Completion, 1> done;
  for (int i = 0; i < kWrites; ++i) {
    connection.post({.operation = Operation::write, .local = scratch, .length = 1, .remote = scratch});
    for (bool found = false; !found;) {
      const auto before = observe::raw_time();
      found = connection.poll(done) == 1;
      (found ? with : without).record((observe::raw_time() - before).count());
    }
  }
  const auto vain = without.count() == 0 ? 0.0 : without.quantile(0.5);
  return to_metric(std::max(0.0, with.quantile(0.5) - vain), kWrites);
}

Metric wake_up() {
  const OwnFd fd{check(::eventfd(0, EFD_CLOEXEC), "create an event descriptor")};
  std::atomic<observe::RawTime> woken{};
  std::atomic<bool> waiting = false;
  std::jthread sleeper{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      waiting = true;
      std::uint64_t rings = 0;
      if (::read(fd.get(), &rings, sizeof rings) < 0) return;
      woken = observe::raw_time();
    }
  }};
  const auto ring = [&] {
    const std::uint64_t one = 1;
    check(::write(fd.get(), &one, sizeof one), "ring an event descriptor");
  };
  Histogram times;
  for (int i = 0; i < kWakes; ++i) {
    while (!waiting.exchange(false)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds{100});
    woken = observe::RawTime{};
    const auto rung = observe::raw_time();
    ring();
    while (woken.load() == observe::RawTime{}) std::this_thread::yield();
    times.record((woken.load() - rung).count());
  }
  sleeper.request_stop();
  ring();
  return to_metric({.histogram = times, .raw = {}});
}

Metric system_call() {
  Histogram times;
  for (int i = 0; i < kCalls; ++i) {
    const auto before = observe::raw_time();
    ::syscall(SYS_getppid);
    times.record((observe::raw_time() - before).count());
  }
  return to_metric({.histogram = times, .raw = {}});
}

}  // namespace

std::map<std::string, Metric> measure_overheads(Connection& connection, std::size_t scratch) {
  return {{"completion_entry", completion_entry(connection, scratch)},
          {"wake_up", wake_up()},
          {"system_call", system_call()}};
}

}  // namespace longhaul::workloads::transfer
