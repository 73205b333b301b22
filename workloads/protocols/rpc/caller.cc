#include "workloads/protocols/rpc/caller.hh"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace longhaul::workloads::rpc {

Caller::Caller(const Options& options)
    : options_(options),
      credits_(static_cast<std::uint32_t>(options.credits)),
      calls_(options.lines()),
      ahead_(options.threads, ReadAhead{options.kept(), options.records()}) {
  if (!options.mix) return;
  const auto room = options.size * options.records();
  for (std::size_t thread = 0; thread < options.threads; ++thread) {
    const auto number = options.client * options.threads + thread;
    mixes_.emplace_back(number, number * room, room, options.size);
  }
}

ClientCall Caller::make(std::size_t thread, std::uint64_t number) {
  const auto record = (options_.client * options_.threads + thread) * options_.records() + number % options_.records();
  auto call = options_.mix ? mixes_[thread].next()
                           : call_of(options_, 0, options_.moves_payload() ? record * options_.size : 0);
  call.xid = next_xid_++;
  return call;
}

const std::vector<std::size_t>& Caller::start(std::size_t thread) {
  begun_.clear();
  ahead_[thread].next([&](const ReadAhead::Row& row) {
    for (std::size_t i = 0; i < row.count; ++i) {
      begun_.push_back(line(thread, row.first + i));
      calls_[begun_.back()] = make(thread, row.first + i);
    }
    ready_.push_back({thread, row});
  });
  return begun_;
}

const std::vector<std::size_t>& Caller::next(std::size_t most) {
  sending_.clear();
  if (ready_.empty()) return sending_;
  auto& [thread, row] = ready_.front();
  auto count = static_cast<std::uint32_t>(std::min(row.count, most));
  if (options_.misdeed != Misdeed::floods) count = credits_.take(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    sending_.push_back(line(thread, row.first + i));
    under_way_[calls_[sending_.back()].xid] = sending_.back();
  }
  row.first += count;
  row.count -= count;
  if (row.count == 0) ready_.pop_front();
  return sending_;
}

void Caller::reset() {
  stalls_before_ = credits_.stalls();
  for (auto& one : ahead_) one.forget();
}

std::size_t Caller::replied(std::uint32_t xid, std::uint32_t granted) {
  const auto found = under_way_.find(xid);
  if (found == under_way_.end())
    throw std::runtime_error(fmt::format("a reply came to call {:#010x}, of which none is under way", xid));
  const auto line = found->second;
  under_way_.erase(found);
  credits_.replied(granted);
  return line;
}

}  // namespace longhaul::workloads::rpc
