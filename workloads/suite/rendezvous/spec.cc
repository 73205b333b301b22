#include "workloads/suite/rendezvous/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::rendezvous {
namespace {

constexpr const char* kEager = "eager";

std::vector<Capability> needs(const Parameters& parameters) {
  if (streams(parameters)) return {Capability::stream};
  const auto protocol = choice_of(parameters, "protocol", kEager);
  std::vector<Capability> wanted{Capability::send_receive};
  if (protocol == "write") wanted.push_back(Capability::write);
  if (protocol == "read") wanted.push_back(Capability::read);
  return wanted;
}

// Time of the trips alone.
std::optional<double> predict(const Parameters& parameters) {
  const auto one_way = delays_of(parameters).round_trip() / 2;
  if (one_way == 0) return std::nullopt;
  return one_way * (choice_of(parameters, "protocol", kEager) == kEager ? 1 : 3);
}

std::vector<ParameterSpec> parameters() {
  std::vector<ParameterSpec> all{
      size_parameter(16384),
      {.name = "protocol",
       .kind = Kind::choice,
       .help = "eager: copied through buffers known before; write: START, the receiver's address, RDMA write, FIN; "
               "read: START with the sender's address, RDMA read, FIN. Over tcp, write sends the data into the "
               "receiver's own buffer, and there is no read",
       .fallback = Value{std::string{kEager}},
       .choices = {kEager, "write", "read"}},
      {.name = "pipelining",
       .kind = Kind::flag,
       .help = "protocol read: fetch what is registered of the receiver's buffer while the rest is being registered",
       .fallback = Value{0},
       .choices = {},
       .needs = Capability::send_receive}};
  return with_buffers(std::move(all));
}

std::vector<MetricSpec> metrics() {
  std::vector<MetricSpec> all{{.name = "transfer",
                               .unit = "ns",
                               .better = Better::lower,
                               .help = "half of the time for a message and its reply, each by the protocol"},
                              {.name = "trips",
                               .unit = "1",
                               .better = Better::neither,
                               .help = "one-way trips before the receiver has the message, counted as they were made"}};
  return with_strategy(std::move(all));
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "rendezvous",
      .summary =
          "messages by the protocols of middleware: eager with a copy at either end, or an exchange of addresses "
          "for each transfer",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "size",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::rendezvous
