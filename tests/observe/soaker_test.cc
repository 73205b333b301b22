// The kernel's account of a processor against a soaker: a process of the lowest priority that counts what is left.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "observe/clock.hh"
#include "observe/cpu.hh"

namespace longhaul::observe {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
// The kernel samples by its tick: 2000 of them at 250 Hz tell a share to about 1 %.
constexpr std::int64_t kWindow = 8'000 * kMillisecond;
constexpr int kLowest = 19;

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

// Adds up the time that it is given: laps of a small piece of work, without those in which others had the processor.
// A lap is 10 us here, a turn of the worker 1 ms or longer.
class Soaker {
 public:
  explicit Soaker(int cpu) : thread_{[this, cpu](const std::stop_token& stop) { soak(stop, cpu); }} {}
  std::int64_t soaked() const { return soaked_.load(std::memory_order_relaxed); }
  /// Processor time of its thread, ns.
  std::int64_t used() {
    clockid_t clock{};
    ::pthread_getcpuclockid(thread_.native_handle(), &clock);
    timespec time{};
    ::clock_gettime(clock, &time);
    return time.tv_sec * 1'000 * kMillisecond + time.tv_nsec;
  }

 private:
  void soak(const std::stop_token& stop, int cpu) {
    pin_to(cpu);
    ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLowest), 0);
    auto last = raw_time();
    while (!stop.stop_requested()) {
      volatile std::uint64_t work = 0;
      for (int i = 0; i < 5'000; ++i) work = work + 1;
      const auto now = raw_time();
      const auto took = (now - last).count();
      if (took < kMillisecond / 5) soaked_.fetch_add(took, std::memory_order_relaxed);
      last = now;
    }
  }

  std::atomic<std::int64_t> soaked_{0};
  std::jthread thread_;  // last: it uses the other
};

// Works in bursts of random length, so that it keeps no step with the kernel's tick.
void work_now_and_then(const std::stop_token& stop, int cpu) {
  pin_to(cpu);
  std::minstd_rand random{1};
  std::uniform_int_distribution<std::int64_t> length{kMillisecond, 9 * kMillisecond};
  while (!stop.stop_requested()) {
    const auto until = raw_time() + std::chrono::nanoseconds{length(random)};
    while (raw_time() < until) {
    }
    std::this_thread::sleep_for(std::chrono::nanoseconds{length(random)});
  }
}

TEST(CpuUse, AgreesWithASoakerThatCountsWhatIsLeft) {
  const int cpu = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  Soaker soaker{cpu};
  const std::jthread worker{work_now_and_then, cpu};
  const auto start = sample_cpu();
  const auto before = soaker.soaked(), used = soaker.used();
  std::this_thread::sleep_for(std::chrono::nanoseconds{kWindow});
  const auto left = static_cast<double>(soaker.soaked() - before);
  const auto own = static_cast<double>(soaker.used() - used);
  const auto use = cpu_use(start, sample_cpu(), {cpu});
  const auto wall = static_cast<double>(use.wall);
  // All but the soaker's own time, which the kernel counts as nice.
  const auto accounted = (static_cast<double>(use.node_user + use.node_nice + use.node_system + use.node_irq +
                                              use.node_softirq + use.node_steal) -
                          own) /
                         wall;
  const auto soaked = 1 - left / wall;
  RecordProperty("accounted", fmt::format("{:.3f}", accounted));
  RecordProperty("soaked", fmt::format("{:.3f}", soaked));
  EXPECT_NEAR(accounted, soaked, 0.05);
  EXPECT_GT(soaked, 0.2) << "the worker did not work";
}

}  // namespace
}  // namespace longhaul::observe
