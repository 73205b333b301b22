#include "workloads/protocols/rpc/caller.hh"

#include <fmt/format.h>

#include <stdexcept>

namespace longhaul::workloads::rpc {

Caller::Caller(const Options& options)
    : options_(options),
      credits_(static_cast<std::uint32_t>(options.credits)),
      calls_(options.threads),
      numbers_(options.threads) {
  if (!options.mix) return;
  const auto room = options.size * Options::kRecords;
  for (std::size_t thread = 0; thread < options.threads; ++thread) {
    const auto number = options.client * options.threads + thread;
    mixes_.emplace_back(number, number * room, room, options.size);
  }
}

void Caller::start(std::size_t thread) {
  const auto record =
      (options_.client * options_.threads + thread) * Options::kRecords + numbers_[thread]++ % Options::kRecords;
  calls_[thread] = options_.mix ? mixes_[thread].next()
                                : call_of(options_, 0, options_.moves_payload() ? record * options_.size : 0);
  calls_[thread].xid = next_xid_++;
  ready_.push_back(thread);
}

std::optional<std::size_t> Caller::next() {
  if (ready_.empty()) return std::nullopt;
  if (options_.misdeed != Misdeed::floods && !credits_.take()) return std::nullopt;
  const auto thread = ready_.front();
  ready_.pop_front();
  under_way_[calls_[thread].xid] = thread;
  return thread;
}

std::size_t Caller::replied(std::uint32_t xid, std::uint32_t granted) {
  const auto found = under_way_.find(xid);
  if (found == under_way_.end())
    throw std::runtime_error(fmt::format("a reply came to call {:#010x}, of which none is under way", xid));
  const auto thread = found->second;
  under_way_.erase(found);
  credits_.replied(granted);
  return thread;
}

}  // namespace longhaul::workloads::rpc
