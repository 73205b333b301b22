#include "workloads/protocols/rpc/plan.hh"

#include <algorithm>
#include <chrono>

namespace longhaul::workloads::rpc {

Design design_of(const std::string& word) {
  if (word == "push") return Design::push;
  return word == "read-read" ? Design::read_read : Design::read_write;
}

CallPlan plan_call(Design design, const CallShape& shape, std::size_t threshold, bool long_calls) {
  CallPlan plan;
  auto header = kPlainHeader;
  const bool long_payload = header + shape.reply + padded(shape.reply_payload) > threshold;
  if (design != Design::read_read && long_payload) {
    plan.write_chunk = shape.reply_payload > 0;
    plan.reply_chunk = !plan.write_chunk;
    header += kWordSize + kSegmentSize + (plan.write_chunk ? kWordSize : 0);
  }
  if (header + shape.message + padded(shape.payload) <= threshold) return plan;
  plan.read_chunk = shape.payload > 0 && !long_calls;
  if (plan.read_chunk) header += 2 * kWordSize + kSegmentSize;
  plan.long_call = long_calls || header + shape.message > threshold;
  return plan;
}

ReplyWay plan_reply(Design design, const ReplyShape& shape, std::size_t threshold) {
  if (design != Design::read_read && shape.payload > 0 && shape.write_room)
    return *shape.write_room < shape.payload          ? ReplyWay::too_long
           : shape.header + shape.message > threshold ? ReplyWay::too_long
                                                      : ReplyWay::write_chunk;
  const auto whole = shape.message + padded(shape.payload);
  if (shape.header + whole <= threshold) return ReplyWay::inside;
  if (design == Design::read_read) return shape.payload > 0 ? ReplyWay::read_chunk : ReplyWay::long_read_chunk;
  if (!shape.reply_room || *shape.reply_room < whole) return ReplyWay::too_long;
  return ReplyWay::reply_chunk;
}

Trips trips_of(ReplyWay way, const CallPlan& call, std::size_t segments, std::size_t ord) {
  const auto rows = static_cast<int>((std::max<std::size_t>(segments, 1) + ord - 1) / std::max<std::size_t>(ord, 1));
  Trips trips;
  if ((call.read_chunk && !call.pushed) || call.long_call) trips.latency += 2 * rows;
  if (way == ReplyWay::read_chunk || way == ReplyWay::long_read_chunk) {
    trips.latency += 2 * rows;
    trips.exposed = 2 + 2 * rows;  // from the reply until RDMA_DONE is here
  }
  return trips;
}

double ceiling(const Window& window, const CallPlan& call, ReplyWay way, Nanoseconds round_trip) {
  const auto per_second = [&](std::size_t under_way, double round_trips) {
    return static_cast<double>(under_way) / (round_trips * ratio(round_trip, std::chrono::seconds{1}));
  };
  const bool server_reads = (call.read_chunk && !call.pushed) || call.long_call;
  const bool client_reads = way == ReplyWay::read_chunk || way == ReplyWay::long_read_chunk;
  const auto latency = trips_of(way, call, window.segments, window.ord).latency / 2.0;
  const auto reply = latency - (client_reads ? trips_of(way, {}, window.segments, window.ord).latency / 2.0 - 1 : 0);
  auto most = std::min(per_second(window.threads, latency), per_second(window.credits, reply));
  if (server_reads || client_reads)
    most = std::min(most, per_second(window.ord, static_cast<double>(std::max<std::size_t>(window.segments, 1))));
  if (server_reads && window.server_threads > 0) most = std::min(most, per_second(window.server_threads, latency - 1));
  return most;
}

}  // namespace longhaul::workloads::rpc
