#include "workloads/harness/session.hh"

#include <algorithm>
#include <limits>
#include <thread>

#include "observe/clock.hh"
#include "observe/counters.hh"
#include "observe/facts.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

// For operations of each lane: less than a driver waits for a window.
constexpr Nanoseconds kLongestWait = 15s;
constexpr int kClockExchanges = 8;
/// Two crystals of 50 ppm part by a ten-thousandth of the time that passes.
constexpr std::int64_t kDrift = 10'000;
/// So long, and a round trip more, before windows open together all that is to be told is told.
constexpr Nanoseconds kToldAhead = 50ms;
constexpr Nanoseconds kMostAhead = 5s;

std::string gave_up(const char* who, const ControlMessage& message) {
  return fmt::format("the {} gave up: {}", who, message.message.value_or("no reason given"));
}

// The sender's clock is that of the machine with this boot id.
bool of_one_clock(const ControlMessage& message, const std::string& boot) {
  return message.boot && !message.boot->empty() && *message.boot == boot;
}

}  // namespace

std::optional<observe::RawTime> opening_of(const ControlMessage& told, const std::string& boot,
                                           const std::optional<PeerClock>& clock, observe::RawTime now) {
  const bool one_clock = of_one_clock(told, boot);
  if (!told.time || (!one_clock && !clock)) return std::nullopt;
  constexpr auto kLatest = std::numeric_limits<std::int64_t>::max() / 2;  // so that nothing overflows
  const auto time = observe::from_ns(std::clamp<std::int64_t>(*told.time, 0, kLatest));
  const auto opening = time - (one_clock ? Nanoseconds{0} : clock->offset);
  return std::min(opening, now + kMostAhead);
}

PairedSession::PairedSession(const WorkloadSpec& spec, Role role, Parameters parameters, const ConnectionPlan& plan,
                             Connections connections, ControlChannel& control, Events& events, int stop)
    : RunSide(spec, role, std::move(parameters), plan.unused, connections.front()->facts().transport, events, stop),
      connections_(std::move(connections)),
      control_(control),
      round_trip_(workloads::round_trip(control.fd())) {}

std::vector<std::map<std::string, double>> PairedSession::counters() const {
  std::vector<std::map<std::string, double>> all;
  for (const auto& connection : connections_) {
    all.push_back(connection->counters());
    if (connection->counts_device()) break;  // the others share the device
  }
  return all;
}

void PairedSession::open_window(std::optional<observe::RawTime> at) {
  counters_start_ = counters();
  if (at) idle(*at - observe::raw_time());
  RunSide::open_window();
}

void PairedSession::close_window() {
  RunSide::close_window();
  transport_ = connections_.front()->facts();
  const auto after = counters();
  for (std::size_t i = 0; i < after.size(); ++i)
    for (const auto& [name, moved] : observe::difference(after[i], counters_start_[i]))
      transport_.counters[name] += moved;
}

double PairedSession::moved(const std::string& counter) const {
  const auto it = transport_.counters.find(counter);
  return it == transport_.counters.end() ? 0 : it->second;
}

void PairedSession::count(const std::string& name, double value) {
  if (value != 0) transport_.counters[name] += value;
}

void PairedSession::check_world() const {
  check_stop(stop_);
  for (const auto& connection : connections_)
    if (std::find(left_.begin(), left_.end(), connection.get()) == left_.end()) connection->check_alive();
}

Foreign PairedSession::dial(const ConnectionPlan& plan, std::uint16_t port, const std::string& private_data) const {
  const auto& code = *find_transport_code(transport_name_);
  if (!code.dial) throw Unsupported(fmt::format("{} connects to longhaul's own servers only", transport_name_));
  const auto device = find_transport(transport_name_)->provider.empty() ? transport_.device : std::string{};
  auto foreign = code.dial({.plan = plan, .device = device, .control = control_.fd()}, port, private_data, patience());
  if (foreign) return std::move(*foreign);
  if (foreign.error().status == Status::unsupported) throw Unsupported(foreign.error().message);
  throw std::runtime_error(foreign.error().message);
}

void PairedSession::idle(Nanoseconds time) const {
  constexpr Nanoseconds kGlance = 5ms;
  const auto end = observe::raw_time() + time;
  for (auto now = observe::raw_time(); now < end; now = observe::raw_time()) {
    std::this_thread::sleep_for(std::min(kGlance, end - now));
    check_world();
  }
}

Patience PairedSession::patience() const {
  return Patience::of(duration("timeout") + 10s, stop_);
}

NodeRecord PairedSession::record(std::map<std::string, Metric> metrics) const {
  auto record = RunSide::record(std::move(metrics));
  record.transport = transport_;
  auto limits = connections_.front()->limits();
  record.limits.insert(record.limits.begin(), limits.begin(), limits.end());
  return record;
}

ControlMessage ClientSession::hear(ControlKind kind, const std::string& expected) const {
  auto message = control_.receive(patience(), expected);
  if (!message) throw PeerFailed(message.error().message);
  if (message->kind != kind) throw PeerFailed(gave_up("server", *message));
  return std::move(*message);
}

void ClientSession::await_connected() const {
  static_cast<void>(hear(ControlKind::connected, "the server's word that it has the connections"));
}

bool ClientSession::tick() {
  check_world();
  auto message = control_.next();
  if (!message) throw PeerFailed(message.error().message);
  if (*message) throw PeerFailed(gave_up("server", **message));
  if (window_end_) progress(1 - ratio(*window_end_ - observe::raw_time(), duration("duration")));
  return true;
}

std::vector<Samples> ClientSession::measure(const Lanes& lanes, const Options& options) {
  LoopOptions loop;
  loop.sleeping = options.sleeping;
  loop.inspecting = options.inspecting;
  loop.timeout = duration("timeout");
  loop.divisor = options.divisor;
  loop.kinds = options.kinds;
  loop.count = options.count;
  loop.wake_fds = {control_.fd(), stop_};
  loop.tick = [this] { return tick(); };
  // As many operations as lanes: some may begin only when the first has its answer (credits of rpc), and what they need
  // when all are under way, such as a granted slot each, comes of their having been so.
  run_operations(lanes, Window{std::max(duration("warmup"), options.round_trips * round_trip()), lanes.size()}, loop);

  // Nothing is on its way now: what either end does to take stock disturbs no sample.
  ControlMessage barrier;
  barrier.kind = ControlKind::window_start;
  control_.send(barrier, patience());
  const auto answer = hear(ControlKind::window_start, "the server's word that its window is open");
  open_window(answer.time ? opening_of(answer, observe::boot_id(), known_clock_, observe::raw_time()) : std::nullopt);
  loop.raw_limit = kRawSamples;
  window_end_ = observe::raw_time() + duration("duration");
  const auto fewest = options.fewest.value_or(static_cast<std::uint64_t>(number("min_samples")));
  const Window window{duration("duration"), fewest, {.enough = options.enough, .patience = kLongestWait}};
  auto samples = run_operations(lanes, window, loop);
  if (const auto count = options.count ? options.count() : samples.front().histogram.count(); !window.fulfilled(count))
    limit(fmt::format("{} operations in {}: too few for what {} may have under way, their rate is a guess", count,
                      format_quantity(Kind::duration, kLongestWait.count()),
                      lanes.size() == 1 ? "a connection" : fmt::format("{} threads or connections", lanes.size())));
  close_window();
  return samples;
}

std::string ClientSession::await_prepared() {
  for (;;) {
    auto message = control_.next();
    if (!message) throw PeerFailed(message.error().message);
    if (*message && (*message)->kind == ControlKind::prepared) return (*message)->message.value_or("");
    if (*message) throw PeerFailed(gave_up("server", **message));
    check_world();
  }
}

PeerClock ClientSession::peer_clock() {
  const auto boot = observe::boot_id();
  auto best = known_clock_.value_or(PeerClock{.offset = {}, .error = Nanoseconds::max()});
  bool one_clock = false;
  for (int i = 0; i < kClockExchanges; ++i) {
    ControlMessage question;
    question.kind = ControlKind::clock;
    const auto asked = observe::raw_time();
    control_.send(question, patience());
    const auto answer = hear(ControlKind::clock, "the server's clock");
    const auto heard = observe::raw_time();
    if (!answer.time) throw PeerFailed("the server's clock tells no time");
    one_clock = of_one_clock(answer, boot);
    const auto error = (heard - asked) / 2;
    if (error < best.error) best = {observe::from_ns(*answer.time) - (asked + error), error};
  }
  if (one_clock) return {};
  best.error += (duration("warmup") + duration("duration")) / kDrift;
  return best;
}

NodeRecord ClientSession::finish(const std::map<std::string, Metric>& metrics) {
  ControlMessage stop;
  stop.kind = ControlKind::window_stop;
  stop.record.emplace();
  for (const auto& [name, metric] : metrics) stop.record->metrics[name] = to_metric(metric.value, metric.samples);
  control_.send(stop, patience());
  auto answer = hear(ControlKind::finished, "the server's record");
  if (!answer.record) throw PeerFailed("the server ended without a record");
  return std::move(*answer.record);
}

ServerSession::ServerSession(const WorkloadSpec& spec, Parameters parameters, const ConnectionPlan& plan,
                             Connections connections, const std::vector<ControlChannel*>& clients, Events& events,
                             int stop)
    : PairedSession(spec, Role::server, std::move(parameters), plan, std::move(connections), *clients.front(), events,
                    stop) {
  for (auto* control : clients) clients_.push_back({control});
}

void ServerSession::open_with_clients() {
  ControlMessage answer;
  answer.kind = ControlKind::window_start;
  const auto open = [this](std::optional<observe::RawTime> at) {
    open_window(at);
    if (on_window_) on_window_();
  };
  if (clients_.size() == 1) {
    open(std::nullopt);
    return tell_all(answer);
  }
  // Several are told ahead when: none is to begin while others have yet to hear of it.
  const auto opening = observe::raw_time() + kToldAhead + round_trip();
  answer.time = observe::to_ns(opening);
  answer.boot = observe::boot_id();
  tell_all(answer);
  open(opening);
}

void ServerSession::tell_all(const ControlMessage& message) {
  for (const auto& client : clients_) client.control->send(message, patience());
}

bool ServerSession::tick() {
  bool heard = false;
  for (auto& client : clients_) {
    // The client's message comes before the loss of its connection: one that it closed may be the end of its failure.
    const auto message = client.control->next();
    if (!message) throw PeerFailed("the client gave up: " + message.error().message);
    if (!*message) continue;
    heard = true;
    take(client, **message);
  }
  if (!heard) check_world();
  return !std::all_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.through; });
}

void ServerSession::take(Client& client, const ControlMessage& message) {
  const auto any_through = std::any_of(clients_.begin(), clients_.end(), [](const Client& one) { return one.through; });
  switch (message.kind) {
    case ControlKind::window_start:
      client.ready = true;
      if (!std::all_of(clients_.begin(), clients_.end(), [](const Client& one) { return one.ready; })) return;
      if (lanes_ != nullptr)
        for (const auto& lane : *lanes_) lane->reset();
      open_with_clients();
      return;
    case ControlKind::window_stop:
      if (!any_through) close_window();
      client.through = true;
      if (message.record)
        for (const auto& [name, metric] : message.record->metrics) peer_metrics_[name] += metric.value;
      return;
    default:
      throw PeerFailed(gave_up("client", message));
  }
}

void ServerSession::serve(const Lanes& lanes, bool sleeping) {
  LoopOptions loop;
  loop.sleeping = sleeping || lanes.empty();
  for (const auto& client : clients_) loop.wake_fds.push_back(client.control->fd());
  loop.wake_fds.push_back(stop_);
  loop.tick = [this] { return tick(); };
  lanes_ = &lanes;
  workloads::serve(lanes, loop);
  lanes_ = nullptr;
}

void ServerSession::prepared(const std::string& words) {
  ControlMessage message;
  message.kind = ControlKind::prepared;
  if (!words.empty()) message.message = words;
  tell_all(message);
}

void ServerSession::tell_clock() {
  auto& control = *clients_.front().control;
  const auto boot = observe::boot_id();
  for (int i = 0; i < kClockExchanges; ++i) {
    const auto question = control.receive(patience(), "the client's question for the clock");
    if (!question) throw PeerFailed("the client gave up: " + question.error().message);
    if (question->kind != ControlKind::clock) throw PeerFailed(gave_up("client", *question));
    ControlMessage answer;
    answer.kind = ControlKind::clock;
    answer.time = observe::to_ns(observe::raw_time());
    answer.boot = boot;
    control.send(answer, patience());
  }
}

double ServerSession::peer_metric(const std::string& name) const {
  const auto it = peer_metrics_.find(name);
  return it == peer_metrics_.end() ? 0 : it->second;
}

void ServerSession::occupy(const std::function<void()>& work) {
  do {
    work();
  } while (tick());
}

Metric to_metric(const Samples& samples) {
  Metric metric;
  metric.value = samples.histogram.quantile(0.5);
  metric.samples = samples.histogram.count();
  metric.distribution = to_data(samples.histogram);
  metric.raw = samples.raw;
  return metric;
}

Metric to_metric(double value, std::uint64_t samples) {
  return {.value = value, .samples = samples, .distribution = {}, .raw = {}};
}

}  // namespace longhaul::workloads
