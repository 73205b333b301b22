// One place in siw's device file that no queue can be mapped from.
#pragma once

#include <memory>

#include "workloads/transport/verbs/device.hh"
#include "workloads/transport/verbs/owners.hh"

namespace longhaul::workloads {

/// Keeps the page at SIW_INVAL_UOBJ_KEY (rdma/siw-abi.h) from being the first of a queue; nothing where `device` is not
/// siw's. siw's kernel module hands out places of its device file first fit, page by page, also this one; its library
/// takes it for "no queue was made", destroys the queue and leaves an errno of an earlier call. So it hits whichever
/// queue of a process begins there: with queues of 24 pages a connection, the seventh. A completion queue that begins
/// before and ends behind that page keeps it. Ask before the first queue of `context` is made, and keep the result as
/// long as any. Throws std::system_error when it cannot be made.
std::shared_ptr<CompletionQueue> cover_invalid_key(ibv_context* context, const RdmaDevice& device);

}  // namespace longhaul::workloads
