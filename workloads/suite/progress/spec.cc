#include "workloads/suite/progress/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::progress {
namespace {

std::optional<double> predict(const Parameters& parameters) {
  const auto round_trip = delays_of(parameters).round_trip();
  const bool read = !streams(parameters) && choice_of(parameters, "op", "read") == "read";
  const auto load = read ? 0.0 : static_cast<double>(integer_of(parameters, "load", 0));
  if (round_trip + load == 0) return std::nullopt;
  return round_trip + load;
}

// A fetch by write needs the server's write and the client's request, which is a write too.
std::vector<Capability> needs(const Parameters& parameters) {
  auto with_default = parameters;
  if (streams(parameters)) return {Capability::stream};
  with_default.emplace("op", Value{"read"});
  return ping_pong_needs(with_default);
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "progress",
      .summary = "fetch a message from a process that is busy for a given time before it can answer",
      .parameters = with_harness(
          {size_parameter(1024),
           {.name = "op",
            .kind = Kind::choice,
            .help = "read: the client reads the server's memory; write: the client's request is a write, the server's "
                    "answer is one too. tcp has request and response: leave it out there",
            .fallback = Value{"read"},
            .choices = {"read", "write"},
            .needs = Capability::send_receive},
           {.name = "load",
            .kind = Kind::duration,
            .help =
                "how long the server computes before it answers a request; with op read it computes all the time, in "
                "pieces of this length",
            .fallback = Value{0},
            .min = 0,
            .max = 1'000'000'000,
            .choices = {}},
           payload_parameter()}),
      .metrics = {{.name = "fetch",
                   .unit = "ns",
                   .better = Better::lower,
                   .help = "from the request until the message is there (WAN paper, section 4.3)"},
                  {.name = "load_time",
                   .unit = "ns",
                   .better = Better::neither,
                   .help = "the server's computation as it took place; longer than asked where communication or "
                           "interrupts took its processor"}},
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "load",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::progress
