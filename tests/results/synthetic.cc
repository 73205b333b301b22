#include "tests/results/synthetic.hh"

#include <cmath>
#include <random>

namespace longhaul::results::synthetic {
namespace {

constexpr std::int64_t kStart = 1'763'700'000'000'000'000;

struct Series {
  Parameters axes;
  double base_ns;  ///< of a 64-byte message
  double byte_ns;
  const char* device;
};

const std::vector<Series>& series() {
  static const std::vector<Series> all{
      {{{"transport", Value{"rdma"}}, {"provider", Value{"rxe"}}}, 27'400, 4.9, "rxe_a0"},
      {{{"transport", Value{"tcp"}}, {"rival", Value{"rxe"}}}, 148'000, 3.1, "a0"},
      {{{"transport", Value{"rdma"}}, {"provider", Value{"siw"}}}, 34'600, 3.4, "siw_a1"},
      {{{"transport", Value{"tcp"}}, {"rival", Value{"siw"}}}, 151'000, 3.1, "a1"},
  };
  return all;
}

// The standard library's distributions differ between implementations; the golden files must not.
class Noise {
 public:
  explicit Noise(unsigned seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_()) + 0.5) / 4294967296.0; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }

 private:
  std::mt19937 engine_;
};

NodeFacts facts_of(const std::string& node, bool emulated) {
  NodeFacts facts{.hostname = node,
                  .boot_id = "6f2c1f0e-7d0a-4b5e-9a61-1d2b3c4d5e6f",
                  .kernel = "6.1.0-41-amd64",
                  .cpu_model = emulated ? "QEMU TCG CPU version 2.5+" : "AMD EPYC 7443P",
                  .cpus = 2,
                  .emulated = emulated,
                  .hypervisor = emulated ? "qemu-tcg" : "",
                  .clock_source = "tsc",
                  .memory_bytes = 495'976'448,
                  .longhaul_version = "0.1.0 (commit 1a2b3c4d)",
                  .sysctls = {{"net.ipv4.tcp_congestion_control", "cubic"},
                              {"net.ipv4.tcp_no_metrics_save", "1"},
                              {"net.ipv4.tcp_rmem", "4096 131072 67108864"},
                              {"net.ipv4.tcp_wmem", "4096 131072 67108864"}},
                  .nics = {},
                  .rdma = {}};
  const std::map<std::string, bool> off{
      {"gro", false}, {"gso", false}, {"tso", false}, {"rx-checksum", true}, {"tx-checksum", true}};
  const std::string side = node == "server" ? "b" : "a";
  for (int i = 0; i < 2; ++i) {
    const auto name = node == "router" ? (i == 0 ? "ra0" : "rb0") : side + std::to_string(i);
    facts.nics.push_back({.name = name,
                          .driver = "veth",
                          .mac = "02:00:00:00:00:0" + std::to_string(i),
                          .mtu = 1500,
                          .speed_mbit = 10000,
                          .addresses = {fmt::format("10.{}.{}.2/24", i, side == "a" ? 1 : 2)},
                          .offloads = off});
    if (node == "router") continue;
    const std::string provider = i == 0 ? "rxe" : "siw";
    facts.rdma.push_back({.name = provider + "_" + name,
                          .provider = provider,
                          .netdev = name,
                          .transport = i == 0 ? "InfiniBand" : "iWARP",
                          .firmware = "",
                          .state = "ACTIVE",
                          .active_mtu = 1024});
  }
  return facts;
}

Testbed testbed_of(bool emulated) {
  const auto end = [](const char* name, Role role, const char* side, const char* host_part) {
    const std::string prefix = side;
    return Node{
        .name = name,
        .role = role,
        .host = "127.0.0.1",
        .port = 7471,
        .attachments = {{"wan", prefix + "0", std::string{"10.0."} + host_part + ".2", "rxe_" + prefix + "0", "rxe"},
                        {"wan", prefix + "1", std::string{"10.1."} + host_part + ".2", "siw_" + prefix + "1", "siw"}},
        .links = {}};
  };
  return {.topology = "compact",
          .emulated = emulated,
          .ca = "/home/u/.longhaul/ca.pem",
          .cert = "/home/u/.longhaul/controller.pem",
          .key = "/home/u/.longhaul/controller.key",
          .nodes = {end("client", Role::client, "a", "1"), end("server", Role::server, "b", "2"),
                    Node{.name = "router",
                         .role = Role::router,
                         .host = "127.0.0.1",
                         .port = 7472,
                         .attachments = {},
                         .links = {{"ra0", "rb0"}, {"ra1", "rb1"}}}}};
}

PathRecord path_of(std::int64_t delay, Noise& noise) {
  const auto direction = [&] {
    PathDirection d;
    d.asked = delay;
    d.programmed = delay == 0 ? 0 : delay - 280'000 - static_cast<std::int64_t>(20'000 * noise.uniform());
    d.achieved = static_cast<std::int64_t>(static_cast<double>(delay) + (delay == 0 ? 600 : 14'000) * noise.normal());
    d.p99 = d.achieved + 1'900'000 + static_cast<std::int64_t>(400'000 * noise.uniform());
    d.unimpaired = 38'000;
    d.samples = 200;
    return d;
  };
  PathRecord path{.engine = "netem", .forward = direction(), .back = direction()};
  path.rtt_unimpaired = 410'000;
  path.rtt = path.rtt_unimpaired + path.forward.achieved + path.back.achieved;
  path.rtt_samples = 200;
  path.before = {path.forward.achieved + 3'000, path.back.achieved - 2'000};
  path.after = {path.forward.achieved - 4'000, path.back.achieved + 5'000};
  return path;
}

NodeRecord client_of(const Series& one, std::int64_t delay, std::int64_t size, const PathRecord& path,
                     const Options& options, Noise& noise) {
  const double work = (one.base_ns + one.byte_ns * static_cast<double>(size)) * options.slower *
                      std::exp(options.noise * noise.normal());
  // What the emulator's timers add differs from run to run, and the more the longer they are.
  const double timers = delay == 0 ? 0 : (20'000 + 0.006 * static_cast<double>(delay)) * noise.normal();
  const double way = static_cast<double>(path.forward.achieved + path.back.achieved) / 2 + timers;
  Histogram histogram;
  const int samples = delay == 0 ? options.samples : std::max<int>(25, static_cast<int>(kMillisecond * 500 / delay));
  std::vector<std::int64_t> raw;
  for (int i = 0; i < samples; ++i) {
    // A tail: one sample in fifty waits for a timer of the emulator.
    const double late = noise.uniform() < 0.02 ? 2'000'000 * noise.uniform() : 0;
    raw.push_back(
        std::max<std::int64_t>(1, static_cast<std::int64_t>(way + work * std::exp(0.12 * noise.normal()) + late)));
    histogram.record(raw.back());
  }
  raw.resize(20);
  const auto* transport = std::get_if<std::string>(&one.axes.at("transport"));
  const bool rdma = *transport == "rdma";
  NodeRecord record{.workload = "latency", .role = Role::client, .parameters = {{"size", Value{size}}}, .metrics = {}};
  record.metrics["latency"] = {
      .value = histogram.quantile(0.5), .samples = histogram.count(), .distribution = to_data(histogram), .raw = raw};
  record.transport = TransportFacts{.transport = *transport,
                                    .provider = rdma ? std::get<std::string>(one.axes.at("provider")) : "kernel",
                                    .device = one.device,
                                    .netdev = rdma ? std::string{one.device}.substr(4) : one.device,
                                    .mtu = rdma ? 1024 : 1500,
                                    .queue_depth = rdma ? 128 : 4'194'304,
                                    .congestion_control = rdma ? "" : "cubic"};
  record.cpu = CpuUse{.wall = 1'000 * kMillisecond,
                      .node_user = 600 * kMillisecond,
                      .node_system = 350 * kMillisecond,
                      .process_user = 580 * kMillisecond,
                      .process_system = 300 * kMillisecond};
  return record;
}

}  // namespace

namespace {

constexpr const char* kMoments[] = {
    "at_started",           "at_client_registering", "at_client_registered", "at_server_registering",
    "at_server_registered", "at_key_sent",           "at_key_came"};

WorkloadSpec transfer_spec() {
  WorkloadSpec transfer;
  transfer.name = "transfer";
  transfer.summary = "getting both ends ready";
  const auto word = [](const char* name, const char* fallback, std::optional<Capability> needs = {}) {
    return ParameterSpec{
        .name = name, .kind = Kind::choice, .help = name, .fallback = Value{fallback}, .choices = {}, .needs = needs};
  };
  transfer.parameters = {{.name = "size", .kind = Kind::size, .help = "bytes", .fallback = Value{65536}, .min = 1},
                         word("direction", "write"),
                         word("protocol", "typical", Capability::registration),
                         word("strategy", "preregistered", Capability::registration),
                         word("reuse", "same"),
                         word("completion", "poll"),
                         {.name = "compute",
                          .kind = Kind::duration,
                          .help = "meanwhile",
                          .fallback = Value{0},
                          .needs = Capability::registration}};
  for (const auto* name :
       {"transfer", "critical_path", "client_registration", "server_registration", "start_trip", "key_trip"})
    transfer.metrics.push_back({.name = name, .unit = "ns", .better = Better::lower, .help = name});
  for (const auto* name : kMoments)
    transfer.metrics.push_back({.name = name, .unit = "ns", .better = Better::neither, .help = name, .detail = true});
  transfer.roles = {Role::client, Role::server};
  transfer.plot_axis = "size";
  return transfer;
}

}  // namespace

Vocabulary vocabulary() {
  Vocabulary words;
  WorkloadSpec latency;
  latency.name = "latency";
  latency.summary = "one message at a time, to and fro: half of the round trip";
  latency.parameters = {
      {.name = "size",
       .kind = Kind::size,
       .help = "bytes of one message",
       .fallback = Value{64},
       .min = 1,
       .max = 4 << 20},
      {.name = "op",
       .kind = Kind::choice,
       .help = "RDMA operation",
       .fallback = Value{"write"},
       .choices = {"write", "send", "read"}},
      {.name = "completion",
       .kind = Kind::choice,
       .help = "poll or event",
       .fallback = Value{"poll"},
       .choices = {"poll", "event"}},
      {.name = "duration", .kind = Kind::duration, .help = "measured window", .fallback = Value{1'000 * kMillisecond}},
      {.name = "clients", .kind = Kind::count, .help = "connections", .fallback = Value{1}, .min = 1},
  };
  latency.metrics = {{.name = "latency",
                      .unit = "ns",
                      .better = Better::lower,
                      .help = "half of the round trip of a message and its reply"}};
  latency.roles = {Role::client, Role::server};
  latency.plot_axis = "delay";
  WorkloadSpec simulation;
  simulation.name = "simulation";
  simulation.summary = "a registration cache over a trace, simulated";
  simulation.parameters = {
      {.name = "policy", .kind = Kind::choice, .help = "which regions are kept", .fallback = Value{"lru"}},
      {.name = "capacity", .kind = Kind::size, .help = "how much", .fallback = Value{8 << 20}},
      {.name = "cost",
       .kind = Kind::choice,
       .help = "profile",
       .fallback = Value{"wu2003"},
       .choices = {"wu2003", "mietke"}},
      {.name = "trace", .kind = Kind::choice, .help = "or a file", .fallback = Value{"generated"}},
      {.name = "objects", .kind = Kind::count, .help = "objects", .fallback = Value{8192}},
  };
  simulation.metrics = {{.name = "hit_ratio", .unit = "1", .better = Better::higher, .help = "hits"},
                        {.name = "cost", .unit = "ns", .better = Better::lower, .help = "of registering"}};
  simulation.roles = {Role::local};
  simulation.transports = {};
  simulation.plot_axis = "capacity";
  words.workloads = {latency, simulation, transfer_spec()};
  for (const auto* name : {"delay", "delay_back", "jitter"})
    words.impairment.push_back({.name = name, .kind = Kind::duration, .help = "one-way", .fallback = {}});
  words.impairment.front().fallback = Value{0};
  words.impairment.push_back({.name = "loss", .kind = Kind::fraction, .help = "lost packets", .fallback = Value{0}});
  return words;
}

namespace {

// Nothing is noise: every repetition gives the figures of the first.
void count_instructions(Campaign& campaign) {
  campaign.manifest.virtual_clock = VirtualTestbed{
      .shift = 1, .quantum = 1000, .qemu = "10.0.2 <5c1f>", .image = "ab12", .kernel = "cd34", .programs = "ef56"};
  std::map<std::string, const RunRecord*> first;
  for (auto& run : campaign.runs) {
    const auto* model = first.emplace(run.cell_id, &run).first->second;
    run.nodes = model->nodes;
    run.path = model->path;
    run.virtual_clock = VirtualClock{.shift = 1,
                                     .quantum = 1000,
                                     .qemu = "10.0.2 <5c1f>",
                                     .image = "ab12",
                                     .seed = static_cast<std::uint64_t>(run.repetition),
                                     .digest = samples_digest(run)};
  }
}

}  // namespace

Campaign campaign(const Options& options) {
  Campaign result;
  Noise noise{options.seed};
  auto& manifest = result.manifest;
  manifest.name = "quick";
  manifest.description = "four series, four delays, two sizes";
  manifest.campaign_file = "campaigns/quick.yaml";
  manifest.campaign_text =
      "name: quick\nworkload: latency\naxes:\n  delay: [0, 1ms, 5ms, 20ms]  # one-way, <each> direction\n";
  manifest.seed = options.seed;
  manifest.version = "0.1.0 (commit 1a2b3c4d)";
  manifest.command = "longhaul run campaigns/quick.yaml --lab --out out/demo --seed 1";
  manifest.testbed = testbed_of(options.emulated);
  manifest.repetitions_min = manifest.repetitions_max = options.runs;
  manifest.started = kStart;

  std::map<std::string, std::string> digests;
  for (const auto& node : manifest.testbed.nodes) {
    const auto facts = facts_of(node.name, options.emulated);
    digests[node.name] = facts_digest(facts);
    result.facts[digests[node.name]] = facts;
  }
  std::vector<const Series*> owner;
  for (const auto& one : series()) {
    for (const auto size : options.sizes) {
      for (const auto delay : options.delays_ns) {
        auto parameters = one.axes;
        if (size != 64) parameters["size"] = Value{size};
        if (delay != 0) parameters["delay"] = Value{delay};
        if (options.virtual_clock) parameters[kClockAxis] = Value{kVirtualClock};
        const Cell cell{.workload = "latency", .parameters = parameters};
        manifest.cells.push_back({.cell_id = cell_id(cell), .workload = "latency", .parameters = parameters});
        owner.push_back(&one);
      }
    }
  }
  std::int64_t now = kStart;
  for (int repetition = 0; repetition < options.runs; ++repetition) {
    for (std::size_t i = 0; i < manifest.cells.size(); ++i) {
      const auto& cell = manifest.cells[i];
      const auto number = [&](const char* name, std::int64_t fallback) {
        const auto it = cell.parameters.find(name);
        return it == cell.parameters.end() ? fallback : std::get<std::int64_t>(it->second);
      };
      RunRecord run{.run_id = fmt::format("{}/{}/0", cell.cell_id, repetition),
                    .cell_id = cell.cell_id,
                    .workload = cell.workload,
                    .parameters = cell.parameters,
                    .repetition = repetition,
                    .topology = "compact",
                    .started = now,
                    .finished = now + 1'300 * kMillisecond};
      now = run.finished + 100 * kMillisecond;
      run.path = path_of(number("delay", 0), noise);
      run.nodes["client"] = client_of(*owner[i], number("delay", 0), number("size", 64), *run.path, options, noise);
      run.nodes["server"] = NodeRecord{.workload = "latency", .role = Role::server};
      run.nodes["server"].cpu = CpuUse{.wall = 1'000 * kMillisecond,
                                       .node_user = 200 * kMillisecond,
                                       .node_system = 100 * kMillisecond,
                                       .node_softirq = (50 + repetition) * kMillisecond,
                                       .process_user = 190 * kMillisecond};
      run.facts = digests;
      result.runs.push_back(std::move(run));
    }
  }
  manifest.finished = now;
  manifest.wall = now - kStart;
  manifest.measuring = static_cast<std::int64_t>(static_cast<double>(manifest.wall) * 0.79);
  if (options.virtual_clock) count_instructions(result);
  return result;
}

void spoil(Campaign& campaign, std::size_t cell, Status status, const std::string& message) {
  for (auto& run : campaign.runs) {
    if (run.cell_id != campaign.manifest.cells.at(cell).cell_id) continue;
    run.status = status;
    run.message = message;
    if (status != Status::limited) run.nodes.clear();
  }
}

void share(Campaign& campaign, double larger) {
  const auto renamed = [](const auto& nodes) {
    std::decay_t<decltype(nodes)> result;
    for (const auto& [node, what] : nodes) result["west-" + node] = what;
    return result;
  };
  auto west = campaign.manifest.testbed;
  for (auto& node : west.nodes) node.name = "west-" + node.name;
  campaign.manifest.further_testbeds = {west};
  for (auto& run : campaign.runs) {
    if (run.repetition % 2 == 0) continue;
    run.facts = renamed(run.facts);
    run.nodes = renamed(run.nodes);
    for (auto& [node, record] : run.nodes)
      for (auto& [name, metric] : record.metrics) metric.value *= larger;
  }
}

Campaign awkward() {
  auto result = campaign({.delays_ns = {0, 5'000'000}, .sizes = {64}});
  result.manifest.name = "quick </script><script>alert(1)</script> & \"co\"";
  result.manifest.campaign_text += "# </script><!-- {{data}} \u2028\n";
  spoil(result, 1, Status::refused, "achieved 5.9 ms, asked \"5 ms\", tolerance 0.25 ms");
  spoil(result, 3, Status::limited, "window: 128 packets a round trip");
  spoil(result, 5, Status::unsupported, "siw has no write_imm </script>");
  spoil(result, 7, Status::failed, "bench, killed by signal 9");
  const auto change = [&](std::size_t index, const std::string& name, const Value& value) {
    auto& planned = result.manifest.cells[index];
    planned.parameters[name] = value;
    for (auto& run : result.runs)
      if (run.cell_id == planned.cell_id) run.parameters = planned.parameters;
  };
  change(0, "path", Value{"lan"});
  change(2, "delay_back", Value{2'500'000});
  change(2, "loss", Value{1000});
  for (auto& run : result.runs) {
    if (run.cell_id == result.manifest.cells[0].cell_id) run.path.reset();
    if (run.cell_id == result.manifest.cells[2].cell_id) run.nodes["client"].transport->device = "a0, \"the\" first";
  }
  return result;
}

void add_cell(Campaign& campaign, const std::string& workload, const Parameters& parameters, Role role,
              const std::function<Measured(int)>& measure) {
  const auto id = cell_id(Cell{.workload = workload, .parameters = parameters});
  campaign.manifest.cells.push_back({.cell_id = id, .workload = workload, .parameters = parameters});
  for (int repetition = 0; repetition < 6; ++repetition) {
    RunRecord run{.run_id = fmt::format("{}/{}/0", id, repetition),
                  .cell_id = id,
                  .workload = workload,
                  .parameters = parameters,
                  .repetition = repetition,
                  .topology = "compact"};
    auto& node = run.nodes["client"];
    node.workload = workload;
    node.role = role;
    node.metrics = measure(repetition);
    campaign.runs.push_back(std::move(run));
  }
}

Campaign alone() {
  Campaign result;
  auto& manifest = result.manifest;
  manifest.name = "simulated";
  manifest.description = "two policies, three capacities";
  manifest.campaign_text = "name: simulated\nworkload: simulation\n";
  manifest.version = "0.1.0 (commit 1a2b3c4d)";
  manifest.command = "longhaul run simulated.yaml --lab --out out/simulated --seed 1";
  manifest.testbed.topology = "compact";
  manifest.started = kStart;
  for (int i = 0; i < 6; ++i) {
    const std::int64_t capacity = std::int64_t{1 << 20} << i % 3;
    Parameters parameters{{"capacity", Value{capacity}}, {"objects", Value{500}}};
    if (i >= 3) parameters["policy"] = Value{"mrrc"};
    const double hits = 0.4 + 0.1 * (i % 3) + (i < 3 ? 0 : 0.2);
    add_cell(result, "simulation", parameters, Role::local, [&](int) -> Measured {
      return {{"hit_ratio", {.value = hits, .samples = 100}}, {"cost", {.value = 1e6 * (1 - hits), .samples = 100}}};
    });
  }
  manifest.finished = kStart + kMillisecond;
  return result;
}

Campaign transfers() {
  Campaign result;
  auto& manifest = result.manifest;
  manifest.name = "transfers";
  manifest.description = "three processes, two delays, beside sockets";
  manifest.campaign_text = "name: transfers\nworkload: transfer\n";
  manifest.version = "0.1.0 (commit 1a2b3c4d)";
  manifest.testbed = testbed_of(true);
  manifest.started = kStart;
  const std::int64_t d = 5'000'000;
  for (const std::int64_t delay : {std::int64_t{0}, d}) {
    for (const std::string protocol : {"typical", "frrwp", "advertised", "sockets"}) {
      const bool sockets = protocol == "sockets";
      Parameters parameters{{"transport", Value{sockets ? "tcp" : "rdma"}},
                            {sockets ? "rival" : "provider", Value{"rxe"}}};
      if (!sockets) parameters["strategy"] = Value{"each-time"};
      if (!sockets && protocol != "typical") parameters["protocol"] = Value{protocol};
      if (delay > 0) parameters["delay"] = Value{delay};
      add_cell(result, "transfer", parameters, Role::client, [&](int repetition) {
        Measured metrics;
        const double trip = static_cast<double>(delay) + 100'000 + 1000 * repetition;
        const double registration = 400'000;
        const double start = protocol == "typical" ? registration : 0;
        const double path = protocol == "advertised" ? registration : start + 2 * trip + registration;
        const auto measured = [&](const char* name, double value) { metrics[name] = {.value = value, .samples = 50}; };
        measured("transfer", (sockets ? 0 : path) + trip + 500'000);
        if (!sockets) {
          measured("critical_path", path);
          measured("client_registration", registration);
          if (protocol != "advertised") {
            measured("server_registration", registration);
            measured("start_trip", trip);
            measured("key_trip", trip);
            const double moments[] = {start + trip, 0,   registration, start + trip, start + trip + registration,
                                      path - trip,  path};
            for (std::size_t i = 0; i < std::size(moments); ++i) measured(kMoments[i], moments[i]);
          }
        }
        return metrics;
      });
    }
  }
  manifest.finished = kStart + kMillisecond;
  return result;
}

Summary summed(const Campaign& campaign) {
  auto summary = summarise(campaign.manifest, campaign.runs, campaign.facts, vocabulary());
  if (!summary) throw std::runtime_error(summary.error().message);
  return *summary;
}

Result<void> write(const Campaign& campaign, const std::filesystem::path& directory) {
  auto store = Store::open(directory, OpenMode::create);
  if (!store) return tl::unexpected(store.error());
  if (auto saved = store->save_manifest(campaign.manifest); !saved) return saved;
  for (const auto& [digest, facts] : campaign.facts)
    if (auto added = store->add_facts(digest, facts); !added) return added;
  for (const auto& run : campaign.runs)
    if (auto added = store->add_run(run); !added) return added;
  return {};
}

}  // namespace longhaul::results::synthetic
