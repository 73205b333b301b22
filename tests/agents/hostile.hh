// An agent that is attacked: a controller that it goes on serving, one that comes anew, and its memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/protocol/tuple.hh"
#include "common/sanitized.hh"
#include "tests/agents/program.hh"

namespace longhaul::agents::testing_support {

using Clock = std::chrono::steady_clock;

// Bounds, for a machine of two processors of which the attacker takes one; without an attack an answer takes 1 ms.
inline constexpr auto kAnswer = 5s;
inline constexpr auto kAdmission = 10s;
// KiB; under a sanitizer what is freed stays for a while, so that its use would be seen.
inline constexpr std::int64_t kGrowth = (kSanitized ? 800 : 12) * 1024;

inline double milliseconds_of(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// A controller with a thread of its own that asks for facts all the time.
class Customer {
 public:
  Customer(Node node, Credentials with)
      : thread_([this, node = std::move(node), with = std::move(with)] { serve(node, with); }) {}
  ~Customer() {
    over_ = true;
    thread_.join();
  }
  bool connected() const { return answers() > 0; }
  std::size_t answers() const {
    const std::lock_guard held{mutex_};
    return took_.size();
  }
  /// So long took the answers, ms, the quickest first.
  std::vector<double> took() const {
    const std::lock_guard held{mutex_};
    auto sorted = took_;
    std::ranges::sort(sorted);
    return sorted;
  }
  std::string failure() const {
    const std::lock_guard held{mutex_};
    return failure_;
  }
  /// Forgets what was measured so far.
  void begin_anew() {
    const std::lock_guard held{mutex_};
    took_.clear();
  }

 private:
  void serve(Node node, Credentials with) {
    boost::asio::io_context context{1};
    boost::asio::co_spawn(
        context,
        [&, node, with]() -> Awaitable<void> {
          auto controller = co_await Controller::connect(node, with);
          if (!controller) co_return fail(controller.error().message);
          boost::asio::steady_timer pause{context};
          while (!over_) {
            const auto before = Clock::now();
            const auto facts = co_await controller->facts();
            if (!facts) co_return fail(facts.error().message);
            answered(milliseconds_of(Clock::now() - before));
            pause.expires_after(10ms);
            (void)co_await pause.async_wait(kTuple);
          }
        },
        boost::asio::detached);
    context.run();
  }
  void answered(double took) {
    const std::lock_guard held{mutex_};
    took_.push_back(took);
  }
  void fail(const std::string& why) {
    const std::lock_guard held{mutex_};
    failure_ = why;
  }

  std::atomic<bool> over_ = false;
  mutable std::mutex mutex_;
  std::vector<double> took_;
  std::string failure_;
  std::thread thread_;
};

/// What is asserted of it at its end holds for every attack.
class Besieged : public Program {
 protected:
  /// `bench`: what the agent starts; empty: nothing is to be started.
  explicit Besieged(const std::string& bench = {}) {
    if (!bench.empty()) options_.bench = bench;
    started_.emplace(start(arguments()));
    there_ = {.name = "node", .host = "127.0.0.1", .port = port_of(*started_)};
    customer_.emplace(there_, controller_);
    EXPECT_TRUE(eventually([&] { return customer_->connected() || !customer_->failure().empty(); }));
    before_ = memory_of(started_->child.pid(), "VmHWM");
  }

  /// After the attack.
  ~Besieged() override {
    newcomer();
    const auto grown = memory_of(started_->child.pid(), "VmHWM") - before_;
    const auto took = customer_->took();
    EXPECT_EQ(customer_->failure(), "");
    EXPECT_FALSE(took.empty());
    const auto slowest = took.empty() ? 0 : took.back();
    EXPECT_LT(slowest, milliseconds_of(kAnswer));
    EXPECT_LT(grown, kGrowth) << "KiB";
    EXPECT_TRUE(started_->child.running() && !started_->child.poll()) << text(started_->log);
    fmt::print(
        "  {} answers, the slowest after {:.1f} ms, the median {:.1f} ms; a newcomer was in after {} ms at most; "
        "memory "
        "{} KiB, grown by {}\n",
        took.size(), slowest, took.empty() ? 0 : took[took.size() / 2], admission_.count(),
        memory_of(started_->child.pid(), "VmRSS"), grown);
    customer_.reset();
  }

  /// Another controller, from outside: it may try again.
  void newcomer() {
    const auto start = Clock::now();
    std::string error = "never tried";
    while (!error.empty() && Clock::now() - start < kAdmission) {
      run([&]() -> Awaitable<void> {
        const auto controller = co_await Controller::connect(there_, controller_, {.connect_timeout = 3s});
        error = controller ? "" : controller.error().message;
      });
    }
    EXPECT_EQ(error, "");
    admission_ = std::max(admission_, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start));
  }

  std::optional<Started> started_;
  Node there_;
  std::optional<Customer> customer_;
  std::int64_t before_ = 0;
  std::chrono::milliseconds admission_{0};
};

}  // namespace longhaul::agents::testing_support
