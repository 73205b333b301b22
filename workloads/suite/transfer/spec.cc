#include "workloads/suite/transfer/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::transfer {
namespace {

constexpr std::int64_t kMebi = 1 << 20;

std::vector<Capability> needs(const Parameters& parameters) {
  std::vector<Capability> wanted;
  if (streams(parameters))
    wanted = {Capability::stream};
  else
    wanted = {Capability::send_receive, Capability::write, Capability::registration};
  if (sleeps(parameters)) wanted.push_back(Capability::event_completion);
  return wanted;
}

// Time of the trips alone until the data is there.
std::optional<double> predict(const Parameters& parameters) {
  const auto delays = delays_of(parameters);
  if (delays.round_trip() == 0) return std::nullopt;
  if (choice_of(parameters, "direction", "write") == "read") return delays.round_trip();
  const bool at_once = streams(parameters) || choice_of(parameters, "protocol", "typical") == "advertised";
  const auto data = static_cast<double>(delays.forward);
  return at_once ? data : delays.round_trip() + data;
}

std::vector<ParameterSpec> parameters() {
  std::vector<ParameterSpec> all{
      size_parameter(65536),
      {.name = "direction",
       .kind = Kind::choice,
       .help = "write: the data goes from the client to the server; read: from the server to the client. The client "
               "begins either, and the data always moves by an RDMA write",
       .fallback = Value{"write"},
       .choices = {"write", "read"}},
      {.name = "protocol",
       .kind = Kind::choice,
       .help = "typical: the two ends register one after the other; frrwp: at the same time; frrwp+crw: and the source "
               "posts a conditional write, which an engine submits when the key comes; advertised: the sink has sent "
               "keys ahead of need. Over tcp the data goes at once: leave it out there",
       .fallback = Value{"typical"},
       .choices = {"typical", "frrwp", "frrwp+crw", "advertised"},
       .needs = Capability::registration},
      {.name = "paired",
       .kind = Kind::flag,
       .help =
           "every second transfer goes by the typical process: what the protocol saves is told by neighbours, in the "
           "same moments",
       .fallback = Value{0},
       .choices = {},
       .needs = Capability::registration},
      {.name = "compute",
       .kind = Kind::duration,
       .help = "what the source's application computes while the key is on its way, in one piece",
       .fallback = Value{0},
       .min = 0,
       .max = 1'000'000'000,
       .choices = {},
       .needs = Capability::registration},
      {.name = "credits",
       .kind = Kind::count,
       .help = "protocol advertised: how many keys the source has ahead",
       .fallback = Value{2},
       .min = 1,
       .max = 32,
       .choices = {},
       .needs = Capability::registration},
      {.name = "progress",
       .kind = Kind::choice,
       .help = "protocol frrwp+crw: event, the engine sleeps until something comes; poll: it spins, which wants a "
               "processor of its own",
       .fallback = Value{"event"},
       .choices = {"event", "poll"},
       .needs = Capability::registration},
      completion_parameter()};
  all.front().max = 64 * kMebi;
  return with_buffers(std::move(all));
}

std::vector<MetricSpec> metrics() {
  const auto metric = [](const char* name, Better better, const char* help, bool detail = false) {
    return MetricSpec{.name = name, .unit = "ns", .better = better, .help = help, .detail = detail};
  };
  std::vector<MetricSpec> all{
      metric("transfer", Better::lower, "from the client's wish until the data is in the sink's memory"),
      metric("critical_path", Better::lower,
             "from the client's wish until the source has posted the RDMA write: what registrations and messages cost "
             "(paper F, section 6)"),
      metric("saved", Better::higher,
             "paired: the median of what a critical path is shorter than that of its typical neighbour"),
      metric("client_registration", Better::lower, "the client's buffer is made usable by the strategy"),
      metric("server_registration", Better::lower, "the server's buffer is made usable by the strategy"),
      metric("start_trip", Better::neither, "from START sent until the server has it"),
      metric("key_trip", Better::neither, "from the sink's key sent until the source has it"),
      metric("submission", Better::lower,
             "from key and registration at hand at the source until the write is posted: what CRW is to shorten"),
      metric("key_exposed", Better::lower,
             "from the sink's key sent until its buffer is given back: how long this transfer has a key out"),
      metric("computation", Better::neither, "the source's computation as it took place", true),
      metric("completion_entry", Better::neither, "the paper's T1: taking a completion from its queue, at the client",
             true),
      metric("wake_up", Better::neither, "the paper's T2: from an event until the thread that slept on it runs", true),
      metric("system_call", Better::neither, "the paper's T3: into the kernel and back", true)};
  for (const auto& [name, what] :
       {std::pair{"at_started", "the server has START"}, std::pair{"at_client_registering", "its registration begins"},
        std::pair{"at_client_registered", "its registration ends"},
        std::pair{"at_server_registering", "the server's registration begins"},
        std::pair{"at_server_registered", "the server's registration ends"},
        std::pair{"at_key_sent", "the sink sends its key"}, std::pair{"at_key_came", "the source has the key"},
        std::pair{"at_client_released", "its buffer is given back"},
        std::pair{"at_server_released", "the server's buffer is given back"}})
    all.push_back({.name = name,
                   .unit = "ns",
                   .better = Better::neither,
                   .help = std::string{"from the client's wish until "} + what,
                   .detail = true});
  return with_strategy(std::move(all));
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "transfer",
      .summary =
          "getting both ends ready before the data moves: registrations and keys one after the other, at the "
          "same time, by conditional writes, or ahead of need",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "size",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::transfer
