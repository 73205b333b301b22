#include "workloads/protocols/rpc/options.hh"

#include <algorithm>

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kSpareReceives = 4;  // an error, and RDMA_DONEs that overtake the replies' end
constexpr std::size_t kMostPieces = 64;    // RDMA requests of one call
constexpr std::size_t kShortWrite = std::size_t{16} << 10;
constexpr std::size_t kMostWrites = 32;      // of a reply, but for those of further segments
constexpr std::size_t kMostRequests = 8192;  // of the send queue

}  // namespace

Layout::Layout(const Options& options, Role role, bool stream)
    : stride(stream ? whole_pages(options.size + 2 * kMostMessage) : (options.threshold + 63) / 64 * 64),
      out(0),
      out_slots(2 * options.credits + kSpareReceives),
      in(0),
      in_slots(2 * options.credits + kSpareReceives),
      buffers(0),
      buffer_stride(whole_pages(options.size + kMostMessage)),
      // A server's buffer is in use until its reply is acknowledged; the client's next call may be there before.
      buffer_slots(role == Role::client ? options.lines() : 2 * options.credits),
      pushed(0),
      // One more than a client may hold, so that one is ready for the next reply.
      pushed_slots(role == Role::server && options.pushes() ? options.credits + 1 : 0),
      total(0) {
  // A stream's messages are taken one after another, and handed to the kernel before the next is made.
  if (stream) {
    out_slots = role == Role::client ? options.lines() : 1;
    in_slots = 1;
    buffer_slots = pushed_slots = 0;
  }
  in = out + whole_pages(out_slots * stride);
  buffers = in + whole_pages(in_slots * stride);
  pushed = buffers + buffer_slots * buffer_stride;
  total = pushed + pushed_slots * buffer_stride;
}

std::size_t pinned_by(const Options& options) {
  const Layout layout{options, Role::server, false};
  const auto& buffers = options.server_buffers;
  return layout.total + (buffers.registers() && !buffers.windows() ? buffers.deferred * layout.buffer_stride : 0);
}

std::size_t longest_write(const Options& options) {
  return std::max(kShortWrite, options.size / kMostWrites);
}

Rights rights_of(const Options& options, Role role) {
  using nfs::Procedure;
  const bool replies = options.procedure != Procedure::null && options.procedure != Procedure::write;
  if (options.mix && role == Role::client) return options.design == Design::read_read ? Rights::read : Rights::all;
  if (role == Role::server) {
    if (options.pushes()) return Rights::write;
    return options.design == Design::read_read && replies ? Rights::read : Rights::none;
  }
  // A payload that is pushed is read as long as there is no slot.
  if (options.procedure == Procedure::write) return Rights::read;
  return options.design != Design::read_read && replies ? Rights::write : Rights::none;
}

Attempt<ConnectionPlan> plan_of(const Options& options, Role role, bool stream) {
  const Layout layout{options, role, stream};
  ConnectionPlan plan;
  plan.connections = options.clients;
  plan.rights = rights_of(options, role);
  plan.shared_domain = options.shared_domain && role == Role::server;
  plan.message = std::max(options.size, layout.stride);
  plan.in_flight = options.lines() * (options.size + kMostMessage);
  plan.memory = layout.total;
  if (stream) return plan;
  const auto pieces = (options.size + options.segment - 1) / options.segment + 1;
  if (pieces > kMostPieces)
    return wrong_input("--segment makes {} segments of --size, {} are the most: give longer segments", pieces,
                       kMostPieces);
  const auto& strategy = role == Role::client ? options.client_buffers : options.server_buffers;
  plan.windows = strategy.windows();
  if (strategy.registers() && !plan.windows) {
    plan.memory = layout.buffers;
    plan.application = layout.total - layout.buffers;
  }
  // A window is bound, and invalidated, by a request of its own.
  const auto requests =
      pieces + (role == Role::server ? options.size / longest_write(options) + 1 : 0) + (plan.windows ? 2 : 0);
  plan.sends = static_cast<std::uint32_t>(std::min(layout.out_slots + options.credits * (requests + 1), kMostRequests));
  plan.receives = static_cast<std::uint32_t>(layout.in_slots);
  plan.receive_offset = layout.in;
  plan.receive_length = options.threshold;
  plan.receive_stride = layout.stride;
  return plan;
}

}  // namespace longhaul::workloads::rpc
