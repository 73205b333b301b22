#include "registration/preload/handles.hh"

#include <sys/mman.h>

#include "common/error.hh"

namespace longhaul::registration {

// Without rights until it is used: a program that locks all of its memory (mlockall) does not lock this.
Handles::Handles() {
  void* room = ::mmap(nullptr, kRoom * sizeof(Handle), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw_errno("reserving addresses for handles");
  base_ = reinterpret_cast<std::uintptr_t>(room);
}

bool Handles::refill(Purse& purse) {
  const std::scoped_lock lock{mutex_};
  while (purse.count < kHandful && free_ != nullptr) {
    auto* const handle = free_;
    free_ = handle->next;
    handle->next = purse.first;
    purse.first = handle;
    ++purse.count;
  }
  if (purse.count > 0) return true;
  if (made_ + kHandful > kRoom) return false;
  auto* const fresh = reinterpret_cast<Handle*>(base_) + made_;
  if (::mprotect(fresh, kHandful * sizeof(Handle), PROT_READ | PROT_WRITE) < 0) return false;  // two whole pages
  made_ += kHandful;
  for (std::uint32_t i = 0; i < kHandful; ++i) give(purse, fresh + i);
  return true;
}

void Handles::give_back(Purse& purse, std::uint32_t left) {
  const std::scoped_lock lock{mutex_};
  while (purse.count > left) {
    auto* const handle = purse.first;
    purse.first = handle->next;
    handle->next = free_;
    free_ = handle;
    --purse.count;
  }
}

}  // namespace longhaul::registration
