// What the connections of one opened device have together.
#pragma once

#include <infiniband/verbs.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace longhaul::workloads {

/// The T of `device`, made by `make` where no connection has it yet. It goes with the last who has it. One a type.
template <typename T, typename Make>
std::shared_ptr<T> per_device(ibv_context* device, Make make) {
  static std::mutex mutex;
  static std::map<ibv_context*, std::weak_ptr<T>> known;
  const std::lock_guard lock{mutex};
  auto& entry = known[device];
  auto owner = entry.lock();
  if (!owner) entry = owner = std::make_shared<T>(make());
  return owner;
}

}  // namespace longhaul::workloads
