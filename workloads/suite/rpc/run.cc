#include "workloads/suite/rpc/run.hh"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <vector>

#include "observe/clock.hh"
#include "workloads/protocols/rpc/client.hh"
#include "workloads/protocols/rpc/fit.hh"
#include "workloads/protocols/rpc/server.hh"
#include "workloads/protocols/rpc/stream.hh"
#include "workloads/protocols/stream.hh"
#include "workloads/suite/parameters.hh"
#include "workloads/suite/rpc/kernel.hh"

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kEntries = 65536;                  // of the directory: more than a READDIR gives
constexpr std::size_t kLeastInline = 1024;               // bytes (RFC 8166)
constexpr std::size_t kMostFile = std::size_t{1} << 29;  // bytes

std::string spelt_size(std::size_t bytes) {
  return format_quantity(Kind::size, static_cast<std::int64_t>(bytes));
}

nfs::Procedure procedure_of(const std::string& word) {
  if (word == "null") return nfs::Procedure::null;
  if (word == "write") return nfs::Procedure::write;
  if (word == "readdir") return nfs::Procedure::readdir;
  return word == "readlink" ? nfs::Procedure::readlink : nfs::Procedure::read;
}

Options options_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport) {
  const auto number = [&](const char* name) {
    return static_cast<std::size_t>(integer(parameters, spec.parameters, name));
  };
  const auto word = [&](const char* name) { return text(parameters, spec.parameters, name); };
  // 0: as the path turns out. Until that is known (settle()) it is the most that can come of it.
  const auto fitted = [&](const char* name, std::size_t most) { return number(name) == 0 ? most : number(name); };
  const bool mix = word("procedure") == "oltp";
  auto client_buffers = strategy_of(spec, parameters, transport);
  client_buffers.deferred = number("deferred");
  return {.procedure = procedure_of(word("procedure")),
          .mix = mix,
          .design = design_of(word("design")),
          .size = mix ? Mix::longest(number("size")) : number("size"),
          .clients = number("clients"),
          .threads = number("threads"),
          .ahead = number("ahead"),
          .credits = fitted("credits", number("threads") * (number("ahead") + 1)),
          .threshold = fitted("inline", kLongestInline),
          .segment = number("segment"),
          .ord = fitted("ord", kMostReads),
          .server_threads = number("server_threads"),
          .blocking = word("serving") == "blocking",
          .long_calls = word("calls") == "long",
          .copy = word("copy") == "client",
          .remote_invalidation = word("invalidation") == "remote",
          .client_buffers = client_buffers,
          .server_buffers = {.strategy = word("server_buffers"), .deferred = number("deferred")}};
}

Options options_of(const PairedSession& session) {
  return options_of(session.spec(), session.parameters(), session.transport());
}

std::optional<DiskSetup> disks_of(const WorkloadSpec& spec, const Parameters& parameters) {
  if (text(parameters, spec.parameters, "store") != "modelled") return std::nullopt;
  const auto number = [&](const char* name) { return integer(parameters, spec.parameters, name); };
  return DiskSetup{.cache = static_cast<std::uint64_t>(number("cache")),
                   .disks = static_cast<std::size_t>(number("disks")),
                   .seek = Nanoseconds{number("seek")},
                   .rate = BitRate{number("disk_rate")}};
}

bool by_kernel(const WorkloadSpec& spec, const Parameters& parameters) {
  return text(parameters, spec.parameters, "server") == "kernel";
}

Attempt<ConnectionPlan> rpc_plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                                 Role role) {
  const auto options = options_of(spec, parameters, transport);
  if (options.procedure == nfs::Procedure::readlink && options.size > nfs::kMostPath)
    return wrong_input("--size {}: a path that READLINK gives has at most {} bytes", options.size, nfs::kMostPath);
  if (options.ahead > 0 && (options.mix || options.procedure != nfs::Procedure::read))
    return wrong_input("--ahead {}: only READs are asked for ahead: give --procedure read", options.ahead);
  if (options.remote_invalidation && (!options.client_buffers.windows() || options.client_buffers.deferred > 0))
    return wrong_input(
        "--invalidation remote: a reply closes the window of its call: give --strategy fast, and no "
        "--deferred");
  if (options.file_size() > kMostFile)
    return wrong_input(
        "--clients {} with --threads {}{} and --size {}: the server's file would have {}, at most {} are "
        "kept in memory",
        options.clients, options.threads, options.ahead > 0 ? fmt::format(", --ahead {}", options.ahead) : "",
        spelt_size(options.size), spelt_size(options.file_size()), spelt_size(kMostFile));
  if (options.threshold < kLeastInline)
    return wrong_input("--inline {}: a message has at least {}; 0: as the path turns out", options.threshold,
                       spelt_size(kLeastInline));
  // A model's disks wake nobody.
  if (disks_of(spec, parameters) && sleeps(parameters))
    return unsupported("store modelled: disks are on time at a server that spins: leave --completion out");
  auto plan = plan_of(options, role, offers(transport, Capability::stream));
  if (!plan) return plan;
  adapt(*plan, spec, parameters, transport);
  plan->reads = static_cast<std::uint8_t>(options.ord);
  return plan;
}

// Bytes a second that this machine copies from one part of memory to another.
double copying_rate() {
  constexpr std::size_t kBytes = kLongestInline;
  constexpr int kTimes = 8;
  std::vector<std::byte> from(kBytes, std::byte{1});
  std::vector<std::byte> to(kBytes);
  std::copy(from.begin(), from.end(), to.begin());  // the pages are there now
  auto best = Nanoseconds::max();
  for (int i = 0; i < kTimes; ++i) {
    const auto begin = observe::raw_time();
    std::copy(from.begin(), from.end(), to.begin());
    from.front() ^= to.back();  // so that no copy is left out
    best = std::min<Nanoseconds>(best, observe::raw_time() - begin);
  }
  return static_cast<double>(kBytes) / ratio(std::max(best, Nanoseconds{1}), std::chrono::seconds{1});
}

Parameters settle(const WorkloadSpec& spec, Parameters parameters, std::string_view transport,
                  const std::function<PathFacts()>& look) {
  const auto by_path = [&](const char* name) { return integer(parameters, spec.parameters, name) == 0; };
  if (!by_path("inline") && !by_path("ord") && !by_path("credits")) return parameters;
  const auto choose = [&](const char* name, std::size_t value) {
    parameters[name] = static_cast<std::int64_t>(value);
    return value;
  };
  auto options = options_of(spec, parameters, transport);
  Path path{.facts = look()};
  if (offers(transport, Capability::stream)) {
    options.threshold = std::numeric_limits<std::size_t>::max();  // a message of sockets has any length
  } else {
    if (by_path("inline")) {
      path.copied = by_kernel(spec, parameters) ? 0 : copying_rate();  // Linux's server has messages of 4 KiB
      options.threshold = choose("inline", fit_inline(options, path));
    }
    if (by_path("ord")) options.ord = choose("ord", fit_ord(options, path));
  }
  if (by_path("credits")) choose("credits", fit_credits(options, path));
  return parameters;
}

Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport,
                             Role role) {
  auto plan = rpc_plan(spec, parameters, transport, role);
  if (!plan || !by_kernel(spec, parameters)) return plan;
  if (const auto lacking = kernel_lacks(options_of(spec, parameters, transport)); !lacking.empty())
    return unsupported("the kernel's NFS server: {}", lacking);
  if (disks_of(spec, parameters))
    return unsupported("the kernel's NFS server has files of its own: give --store memory");
  // Another connection goes to the kernel. This one says which device the path has, and looks after the other end.
  ConnectionPlan idle;
  adapt(idle, spec, parameters, transport);
  idle.memory = idle.message = 1;
  return idle;
}

// One thread of a client's. Counts the payload of operations that are done. All threads of a client share its
// connection: what one takes from it may be the result of another, which must not sleep then.
class CallLane final : public Lane, public Waitable {
 public:
  CallLane(Client& client, std::size_t thread, stream::Meter& meter)
      : client_(client), thread_(thread), meter_(meter) {}
  void start() override {
    state_ = State::calling;
    client_.start(thread_);
  }
  bool advance() override {
    client_.progress();
    if (!has_news()) return false;
    if (state_ == State::counted) {
      state_ = State::idle;
      return true;
    }
    meter_.count(client_.size(thread_), observe::raw_time());
    state_ = idle() ? State::idle : State::counted;
    return true;
  }
  bool idle() const override { return client_.idle(thread_); }
  void reset() override {
    meter_.reset();
    if (thread_ == 0) client_.reset();  // all lanes are reset before the first call of the window
  }
  Waitable& waitable() override { return *this; }
  bool arm() override { return client_.waitable().arm() && !has_news(); }
  int event_fd() const override { return client_.waitable().event_fd(); }
  std::uint32_t wait_events() const override { return client_.waitable().wait_events(); }

 private:
  enum class State {
    calling,
    counted,  // the window is over, and something may come that was asked for ahead
    idle
  };
  bool has_news() const {
    return (state_ == State::calling && client_.done(thread_)) || (state_ == State::counted && idle());
  }

  Client& client_;
  std::size_t thread_;
  stream::Meter& meter_;
  State state_ = State::idle;
};

std::unique_ptr<Client> make_client(const PairedSession& session, Connection& connection, const Options& options) {
  if (session.streams()) return std::make_unique<StreamClient>(connection, options);
  return std::make_unique<RdmaClient>(connection, options);
}

// What they did during the window, `count` calls of all of them together.
std::map<std::string, Metric> metrics_of(const std::vector<std::unique_ptr<Client>>& clients, const Options& options,
                                         std::uint64_t count) {
  double trips = 0;
  double stalls = 0;
  double found = 0;
  std::optional<registration::ExecutorCounters> registrations;
  for (const auto& one : clients) {
    trips += one->trips() / static_cast<double>(clients.size());
    stalls += static_cast<double>(one->stalls());
    found += static_cast<double>(one->found());
    if (const auto counters = one->registrations()) {
      if (!registrations) registrations.emplace();
      *registrations += *counters;
    }
  }
  std::map<std::string, Metric> metrics{{"trips", to_metric(trips, count)},
                                        {"credit_stalls", to_metric(stalls, count)}};
  if (options.ahead > 0 && count > 0) metrics["ahead_hits"] = to_metric(found / static_cast<double>(count), count);
  if (registrations) {
    metrics.merge(registration_metrics(*registrations, registrations->requests));
    if (const auto all = registrations->deregistrations; options.remote_invalidation && all > 0)
      metrics["closed_by_peer"] =
          to_metric(static_cast<double>(registrations->closed_by_peer) / static_cast<double>(all), all);
    metrics["idle"] = to_metric(static_cast<double>(registrations->most_idle_pages * registration::kPageSize), count);
  }
  return metrics;
}

std::map<std::string, Metric> client(ClientSession& session) {
  auto options = options_of(session);
  KernelPeer kernel;
  if (by_kernel(session.spec(), session.parameters())) {
    const auto plan = rpc_plan(session.spec(), session.parameters(), session.transport(), Role::client);
    kernel = meet_kernel(session, options, *plan);
    options.handles = kernel.handles;
  }
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<stream::Meter> meters(options.clients * options.threads, stream::Meter{options.kept()});
  Lanes lanes;
  for (std::size_t i = 0; i < options.clients; ++i) {
    options.client = i;
    auto& connection = kernel.connection ? *kernel.connection : *session.connections()[i];
    clients.push_back(make_client(session, connection, options));
    for (std::size_t thread = 0; thread < options.threads; ++thread)
      lanes.push_back(std::make_unique<CallLane>(*clients.back(), thread, meters[lanes.size()]));
  }
  const auto samples =
      session.measure(lanes, {.sleeping = session.sleeps(), .enough = stream::rounds(lanes.size(), options.kept())});
  for (const auto& one : clients) one->verify_last();
  const auto count = samples.front().histogram.count();
  auto metrics = metrics_of(clients, options, count);
  metrics["operation"] = to_metric(samples.front());
  if (options.moves_payload()) {
    metrics["throughput"] = to_metric(stream::rate_of(meters), stream::arrivals_of(meters));
  }
  if (options.moves_payload() && !options.mix) {
    metrics["ceiling"] =
        to_metric(8 * static_cast<double>(options.size) * clients.front()->ceiling(session.round_trip()), 1);
  }
  return metrics;
}

double mean(Nanoseconds all, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(all.count()) / static_cast<double>(count);
}

std::map<std::string, Metric> disk_metrics(MemoryStore& store) {
  if (store.disks() == nullptr) return {};
  const auto& counters = store.disks()->counters();
  std::map<std::string, Metric> metrics{
      {"disk_wait", to_metric(mean(counters.waited, counters.requests), counters.requests)}};
  if (counters.pages > 0)
    metrics["cached"] =
        to_metric(static_cast<double>(counters.cached) / static_cast<double>(counters.pages), counters.pages);
  return metrics;
}

std::map<std::string, Metric> server(ServerSession& session) {
  const auto options = options_of(session);
  if (by_kernel(session.spec(), session.parameters())) {
    serve_by_kernel(session, options);
    return {};
  }
  MemoryStore store{options.file_size(), options.procedure == nfs::Procedure::readdir ? kEntries : 1,
                    options.procedure == nfs::Procedure::readlink ? options.size : 1};
  if (const auto disks = disks_of(session.spec(), session.parameters())) store.lie_on(*disks);
  Lanes lanes;
  if (session.streams()) {
    for (const auto& connection : session.connections())
      lanes.push_back(std::make_unique<StreamServer>(*connection, options, store));
    session.serve(lanes, session.sleeps());
    return disk_metrics(store);
  }
  ServerThreads threads{.all = options.server_threads};
  std::vector<const RdmaServer*> servers;
  for (const auto& connection : session.connections()) {
    auto lane = std::make_unique<RdmaServer>(*connection, options, store, threads);
    servers.push_back(lane.get());
    lanes.push_back(std::move(lane));
  }
  session.serve(lanes, session.sleeps());
  ServerCounters all;
  for (const auto* one : servers) all += one->counters();
  const auto pinned = options.clients * pinned_by(options);
  auto metrics = disk_metrics(store);
  metrics.merge(
      std::map<std::string, Metric>{{"blocked", to_metric(mean(all.blocked, all.calls), all.calls)},
                                    {"reads_under_way", to_metric(static_cast<double>(all.most_reads), all.calls)},
                                    {"reachable", to_metric(mean(all.exposed, all.calls), all.calls)},
                                    {"pinned", to_metric(static_cast<double>(pinned), all.calls)}});
  return metrics;
}

}  // namespace

Runner runner() {
  return {.workload = "rpc", .plan = plan, .settle = settle, .client = client, .server = server};
}

}  // namespace longhaul::workloads::rpc
