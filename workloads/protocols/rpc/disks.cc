#include "workloads/protocols/rpc/disks.hh"

#include <algorithm>

namespace longhaul::workloads::rpc {

ModelledDisks::ModelledDisks(const DiskSetup& setup) : setup_(setup), disks_(std::max<std::size_t>(1, setup.disks)) {}

// Pages [first, end) from or to their disks, which work side by side.
Nanoseconds ModelledDisks::transfer(Nanoseconds now, std::uint64_t first, std::uint64_t end) {
  constexpr auto kPages = kStripe / kPage;
  auto ready = now;
  while (first < end) {
    const auto stripe = first / kPages;
    const auto count = std::min(end, (stripe + 1) * kPages) - first;
    auto& disk = disks_[stripe % disks_.size()];
    const auto place = stripe / disks_.size() * kPages + first % kPages;
    const auto bits = static_cast<double>(8 * count * kPage);
    disk.free = std::max(now, disk.free) + (place == disk.head ? Nanoseconds{} : setup_.seek) +
                Nanoseconds{static_cast<std::int64_t>(1e9 * bits / static_cast<double>(setup_.rate.bits_per_second))};
    disk.head = place + count;
    ready = std::max(ready, disk.free);
    first += count;
  }
  return ready;
}

// The least recently used goes.
void ModelledDisks::keep(std::uint64_t page, Nanoseconds ready) {
  const auto known = pages_.find(page);
  if (known != pages_.end()) {
    uses_.splice(uses_.begin(), uses_, known->second.use);
    known->second.ready = std::max(known->second.ready, ready);
    return;
  }
  uses_.push_front(page);
  pages_[page] = {uses_.begin(), ready};
  while (uses_.size() * kPage > setup_.cache && !uses_.empty()) {
    pages_.erase(uses_.back());
    uses_.pop_back();
  }
}

Nanoseconds ModelledDisks::told(Nanoseconds now, Nanoseconds ready) {
  ++counters_.requests;
  counters_.waited += ready - now;
  return ready;
}

Nanoseconds ModelledDisks::read(Nanoseconds now, std::uint64_t offset, std::uint64_t length) {
  const auto end = (offset + length + kPage - 1) / kPage;
  auto ready = now;
  for (auto page = offset / kPage; page < end;) {
    ++counters_.pages;
    if (const auto known = pages_.find(page); known != pages_.end()) {
      ++counters_.cached;
      ready = std::max(ready, known->second.ready);  // another request may have asked for it, and it is on its way
      keep(page++, {});
      continue;
    }
    auto missing = page + 1;
    for (; missing < end && !pages_.contains(missing); ++missing) ++counters_.pages;
    const auto there = transfer(now, page, missing);
    ready = std::max(ready, there);
    for (; page < missing; ++page) keep(page, there);
  }
  return told(now, ready);
}

Nanoseconds ModelledDisks::write(Nanoseconds now, std::uint64_t offset, std::uint64_t length) {
  const auto first = offset / kPage;
  const auto end = (offset + length + kPage - 1) / kPage;
  const auto ready = transfer(now, first, end);
  for (auto page = first; page < end; ++page) keep(page, now);
  return told(now, ready);
}

}  // namespace longhaul::workloads::rpc
