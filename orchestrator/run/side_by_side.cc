#include "orchestrator/run/side_by_side.hh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace longhaul::orchestrator {
namespace {

constexpr auto kGlance = std::chrono::milliseconds{100};  // how soon Ctrl-C is noticed

class Work {
 public:
  Work(const std::vector<PlannedRun>& runs, const SideBySide& options)
      : options_(options), waiting_(runs.begin(), runs.end()) {}

  // A worker's life: until nothing more is to come.
  void help() {
    std::unique_lock lock{mutex_};
    for (;;) {
      change_.wait(lock, [&] { return stopped_ || !waiting_.empty() || over(); });
      if (stopped_ || waiting_.empty()) return;
      const auto run = waiting_.front();
      waiting_.pop_front();
      ++busy_;
      lock.unlock();
      try {
        auto said = options_.make(run, [this] { return stopped_.load(); });
        lock.lock();
        said_.emplace_back(run, std::move(said));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!broken_) broken_ = std::current_exception();
      }
      --busy_;
      change_.notify_all();
    }
  }

  Result<void> take_all() {
    std::unique_lock lock{mutex_};
    for (;;) {
      if (broken_) std::rethrow_exception(broken_);
      if (over()) return {};
      if (options_.interrupted()) return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
      if (said_.empty()) {
        change_.wait_for(lock, kGlance);
        continue;
      }
      const auto [run, said] = std::move(said_.front());
      said_.pop_front();
      ++busy_;  // it may bring another run
      lock.unlock();
      auto another = options_.take(run, said);
      lock.lock();
      --busy_;
      if (!another) return tl::unexpected(another.error());
      if (*another) waiting_.push_back(**another);
      change_.notify_all();
    }
  }

  void stop() {
    const std::scoped_lock lock{mutex_};
    stopped_ = true;
    change_.notify_all();
  }

 private:
  bool over() const { return waiting_.empty() && busy_ == 0 && said_.empty(); }

  const SideBySide& options_;
  std::mutex mutex_;
  std::condition_variable change_;
  std::deque<PlannedRun> waiting_;
  std::deque<std::pair<PlannedRun, Result<std::string>>> said_;
  std::exception_ptr broken_;  // what a worker's run threw
  std::size_t busy_ = 0;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

Result<void> run_side_by_side(const std::vector<PlannedRun>& runs, const SideBySide& options) {
  Work work{runs, options};
  std::vector<std::jthread> workers;
  // Told before they are waited for, also where one cannot be started.
  struct Stop {
    Work& work;
    ~Stop() { work.stop(); }
  } const at_the_end{work};
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(options.workers, 1), runs.size()); ++i)
    workers.emplace_back([&work] { work.help(); });
  return work.take_all();
}

}  // namespace longhaul::orchestrator
