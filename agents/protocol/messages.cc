#include "agents/protocol/messages.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "model/codec.hh"

namespace longhaul::agents {
namespace {

constexpr std::size_t kMaxParameters = 64;

// Of what a node may send. A document of 16 MiB may hold eight million values and so take a gigabyte; what honest nodes
// send stays far below all of these.
constexpr std::size_t kMaxValues = 2'000'000;
constexpr std::size_t kMaxMetrics = 1024;  // whoever reads a record makes a histogram of each: 76 KiB
constexpr std::size_t kMaxSamples = 65'536;
constexpr std::size_t kMaxLimits = 64;
constexpr std::size_t kMaxText = 65'536;                      // bytes of a message for people
constexpr std::int64_t kLongestTime = std::int64_t{1} << 53;  // 104 days in ns: sums and differences do not overflow

Result<void> check_word(std::string_view what, std::string_view word, std::size_t max, bool may_be_empty = false) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == '/' || c == ':';
  };
  if (word.empty() && may_be_empty) return {};
  // A leading '-' would be an option of the program that gets the word.
  if (word.empty() || word.size() > max || word.front() == '-' || !std::all_of(word.begin(), word.end(), plain))
    return refuse("{}: expected 1 to {} letters, digits, '_', '.', '-', '/' or ':', got '{}'", what, max,
                  word.substr(0, 80));
  return {};
}

Result<void> check_address(std::string_view what, const std::string& text, bool may_be_empty = false) {
  if (text.empty() && may_be_empty) return {};
  boost::system::error_code error;
  if (text.size() <= 64) boost::asio::ip::make_address(text, error);
  if (text.size() > 64 || error)
    return refuse("{}: expected a numeric IPv4 or IPv6 address, got '{}'", what, text.substr(0, 80));
  return {};
}

// The value is a secret: it is not quoted.
Result<void> check_token(std::string_view what, std::string_view token) {
  const bool digits =
      std::all_of(token.begin(), token.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (token.size() == kTokenDigits && digits) return {};
  return refuse("{}: expected {} hexadecimal digits, got {} characters", what, kTokenDigits, token.size());
}

Result<void> check_parameters(std::string_view what, const Parameters& parameters) {
  if (parameters.size() > kMaxParameters)
    return refuse("{}: {} of them, at most {} are taken", what, parameters.size(), kMaxParameters);
  for (const auto& [name, value] : parameters) {
    if (auto ok = check_word(what, name, 64); !ok) return ok;
    if (const auto* word = std::get_if<std::string>(&value); word != nullptr && word->size() > 256)
      return refuse("{}.{}: text of {} bytes, at most 256 are taken", what, name, word->size());
  }
  return {};
}

Result<void> check(const StartRequest& start) {
  if (auto ok = check_word("start.run_id", start.run_id, 128); !ok) return ok;
  if (auto ok = check_word("start.workload", start.workload, 64); !ok) return ok;
  if (auto ok = check_parameters("start.parameters", start.parameters); !ok) return ok;
  if (start.role == Role::router) return refuse("start.role: a router runs no workload");
  const bool without = start.role == Role::local && start.transport.empty();
  if (!without && find_transport(start.transport) == nullptr)
    return refuse("start.transport: expected one of {}, got '{}'", fmt::join(transport_names(), ", "),
                  start.transport.substr(0, 80));
  if (auto ok = check_word("start.device", start.device, 64, true); !ok) return ok;
  if (auto ok = check_address("start.bind", start.bind, true); !ok) return ok;
  if (start.role == Role::local && start.token.empty()) return {};
  return check_token("start.token", start.token);
}

Result<void> check(const ConnectRequest& connect) {
  if (auto ok = check_word("connect.run_id", connect.run_id, 128); !ok) return ok;
  if (auto ok = check_address("connect.peer", connect.peer); !ok) return ok;
  if (connect.peer_port == 0) return refuse("connect.peer_port: a client needs its server's port");
  if (const auto& clock = connect.server_clock; clock && clock->error < 0)
    return refuse("connect.server_clock.error: expected 0 or more, got {}", clock->error);
  return {};
}

Result<void> check(const EchoRequest& echo) {
  if (auto ok = check_address("echo.address", echo.address); !ok) return ok;
  return echo.on ? check_token("echo.token", echo.token) : Result<void>{};
}

Result<void> check(const ProbeRequest& probe) {
  if (auto ok = check_address("probe.local", probe.local); !ok) return ok;
  if (auto ok = check_address("probe.peer", probe.peer); !ok) return ok;
  if (auto ok = check_token("probe.token", probe.token); !ok) return ok;
  if (probe.count < 1 || probe.count > kMaxProbes)
    return refuse("probe.count: expected 1 to {}, got {}", kMaxProbes, probe.count);
  if (probe.interval < kMinProbeInterval || probe.interval > kMaxProbeTime)
    return refuse("probe.interval: expected {} to {} ns, got {}", kMinProbeInterval, kMaxProbeTime, probe.interval);
  if (probe.timeout < 0 || probe.timeout > kMaxProbeTime)
    return refuse("probe.timeout: expected 0 to {} ns, got {}", kMaxProbeTime, probe.timeout);
  if (probe.interval > (kMaxProbeTime - probe.timeout) / probe.count)
    return refuse("probe: {} probes every {} ns take longer than {} ns", probe.count, probe.interval, kMaxProbeTime);
  return {};
}

Result<void> check(const Request& request) {
  const std::pair<RequestKind, bool> bodies[] = {
      {RequestKind::start, request.start.has_value()}, {RequestKind::connect, request.connect.has_value()},
      {RequestKind::stop, request.stop.has_value()},   {RequestKind::echo, request.echo.has_value()},
      {RequestKind::probe, request.probe.has_value()}, {RequestKind::degen, request.degen.has_value()}};
  for (const auto& [kind, there] : bodies) {
    if (there != (kind == request.kind))
      return refuse("request of kind {}: {} the body '{}'", boost::describe::enum_to_string(request.kind, "?"),
                    there ? "does not take" : "lacks", boost::describe::enum_to_string(kind, "?"));
  }
  if (request.start) return check(*request.start);
  if (request.connect) return check(*request.connect);
  if (request.stop) return check_word("stop.run_id", request.stop->run_id, 128);
  if (request.echo) return check(*request.echo);
  if (request.probe) return check(*request.probe);
  if (request.degen) {
    if (auto ok = check_word("degen.engine", request.degen->engine.value_or(""), 64, true); !ok) return ok;
    return check_parameters("degen.parameters", request.degen->parameters);
  }
  return {};
}

// Every integer with a sign, of what has only times.
template <typename T>
Result<void> check_times(std::string_view what, const T& times) {
  Result<void> checked;
  boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>([&](auto member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(times.*member.pointer)>, std::int64_t>) {
      const auto value = times.*member.pointer;
      if (checked && (value < -kLongestTime || value > kLongestTime))
        checked = refuse("{}.{}: {} ns is no time that can have been measured", what, member.name, value);
    }
  });
  return checked;
}

Result<void> check_text(std::string_view what, const std::optional<std::string>& text) {
  if (text && text->size() > kMaxText)
    return refuse("{}: text of {} bytes, at most {} are taken", what, text->size(), kMaxText);
  return {};
}

Result<void> check(const NodeRecord& record) {
  if (record.metrics.size() > kMaxMetrics)
    return refuse("record.metrics: {} of them, at most {} are taken", record.metrics.size(), kMaxMetrics);
  if (record.limits.size() > kMaxLimits)
    return refuse("record.limits: {} of them, at most {} are taken", record.limits.size(), kMaxLimits);
  for (const auto& limit : record.limits)
    if (auto ok = check_text("record.limits", limit); !ok) return ok;
  for (const auto& [name, metric] : record.metrics) {
    if (metric.raw.size() > kMaxSamples)
      return refuse("record.metrics.{}.raw: {} samples, at most {} are taken", name, metric.raw.size(), kMaxSamples);
    if (!metric.distribution) continue;
    if (const auto histogram = from_data(*metric.distribution); !histogram)
      return refuse("record.metrics.{}: {}", name, histogram.error().message);
  }
  return record.cpu ? check_times("record.cpu", *record.cpu) : Result<void>{};
}

Result<void> check(const RunEvent& event) {
  if (auto ok = check_text("event.exit", event.exit); !ok) return ok;
  if (!event.bench) return {};
  if (auto ok = check_text("event.bench.message", event.bench->message); !ok) return ok;
  const bool needs_record = event.bench->kind == BenchEventKind::record;
  if (needs_record != event.bench->record.has_value())
    return refuse("event.bench: {} a record", needs_record ? "lacks" : "does not take");
  return event.bench->record ? check(*event.bench->record) : Result<void>{};
}

Result<void> check(const Reply& reply) {
  if (reply.failure)
    if (auto ok = check_text("reply.failure.message", reply.failure->message); !ok) return ok;
  if (reply.clock && *reply.clock < 0) return refuse("reply.clock: expected 0 or more, got {}", *reply.clock);
  if (reply.probe) {
    const auto& [session, sent, round_trips] = *reply.probe;
    if (round_trips.size() > sent || round_trips.size() > static_cast<std::size_t>(kMaxProbes))
      return refuse("reply.probe.round_trips: {} of {} probes", round_trips.size(), sent);
    if (std::any_of(round_trips.begin(), round_trips.end(), [](auto time) { return time < 0 || time > kLongestTime; }))
      return refuse("reply.probe.round_trips: not all of them are times that can have been measured");
  }
  if (reply.degen && reply.degen->report) {
    if (auto ok = check_times("reply.degen.report.forward", reply.degen->report->forward); !ok) return ok;
    return check_times("reply.degen.report.back", reply.degen->report->back);
  }
  return {};
}

Result<void> check(const ServerMessage& message) {
  const bool fits = (message.kind == ServerMessageKind::hello) == message.hello.has_value() &&
                    (message.kind == ServerMessageKind::reply) == message.reply.has_value() &&
                    (message.kind == ServerMessageKind::event) == message.event.has_value() &&
                    (message.kind == ServerMessageKind::error) == message.error.has_value();
  if (!fits)
    return refuse("message of kind {}: its body does not fit", boost::describe::enum_to_string(message.kind, "?"));
  if (message.reply) return check(*message.reply);
  if (message.event) return check(*message.event);
  return check_text("error", message.error);
}

// At least as many as a document has: each is behind one of these. So they are counted before any is made.
std::size_t most_values(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; }));
}

template <typename T>
Result<T> parse(std::string_view text) {
  auto message = codec::parse<T>(text);
  if (!message) return message;
  if (const auto ok = check(*message); !ok) return tl::unexpected(ok.error());
  return message;
}

}  // namespace

std::string to_json(const Request& request) {
  return codec::serialize(request);
}
std::string to_json(const ServerMessage& message) {
  return codec::serialize(message);
}
Result<Request> request_from_json(std::string_view text) {
  return parse<Request>(text);
}
Result<ServerMessage> server_message_from_json(std::string_view text) {
  if (const auto values = most_values(text); values > kMaxValues)
    return refuse("a message of up to {} values, at most {} are taken", values, kMaxValues);
  return parse<ServerMessage>(text);
}

}  // namespace longhaul::agents
