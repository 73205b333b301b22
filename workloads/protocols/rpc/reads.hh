// RDMA reads that wait for their turn. No more than ord are with the adapter at a time: it would not start others, and
// what is posted behind them, such as a reply, would have to wait with them (rxe and siw stall the whole send queue).
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/transport/connection.hh"

namespace longhaul::workloads::rpc {

class ReadQueue {
 public:
  explicit ReadQueue(std::size_t ord) : ord_(ord) {}

  /// `owner` is told by completed().
  void add(std::vector<Request> requests, std::size_t owner) {
    for (auto& request : requests) waiting_.emplace_back(std::move(request), owner);
  }
  /// The next read to be posted now; none: all are, or ord are under way.
  std::optional<Request> next() {
    if (waiting_.empty() || under_way_.size() >= ord_) return std::nullopt;
    auto [request, owner] = std::move(waiting_.front());
    waiting_.pop_front();
    under_way_.push_back(owner);
    return std::move(request);
  }
  /// The oldest read is complete: reads complete in the order in which they were posted. Its owner.
  std::size_t completed() {
    const auto owner = under_way_.front();
    under_way_.pop_front();
    return owner;
  }
  std::size_t under_way() const { return under_way_.size(); }

 private:
  std::size_t ord_;
  std::deque<std::pair<Request, std::size_t>> waiting_;
  std::deque<std::size_t> under_way_;
};

}  // namespace longhaul::workloads::rpc
