#include "registration/preload/verbs.hh"

#include <dlfcn.h>

namespace longhaul::registration {
namespace {

template <typename Function>
void find(void* library, const char* name, const char* version, Function& into) {
  void* found = ::dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr && library != nullptr) found = ::dlvsym(library, name, version);
  into = reinterpret_cast<Function>(found);
}

}  // namespace

Verbs next_verbs() {
  Verbs verbs;
  // Never closed: what was found is called until the program ends.
  void* library = ::dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
  find(library, "ibv_reg_mr", "IBVERBS_1.1", verbs.reg_mr);
  find(library, "ibv_reg_mr_iova", "IBVERBS_1.7", verbs.reg_mr_iova);
  find(library, "ibv_reg_mr_iova2", "IBVERBS_1.8", verbs.reg_mr_iova2);
  find(library, "ibv_rereg_mr", "IBVERBS_1.1", verbs.rereg_mr);
  find(library, "ibv_dereg_mr", "IBVERBS_1.1", verbs.dereg_mr);
  find(library, "ibv_dealloc_pd", "IBVERBS_1.1", verbs.dealloc_pd);
  find(library, "ibv_unimport_pd", "IBVERBS_1.10", verbs.unimport_pd);
  find(library, "ibv_close_device", "IBVERBS_1.1", verbs.close_device);
  find(library, "ibv_is_fork_initialized", "IBVERBS_1.13", verbs.is_fork_initialized);
  return verbs;
}

}  // namespace longhaul::registration
