// The functions of libibverbs that the cache stands in front of, as it calls them: the program's own library, or a
// double.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace longhaul::registration {

struct Verbs {
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
  ibv_mr* (*reg_mr_iova)(ibv_pd*, void*, std::size_t, std::uint64_t, int) = nullptr;
  ibv_mr* (*reg_mr_iova2)(ibv_pd*, void*, std::size_t, std::uint64_t, unsigned) = nullptr;
  int (*rereg_mr)(ibv_mr*, int, ibv_pd*, void*, std::size_t, int) = nullptr;
  int (*dereg_mr)(ibv_mr*) = nullptr;
  int (*dealloc_pd)(ibv_pd*) = nullptr;
  void (*unimport_pd)(ibv_pd*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  ibv_fork_status (*is_fork_initialized)() = nullptr;
};

/// Those that come next after this library: of the global scope, or where libibverbs came with a plugin (dlopen) of the
/// libibverbs.so.1 that is loaded. What it does not have is null.
Verbs next_verbs();

}  // namespace longhaul::registration
