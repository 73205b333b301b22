// The functions of libibverbs that the library stands in front of (longhaul-cache.map gives them their versions).
// Nothing is thrown out of them: what goes wrong in the cache is passed by.
#include <infiniband/verbs.h>

#include <cerrno>
#include <exception>

#include "registration/preload/process.hh"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define LONGHAUL_EXPORT extern "C" __attribute__((visibility("default")))

namespace longhaul::registration {
namespace {

// A program that calls one of them has libibverbs, if not this function of it.
template <typename Function>
bool lacks(Function function) {
  if (function != nullptr) return false;
  errno = ENOSYS;
  return true;
}

ibv_mr* add(const Keeper::Request& request) {
  auto* const keeper = Process::keeper();
  return keeper != nullptr ? keeper->add(request) : call_of(Process::verbs(), request);
}

__attribute__((destructor)) void at_exit() {
  try {
    Process::report();
  } catch (const std::exception&) {
    // There is nobody left to tell.
  }
}

}  // namespace
}  // namespace longhaul::registration

using longhaul::registration::Keeper;
using longhaul::registration::Process;
using Call = Keeper::Request::Call;

LONGHAUL_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int access) {
  if (longhaul::registration::lacks(Process::verbs().reg_mr)) return nullptr;
  return longhaul::registration::add(
      {pd, address, length, reinterpret_cast<std::uint64_t>(address), static_cast<unsigned>(access), Call::reg_mr});
}

LONGHAUL_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, int access) {
  if (longhaul::registration::lacks(Process::verbs().reg_mr_iova)) return nullptr;
  return longhaul::registration::add({pd, address, length, iova, static_cast<unsigned>(access), Call::iova});
}

LONGHAUL_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                                         unsigned access) {
  if (longhaul::registration::lacks(Process::verbs().reg_mr_iova2)) return nullptr;
  return longhaul::registration::add({pd, address, length, iova, access, Call::iova2});
}

LONGHAUL_EXPORT int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) {
  const auto& verbs = Process::verbs();
  if (longhaul::registration::lacks(verbs.rereg_mr)) return IBV_REREG_MR_ERR_INPUT;
  auto* const keeper = Process::keeper_if_any();
  return keeper != nullptr ? keeper->change(mr, flags, pd, address, length, access)
                           : verbs.rereg_mr(mr, flags, pd, address, length, access);
}

LONGHAUL_EXPORT int ibv_dereg_mr(ibv_mr* mr) {
  const auto& verbs = Process::verbs();
  if (longhaul::registration::lacks(verbs.dereg_mr)) return ENOSYS;
  auto* const keeper = Process::keeper_if_any();
  return keeper != nullptr ? keeper->remove(mr) : verbs.dereg_mr(mr);
}

LONGHAUL_EXPORT int ibv_dealloc_pd(ibv_pd* pd) {
  const auto& verbs = Process::verbs();
  if (longhaul::registration::lacks(verbs.dealloc_pd)) return ENOSYS;
  if (auto* const keeper = Process::keeper_if_any(); keeper != nullptr) keeper->flush(pd);
  return verbs.dealloc_pd(pd);
}

LONGHAUL_EXPORT void ibv_unimport_pd(ibv_pd* pd) {
  const auto& verbs = Process::verbs();
  if (longhaul::registration::lacks(verbs.unimport_pd)) return;
  if (auto* const keeper = Process::keeper_if_any(); keeper != nullptr) keeper->flush(pd);
  verbs.unimport_pd(pd);
}

LONGHAUL_EXPORT int ibv_close_device(ibv_context* context) {
  const auto& verbs = Process::verbs();
  if (longhaul::registration::lacks(verbs.close_device)) {
    return -1;
  }
  if (auto* const keeper = Process::keeper_if_any(); keeper != nullptr) keeper->flush(context);
  return verbs.close_device(context);
}
