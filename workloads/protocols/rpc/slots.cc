#include "workloads/protocols/rpc/slots.hh"

#include <algorithm>

#include "workloads/protocols/rpc/chunks.hh"

namespace longhaul::workloads::rpc {

Slots::Slots(Connection& connection, Buffers& buffers, const Options& options)
    : connection_(connection), buffers_(buffers), options_(options) {
  const Layout layout{options, Role::server, false};
  slots_.resize(layout.pushed_slots);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].offset = layout.pushed + i * layout.buffer_stride;
    free_.push_back(i);
  }
}

void Slots::prepare() {
  if (ready_ || free_.empty()) return;
  auto& slot = slots_[free_.front()];
  slot.use = buffers_.begin(slot.offset, options_.size);
  buffers_.complete(slot.use);
  slot.chunk = chunk_of(connection_, slot.use.pieces(), options_.size, options_.segment);
  ready_ = free_.front();
  free_.pop_front();
}

Chunk Slots::grant() {
  if (granted_.size() >= options_.credits) return {};
  prepare();
  if (!ready_) return {};
  auto& slot = slots_[*ready_];
  slot.since = observe::raw_time();
  granted_.push_back(*ready_);
  ready_.reset();
  return slot.chunk;
}

std::optional<std::span<const std::byte>> Slots::take(const Chunk& named, std::span<std::byte> copy) {
  const auto length = length_of(named);
  const auto found = std::find_if(granted_.begin(), granted_.end(), [&](std::size_t index) {
    return length <= options_.size && named == first_of(slots_[index].chunk, length);
  });
  if (named.empty() || found == granted_.end()) return std::nullopt;
  auto& slot = slots_[*found];
  free_.push_back(*found);
  granted_.erase(found);
  exposed_ += observe::raw_time() - slot.since;
  ++exposures_;
  slot.use = {};
  const auto bytes = connection_.memory().subspan(slot.offset, static_cast<std::size_t>(length));
  if (options_.server_buffers.closes_at_once()) return bytes;
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  return copy.first(bytes.size());
}

}  // namespace longhaul::workloads::rpc
