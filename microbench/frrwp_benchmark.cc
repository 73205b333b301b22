// Time from a key's arrival to the post of its write: the whole share of the engine of conditional writes,
// with its thread, its queue of commands and its matcher, over a provider that costs nothing. The peer is the main
// thread, on another processor: it puts a key into the engine's completion queue and notes when the write is posted.
//
//   frrwp_benchmark [ROUNDS]      a table: how the engine waits, writes held besides, p50, p99, largest (us)
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "observe/clock.hh"
#include "workloads/protocols/frrwp/engine.hh"
#include "workloads/transport/memory.hh"

namespace longhaul::workloads::frrwp {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLength = 4096;
constexpr Nanoseconds kPatience = std::chrono::hours{1};

void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

// The engine's end of a connection whose other end is the main thread.
class Wire final : public Connection {
 public:
  explicit Wire(std::size_t size) : memory_(size), event_(::eventfd(0, EFD_NONBLOCK)) {}

  // The peer's side.
  std::span<std::byte> slot(const Layout& layout, std::uint64_t number) {
    return memory_.bytes().subspan(layout.in + number % Layout::kSlots * Layout::kStride, Layout::kStride);
  }
  void arrive() {
    came_.fetch_add(1, std::memory_order_release);
    if (!armed_.exchange(false)) return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = ::write(event_.get(), &one, sizeof one);
  }
  std::uint64_t writes() const { return writes_.load(std::memory_order_acquire); }
  std::uint32_t sends() const { return sends_.load(std::memory_order_acquire); }
  observe::RawTime posted() const { return posted_.load(std::memory_order_relaxed); }

  // The engine's.
  void post(const Request& request) override {
    if (request.operation == Operation::write) {
      posted_.store(observe::raw_time(), std::memory_order_relaxed);
      writes_.fetch_add(1, std::memory_order_release);
    } else {
      sends_.fetch_add(1, std::memory_order_release);
    }
    if (request.signaled) ++complete_;
  }
  void post_receive(std::size_t, std::size_t) override {}
  std::size_t poll(std::span<Completion> out) override {
    if (complete_ > 0) {
      --complete_;
      out[0] = {Completion::Kind::sent, kLength};
      return 1;
    }
    if (taken_ == came_.load(std::memory_order_acquire)) return 0;
    ++taken_;
    out[0] = {Completion::Kind::received, kMessageSize};
    return 1;
  }
  bool arm() override {
    std::uint64_t rings = 0;
    [[maybe_unused]] const auto got = ::read(event_.get(), &rings, sizeof rings);
    armed_ = true;
    return complete_ == 0 && taken_ == came_.load();
  }
  int event_fd() const override { return event_.get(); }
  std::uint32_t wait_events() const override { return 1; }  // EPOLLIN
  std::span<std::byte> memory() override { return memory_.bytes(); }
  const std::vector<Capability>& capabilities() const override {
    static const std::vector<Capability> all{Capability::send_receive, Capability::write};
    return all;
  }
  TransportFacts facts() const override { return {}; }
  std::map<std::string, double> counters() const override { return {}; }
  bool counts_device() const override { return false; }
  std::vector<std::string> limits() const override { return {}; }
  void check_alive() override {}

 private:
  Memory memory_;
  OwnFd event_;
  alignas(64) std::atomic<std::uint64_t> came_{0};
  std::atomic<bool> armed_{false};
  alignas(64) std::atomic<std::uint64_t> writes_{0};
  std::atomic<std::uint32_t> sends_{0};
  std::atomic<observe::RawTime> posted_{};
  alignas(64) std::uint64_t taken_ = 0;
  std::size_t complete_ = 0;
};

struct Result {
  double p50, p99, most;
};

Result key_to_post(Engine::Waiting waiting, std::size_t held, std::size_t rounds) {
  const Layout layout{kLength};
  Wire wire{layout.total};
  pin(1);  // the engine's thread inherits it
  Engine engine{wire, layout, kPatience, waiting};
  pin(0);
  const auto order = [&](Tag tag) { return WriteOrder{tag, {{layout.buffers, kLength, {}}}, layout.buffers, kLength}; };
  const auto rest = [](Nanoseconds time) {
    for (const auto end = observe::raw_time() + time; observe::raw_time() < end;) {
    }
  };
  for (std::size_t i = 0; i < held; ++i) engine.hold(order(1'000'000'000 + static_cast<Tag>(i)));
  rest(200ms);
  std::vector<Nanoseconds> taken;
  for (Tag tag = 1; tag <= rounds; ++tag) {
    engine.hold(order(tag));
    rest(waiting == Engine::Waiting::spin ? 20us : 200us);  // the engine has it, and waits
    Message key{.kind = Kind::stcrw,
                .tag = tag,
                .length = kLength,
                .segments = {{layout.buffers, kLength, 0}},
                .moments = {},
                .reason = {},
                .taken = wire.sends()};
    encode(wire.slot(layout, tag - 1), key);
    const auto came = observe::raw_time();
    wire.arrive();
    while (wire.writes() < tag) {
    }
    taken.push_back(wire.posted() - came);
    while (engine.next()) {
    }
  }
  std::sort(taken.begin(), taken.end());
  const auto at = [&](double share) {
    return ratio(taken[static_cast<std::size_t>(share * static_cast<double>(taken.size() - 1))], 1us);
  };
  return {at(0.5), at(0.99), at(1)};
}

void run(std::size_t rounds) {
  fmt::print("{:8} {:>12} {:>8} {:>8} {:>8}  (us, {} keys)\n", "engine", "held besides", "p50", "p99", "largest",
             rounds);
  for (const auto& [name, waiting] : {std::pair{"spins", Engine::Waiting::spin}, {"sleeps", Engine::Waiting::sleep}})
    for (const std::size_t held : {0U, 10'000U}) {
      const auto result = key_to_post(waiting, held, waiting == Engine::Waiting::spin ? rounds : rounds / 10);
      fmt::print("{:8} {:>12} {:8.2f} {:8.2f} {:8.1f}\n", name, held, result.p50, result.p99, result.most);
    }
}

}  // namespace
}  // namespace longhaul::workloads::frrwp

int main(int argc, char** argv) {
  const auto rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000;
  if (rounds < 100 || std::thread::hardware_concurrency() < 2) {
    fmt::print(stderr, "frrwp_benchmark [ROUNDS]: at least 100, on a machine with two processors\n");
    return 2;
  }
  longhaul::workloads::frrwp::run(rounds);
  return 0;
}
