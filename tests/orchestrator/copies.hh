// Copies of a sealed lab that is none: what they say follows from their orders alone, as it should.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/run/sealed.hh"

namespace longhaul::orchestrator::testing {

/// What a good copy measures.
inline RunRecord measured(const SealedOrder& order) {
  std::uint64_t mixed = order.variation.seed;
  for (const unsigned char c : order.cell_id) mixed = (mixed ^ c) * 0x100000001b3U;
  const auto base = static_cast<std::int64_t>(1000 + mixed % 1000);
  RunRecord record;
  record.run_id = fmt::format("{}/{}/{}", order.cell_id, order.repetition, order.attempt);
  record.cell_id = order.cell_id;
  record.workload = "ping";
  record.repetition = order.repetition;
  record.attempt = order.attempt;
  record.topology = "compact";
  record.started = 1'767'225'600'000'000'000 + order.variation.phase;
  record.finished = record.started + 5'000'000;
  NodeRecord client;
  client.workload = "ping";
  client.window_start = record.started + 1'000'000;
  client.window_stop = record.started + 2'000'000;
  client.metrics["latency"] = {
      .value = static_cast<double>(base) / 7, .samples = 2, .distribution = {}, .raw = {base, base + 1}};
  record.nodes["client"] = client;
  NodeRecord server;
  server.workload = "ping";
  server.role = Role::server;
  server.cpu = CpuUse{.wall = 1'000'000, .process_user = base};
  record.nodes["server"] = server;
  return record;
}

class Copies {
 public:
  /// `time`: how often the same order came before. May be replaced; called by several threads, one at a time.
  std::function<Result<std::string>(const SealedOrder& order, int time)> answer = [](const SealedOrder& order, int) {
    return Result<std::string>{say_record(measured(order))};
  };
  std::vector<SealedOrder> orders;

  /// What one takes depends on the order, so that they do not end as they began.
  CopyRunner runner() {
    return [this](const SealedOrder& order, const std::function<bool()>&) {
      std::this_thread::sleep_for(std::chrono::microseconds{order.cell_id.back() % 7 * 300});
      const std::scoped_lock lock{mutex_};
      orders.push_back(order);
      return answer(order, times_[fmt::format("{}/{}/{}", order.cell_id, order.repetition, order.attempt)]++);
    };
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> times_;
};

inline VirtualClock clock() {
  return {.shift = 1, .quantum = 1000, .qemu = "10.0-q", .image = "image"};
}

inline VirtualTestbed testbed_clock() {
  return {.shift = 1, .quantum = 1000, .qemu = "10.0-q", .image = "image", .kernel = "kernel", .programs = "programs"};
}

}  // namespace longhaul::orchestrator::testing
