#include "registration/preload/spaces.hh"

#include <algorithm>

namespace longhaul::registration {

std::uint32_t Spaces::look(ibv_pd* pd, unsigned access, Last& last, const std::function<void(std::uint32_t)>& opened) {
  const std::scoped_lock lock{mutex_};
  auto found =
      std::find_if(all_.begin(), all_.end(), [&](const Space& one) { return one.pd == pd && one.access == access; });
  if (found == all_.end()) {
    found = std::find_if(all_.begin(), all_.end(), [](const Space& one) { return one.pd == nullptr; });
    if (found == all_.end()) {
      if (all_.size() == kMost) return kNone;
      opened(static_cast<std::uint32_t>(all_.size()) + 1);
      found = all_.insert(all_.end(), Space{});
    }
    *found = {pd, pd->context, access};
  }
  last = {pd, access, static_cast<std::uint32_t>(found - all_.begin()), era_.load(std::memory_order_relaxed)};
  return last.space;
}

std::vector<std::uint32_t> Spaces::of_domain(const ibv_pd* pd) {
  const std::scoped_lock lock{mutex_};
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < all_.size(); ++i)
    if (all_[i].pd == pd) found.push_back(i);
  return found;
}

std::vector<std::uint32_t> Spaces::of_device(const ibv_context* context) {
  const std::scoped_lock lock{mutex_};
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < all_.size(); ++i)
    if (all_[i].pd != nullptr && all_[i].context == context) found.push_back(i);
  return found;
}

void Spaces::close(const std::vector<std::uint32_t>& spaces) {
  if (spaces.empty()) return;
  const std::scoped_lock lock{mutex_};
  era_.fetch_add(1, std::memory_order_release);
  for (const auto one : spaces) all_[one] = {};
}

}  // namespace longhaul::registration
