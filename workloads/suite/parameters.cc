#include "workloads/suite/parameters.hh"

namespace longhaul::workloads {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;

}  // namespace

ParameterSpec size_parameter(std::int64_t fallback) {
  return {.name = "size",
          .kind = Kind::size,
          .help = "bytes of one message",
          .fallback = Value{fallback},
          .min = 1,
          .max = std::int64_t{4} << 20,
          .choices = {}};
}

ParameterSpec op_parameter(std::vector<std::string> choices) {
  return {
      .name = "op",
      .kind = Kind::choice,
      .help =
          "RDMA operation: write is seen by polling memory; write_imm, write_send (a write, then an empty send) and "
          "send complete at the target; read fetches from it. tcp has only its stream: leave it out there",
      .fallback = Value{choices.front()},
      .choices = std::move(choices),
      .needs = Capability::send_receive};
}

ParameterSpec completion_parameter() {
  return {
      .name = "completion",
      .kind = Kind::choice,
      .help =
          "poll: spin on the completion queue, memory or socket; event: sleep until told (epoll, completion channel)",
      .fallback = Value{"poll"},
      .choices = {"poll", "event"}};
}

ParameterSpec verify_parameter() {
  return {.name = "verify",
          .kind = Kind::flag,
          .help =
              "compare every byte of every message (the server's checks count into the time); otherwise the first and "
              "last byte of every message, and every byte of the last one",
          .fallback = Value{0},
          .choices = {}};
}

ParameterSpec payload_parameter() {
  return {
      .name = "payload",
      .kind = Kind::count,
      .help =
          "which of 256 patterns the bytes of a message have; it must not matter, so runs by a virtual clock vary it",
      .fallback = Value{0},
      .min = 0,
      .max = 255,
      .choices = {}};
}

std::vector<ParameterSpec> strategy_parameters() {
  return {
      {.name = "strategy",
       .kind = Kind::choice,
       .help = "how the application's buffers are registered: preregistered, all at once before; each-time, for each "
               "message; else through a cache of regions: pin-down (least recently used), mrrc, best (the policy that "
               "saves most on traces)",
       .fallback = Value{"preregistered"},
       .choices = {"preregistered", "each-time", "pin-down", "mrrc", "best"},
       .needs = Capability::registration},
      {.name = "capacity",
       .kind = Kind::size,
       .help = "what the cache of regions keeps registered at either end at most",
       .fallback = Value{std::int64_t{8} << 20},
       .min = 4096,
       .max = std::int64_t{1} << 40,
       .choices = {},
       .needs = Capability::registration}};
}

std::vector<MetricSpec> with_strategy(std::vector<MetricSpec> own) {
  for (auto& metric : strategy_metrics()) own.push_back(std::move(metric));
  return own;
}

std::vector<ParameterSpec> reuse_parameters() {
  return {
      {.name = "reuse",
       .kind = Kind::choice,
       .help = "which buffers messages come from and go to: same, one of `size` bytes; anywhere, `size` bytes anywhere "
               "in as much memory as `buffers` of them take; httpd, cello92: buffers of the paper's sizes, by Zipf's "
               "law; else the name of a trace's file, on both nodes",
       .fallback = Value{"same"},
       .choices = {},
       .punctuation = "/"},
      {.name = "buffers",
       .kind = Kind::count,
       .help = "how many buffers the application has",
       .fallback = Value{256},
       .min = 1,
       .max = 65536,
       .choices = {}},
      payload_parameter()};
}

std::vector<MetricSpec> strategy_metrics() {
  const auto metric = [](const char* name, const char* unit, Better better, const char* help) {
    return MetricSpec{.name = name, .unit = unit, .better = better, .help = help};
  };
  return {metric("registering", "ns", Better::lower, "mean time in ibv_reg_mr a message, at the client"),
          metric("deregistering", "ns", Better::lower, "mean time in ibv_dereg_mr a message, at the client"),
          metric("hit_ratio", "1", Better::higher, "share of the client's buffers that were registered already"),
          metric("misses", "1", Better::neither, "buffers of the client that had to be registered, in part at least"),
          metric("evictions", "1", Better::neither, "regions of the client that made room for others"),
          metric("exposure", "ns", Better::lower,
                 "mean time from the end of a region's last use to its deregistration, at the client: a peer that "
                 "knows its key can still reach it")};
}

std::vector<ParameterSpec> harness_parameters() {
  return {{.name = "duration",
           .kind = Kind::duration,
           .help = "how long the measured window is open",
           .fallback = Value{kSecond},
           .min = kMillisecond,
           .max = 3600 * kSecond,
           .choices = {}},
          {.name = "warmup",
           .kind = Kind::duration,
           .help = "how long it runs before the window; its samples are discarded",
           .fallback = Value{100 * kMillisecond},
           .min = 0,
           .max = 600 * kSecond,
           .choices = {}},
          {.name = "min_samples",
           .kind = Kind::count,
           .help = "the window stays open beyond its duration until so many operations are done",
           .fallback = Value{10},
           .min = 1,
           .max = 100'000'000,
           .choices = {}},
          {.name = "timeout",
           .kind = Kind::duration,
           .help = "an operation that takes longer ends the run as failed",
           .fallback = Value{10 * kSecond},
           .min = 100 * kMillisecond,
           .max = 600 * kSecond,
           .choices = {}},
          {.name = "congestion_control",
           .kind = Kind::choice,
           .help = "tcp: cubic, reno, bbr ...; default: the system's",
           .fallback = {},
           .choices = {},
           .needs = Capability::stream}};
}

std::vector<ParameterSpec> with_buffers(std::vector<ParameterSpec> own) {
  for (auto& parameter : reuse_parameters()) own.push_back(std::move(parameter));
  for (auto& parameter : strategy_parameters()) own.push_back(std::move(parameter));
  return with_harness(std::move(own));
}

std::vector<ParameterSpec> with_harness(std::vector<ParameterSpec> own) {
  for (auto& parameter : harness_parameters()) own.push_back(std::move(parameter));
  return own;
}

std::vector<Capability> ping_pong_needs(const Parameters& parameters) {
  std::vector<Capability> wanted;
  // Sockets have one operation; naming another one of a sockets cell asks for what they do not have.
  const bool stream = streams(parameters);
  const auto op = choice_of(parameters, "op", "write");
  if (op == "write" && stream) wanted.push_back(Capability::stream);
  if (op == "write" && !stream) wanted.push_back(Capability::write);
  if (op == "write_imm") wanted.push_back(Capability::write_with_immediate);
  if (op == "write_send") wanted.insert(wanted.end(), {Capability::write, Capability::send_receive});
  if (op == "send") wanted.push_back(Capability::send_receive);
  if (op == "read") wanted.push_back(Capability::read);
  if (sleeps(parameters)) wanted.push_back(Capability::event_completion);
  return wanted;
}

bool streams(const Parameters& parameters) {
  return offers(choice_of(parameters, "transport"), Capability::stream);
}

bool sleeps(const Parameters& parameters) {
  return choice_of(parameters, "completion", "poll") == "event";
}

std::string operation_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  return offers(transport, Capability::stream) ? "stream" : text(parameters, spec.parameters, "op");
}

Delays delays_of(const Parameters& parameters) {
  const auto forward = integer_of(parameters, "delay", 0);
  return {.forward = forward, .back = integer_of(parameters, "delay_back", forward)};
}

}  // namespace longhaul::workloads
