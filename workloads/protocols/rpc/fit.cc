#include "workloads/protocols/rpc/fit.hh"

#include <algorithm>

#include "workloads/protocols/rpc/call.hh"

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kAligned = 64;
constexpr int kCopies = 2;  // into the message at one end, out of it at the other

std::size_t divided(std::size_t bytes, std::size_t by) {
  return (bytes + by - 1) / by;
}

// The longest call of these options.
CallShape longest_call(const Options& options) {
  auto operation = call_of(options, 0, 0);
  if (!options.mix) return shape_of(options.handles, operation);
  operation.procedure = nfs::Procedure::write;
  auto shape = shape_of(options.handles, operation);
  operation.procedure = nfs::Procedure::read;
  const auto reading = shape_of(options.handles, operation);
  shape.reply = std::max(shape.reply, reading.reply);
  shape.reply_payload = reading.reply_payload;
  return shape;
}

// Bytes of its reply where all of it is in one message.
std::size_t whole_reply(const CallShape& shape) {
  return kPlainHeader + shape.reply + padded(shape.reply_payload);
}

std::size_t segments_of(const Options& options) {
  return std::max<std::size_t>(1, divided(options.size, options.segment));
}

std::size_t bytes_on(const Path& path, int round_trips) {
  return static_cast<std::size_t>(bytes_in_flight(path.facts.link, round_trips * path.facts.round_trip).count);
}

}  // namespace

std::size_t fit_inline(const Options& options, const Path& path) {
  const auto shape = longest_call(options);
  std::size_t wanted = 0;
  if (!options.pushes()) wanted = kPlainHeader + shape.message + padded(shape.payload);
  if (options.design == Design::read_read) wanted = std::max(wanted, whole_reply(shape));
  wanted = divided(wanted, kAligned) * kAligned;
  if (wanted <= kUsualInline || wanted > kLongestInline || path.copied <= 0) return kUsualInline;
  const auto copying = kCopies * static_cast<double>(wanted) / path.copied;
  return copying < ratio(path.facts.round_trip, std::chrono::seconds{1}) ? wanted : kUsualInline;
}

std::size_t fit_credits(const Options& options, const Path& path) {
  if (path.facts.link.bits_per_second == 0) return options.lines();
  const auto shape = longest_call(options);
  auto plan = plan_call(options.design, shape, options.threshold, options.long_calls);
  plan.pushed = options.pushes();
  const bool fetched = options.design == Design::read_read && whole_reply(shape) > options.threshold;
  const auto trips =
      trips_of(fetched ? ReplyWay::read_chunk : ReplyWay::inside, plan, segments_of(options), options.ord);
  return std::clamp<std::size_t>(divided(bytes_on(path, trips.latency / 2), options.size), 1, options.lines());
}

std::size_t fit_ord(const Options& options, const Path& path) {
  const auto segments = segments_of(options);
  const auto least = std::min(segments, kMostReads);
  const auto most = std::clamp(options.lines() * segments, least, kMostReads);
  if (path.facts.link.bits_per_second == 0) return most;
  return std::clamp(divided(bytes_on(path, 1), std::min(options.segment, options.size)), least, most);
}

}  // namespace longhaul::workloads::rpc
