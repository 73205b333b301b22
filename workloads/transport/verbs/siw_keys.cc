#include "workloads/transport/verbs/siw_keys.hh"

#include <linux/types.h>
#include <rdma/siw-abi.h>

#include "common/error.hh"
#include "workloads/transport/verbs/per_device.hh"

namespace longhaul::workloads {

std::shared_ptr<CompletionQueue> cover_invalid_key(ibv_context* context, const RdmaDevice& device) {
  if (device.provider != "siw") return nullptr;
  constexpr int kEntries = SIW_INVAL_UOBJ_KEY / sizeof(siw_cqe) + 1;  // siw rounds up, so it ends pages behind
  return per_device<CompletionQueue>(context, [&] {
    CompletionQueue queue{::ibv_create_cq(context, kEntries, nullptr, nullptr, 0)};
    if (!queue) throw_errno(fmt::format("create a completion queue of {} entries on {}", kEntries, device.name));
    return queue;
  });
}

}  // namespace longhaul::workloads
