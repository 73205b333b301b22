#include "workloads/suite/latency/spec.hh"

namespace longhaul::workloads::latency {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;

std::string choice(const Parameters& parameters, const std::string& name, std::string fallback) {
  const auto it = parameters.find(name);
  const auto* word = it == parameters.end() ? nullptr : std::get_if<std::string>(&it->second);
  return word == nullptr ? std::move(fallback) : *word;
}

std::vector<Capability> needs(const Parameters& parameters) {
  std::vector<Capability> wanted;
  // Sockets have one operation; naming another one of a sockets cell asks for what they do not have.
  const bool tcp = choice(parameters, "transport", "rdma") == "tcp";
  const auto op = choice(parameters, "op", "write");
  if (op == "write" && tcp) wanted.push_back(Capability::stream);
  if (op == "write" && !tcp) wanted.push_back(Capability::write);
  if (op == "write_imm") wanted.push_back(Capability::write_with_immediate);
  if (op == "write_send") wanted.insert(wanted.end(), {Capability::write, Capability::send_receive});
  if (op == "send") wanted.push_back(Capability::send_receive);
  if (op == "read") wanted.push_back(Capability::read);
  if (choice(parameters, "completion", "poll") == "event") wanted.push_back(Capability::event_completion);
  return wanted;
}

// No message is faster than the emulated path: half of the round trip, all of it for a read.
std::optional<double> predict(const Parameters& parameters) {
  const auto delay = [&](const std::string& name) -> std::optional<std::int64_t> {
    const auto it = parameters.find(name);
    if (it == parameters.end() || !std::holds_alternative<std::int64_t>(it->second)) return std::nullopt;
    return std::get<std::int64_t>(it->second);
  };
  const auto forward = delay("delay").value_or(0);
  const auto round_trip = static_cast<double>(forward + delay("delay_back").value_or(forward));
  if (round_trip == 0) return std::nullopt;
  return choice(parameters, "op", "write") == "read" ? round_trip : round_trip / 2;
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "latency",
      .summary = "one message at a time, to and fro: half of the round trip (all of it for an RDMA read)",
      .parameters = {{.name = "size",
                      .kind = Kind::size,
                      .help = "bytes of one message",
                      .fallback = Value{64},
                      .min = 1,
                      .max = std::int64_t{4} << 20,
                      .choices = {}},
                     {.name = "op",
                      .kind = Kind::choice,
                      .help =
                          "RDMA operation: write is seen by polling memory; write_imm, write_send (a write, then an "
                          "empty send) and send "
                          "complete at the target; read fetches from it. tcp has only its stream: leave it out there",
                      .fallback = Value{"write"},
                      .choices = {"write", "write_imm", "write_send", "send", "read"},
                      .transport = "rdma"},
                     {.name = "completion",
                      .kind = Kind::choice,
                      .help = "poll: spin on the completion queue, memory or socket; event: sleep until told (epoll, "
                              "completion channel)",
                      .fallback = Value{"poll"},
                      .choices = {"poll", "event"}},
                     {.name = "duration",
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
                     {.name = "clients",
                      .kind = Kind::count,
                      .help = "connections, each with one message on its way, all driven by one thread at either end",
                      .fallback = Value{1},
                      .min = 1,
                      .max = 256,
                      .choices = {}},
                     {.name = "verify",
                      .kind = Kind::flag,
                      .help = "compare every byte of every message (the server's checks count into the time); "
                              "otherwise the first and last "
                              "byte of every message, and every byte of the last one",
                      .fallback = Value{0},
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
                      .transport = "tcp"}},
      .metrics =
          {{.name = "latency",
            .unit = "ns",
            .better = Better::lower,
            .help =
                "half of the round trip of a message and its reply of equal size; for op read the whole time of the "
                "fetch, which is one round trip (as ib_read_lat reports it)"}},
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::latency
