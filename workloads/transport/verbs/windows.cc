#include "workloads/transport/verbs/windows.hh"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "workloads/transport/verbs/registrar.hh"

namespace longhaul::workloads {
namespace {

constexpr registration::Registrar::Handle kNoWindow = ~registration::Registrar::Handle{0};

}  // namespace

VerbsWindows::VerbsWindows(ibv_pd* domain, ibv_mr* region, Rights rights, LocalRequests& requests)
    : domain_(domain), region_(region), access_(remote_access(rights)), requests_(requests) {}

tl::expected<registration::Registrar::Registered, int> VerbsWindows::add(registration::Pages pages) {
  if (access_ == 0) return Registered{kNoWindow, {region_->lkey, 0}};
  completed_removals();
  if (free_.empty()) {
    MemoryWindow fresh{::ibv_alloc_mw(domain_, IBV_MW_TYPE_2)};
    if (!fresh) return tl::unexpected(errno);
    const auto key = fresh->rkey;
    windows_.push_back({std::move(fresh), key, false});
    free_.push_back(windows_.size() - 1);
  }
  const auto handle = free_.back();
  free_.pop_back();
  auto& [window, key, open] = windows_[handle];
  // A provider looks here for the key that the window has when the request is handed over, which may be later.
  window->rkey = key;
  key = ::ibv_inc_rkey(key);  // the one of before opens nothing
  ibv_send_wr work{};
  work.opcode = IBV_WR_BIND_MW;
  work.bind_mw.mw = window.get();
  work.bind_mw.rkey = key;
  work.bind_mw.bind_info = {region_, pages.first * registration::kPageSize, pages.count * registration::kPageSize,
                            access_};
  requests_.post_local(work, false, true);
  open = true;
  return Registered{handle, {region_->lkey, key}};
}

int VerbsWindows::remove(Handle handle) {
  if (handle == kNoWindow) return 0;
  auto& window = windows_[handle];
  if (!window.open) {
    ++removals_;
    ++closed_by_peer_;
    invalidated_.push_back({0, handle});  // behind those before it: removals are told in their order
    return 0;
  }
  ibv_send_wr work{};
  work.opcode = IBV_WR_LOCAL_INV;
  work.invalidate_rkey = window.key;
  window.open = false;
  ++removals_;
  try {
    invalidated_.push_back({requests_.post_local(work, true, false), handle});
  } catch (const std::system_error& error) {
    return error.code().value();
  } catch (const std::length_error&) {
    return ENOSPC;
  }
  return 0;
}

void VerbsWindows::invalidated(std::uint32_t key) {
  const auto found =
      std::find_if(windows_.begin(), windows_.end(), [&](const Window& one) { return one.open && one.key == key; });
  if (found != windows_.end()) found->open = false;
}

std::uint64_t VerbsWindows::completed_removals() {
  for (; !invalidated_.empty() && invalidated_.front().request <= requests_.completed(); invalidated_.pop_front())
    free_.push_back(invalidated_.front().window);
  return removals_ - invalidated_.size();
}

}  // namespace longhaul::workloads
