#include "agents/protocol/messages.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "model/codec.hh"

namespace longhaul::agents {
namespace {

constexpr std::size_t kMaxParameters = 64;

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
  return {};
}

Result<void> check(const ConnectRequest& connect) {
  if (auto ok = check_word("connect.run_id", connect.run_id, 128); !ok) return ok;
  if (auto ok = check_address("connect.peer", connect.peer); !ok) return ok;
  if (connect.peer_port == 0) return refuse("connect.peer_port: a client needs its server's port");
  if (const auto& clock = connect.server_clock; clock && clock->error < 0)
    return refuse("connect.server_clock.error: expected 0 or more, got {}", clock->error);
  return {};
}

Result<void> check(const ProbeRequest& probe) {
  if (auto ok = check_address("probe.local", probe.local); !ok) return ok;
  if (auto ok = check_address("probe.peer", probe.peer); !ok) return ok;
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
  if (request.echo) return check_address("echo.address", request.echo->address);
  if (request.probe) return check(*request.probe);
  if (request.degen) {
    if (auto ok = check_word("degen.engine", request.degen->engine.value_or(""), 64, true); !ok) return ok;
    return check_parameters("degen.parameters", request.degen->parameters);
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
  return {};
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
  return parse<ServerMessage>(text);
}

}  // namespace longhaul::agents
