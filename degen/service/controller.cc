#include "degen/service/controller.hh"

#include <algorithm>
#include <random>

#include "common/log.hh"

namespace longhaul::degen {
namespace {

constexpr Nanoseconds kTransit = std::chrono::milliseconds{500};  // of a probe, beyond what is asked
constexpr std::size_t kMaxName = 64;

Reply refused(const Error& error) {
  Reply reply;
  reply.error = error.message;
  return reply;
}

std::vector<std::string> all_interfaces(const Sides& sides) {
  std::vector<std::string> names;
  for (const auto& interface : sides.client) names.push_back(interface.name);
  for (const auto& interface : sides.server) names.push_back(interface.name);
  return names;
}

// Lateness can be told where the median of the residence is the delay and nothing else.
bool plain(const Direction& direction) {
  return direction.delay.count() > 0 && direction.jitter.count() == 0 && direction.rate.bits_per_second == 0 &&
         direction.schedule.none();
}

std::string printable(const std::string& name) {
  std::string text = name.substr(0, kMaxName);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c == 0x7f; }, '?');
  return text;
}

}  // namespace

std::uint32_t draw_seed() {
  return std::random_device{"/dev/urandom"}();
}

ImpairmentController::ImpairmentController(std::function<Sides()> sides, std::vector<std::unique_ptr<Engine>> engines,
                                           const RunDirectory& directory, std::function<std::uint32_t()> seeds)
    : sides_(std::move(sides)), engines_(std::move(engines)), directory_(directory), seeds_(std::move(seeds)) {
  const auto text = directory_.read(kCalibrationFile);
  if (text.empty()) return;
  if (auto calibration = calibration_from_json(text)) {
    calibration_ = std::move(*calibration);
  } else {
    log::warn("{} is not used: {}", directory_.file(kCalibrationFile), calibration.error().message);
  }
}

ImpairmentController::~ImpairmentController() {
  clear();
}

std::vector<std::string> ImpairmentController::sweep(const std::function<bool(const std::string&)>& mine) {
  mine_ = mine;
  return sweep_again();
}

std::vector<std::string> ImpairmentController::sweep_again() {
  auto interfaces = all_interfaces(sides_());
  if (const auto text = directory_.read(kOwnershipFile); !text.empty()) {
    if (const auto owned = ownership_from_json(text)) {
      // Its service may have had other interfaces than this one.
      for (const auto& name : owned->interfaces) {
        if (std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end()) continue;
        if (!mine_ || mine_(name)) interfaces.push_back(name);
      }
    } else {
      log::warn("{}: {}", directory_.file(kOwnershipFile), owned.error().message);
    }
  }
  std::vector<std::string> removed;
  resists_ = false;
  for (const auto& engine : engines_) {
    auto swept = engine->sweep(interfaces);
    for (auto& what : swept.removed) removed.push_back(std::move(what));
    if (!swept.clean) resists_ = true;
  }
  if (!resists_) directory_.remove(kOwnershipFile);
  return removed;
}

void ImpairmentController::connected(ClientId client, std::string peer) {
  peers_.push_back({client, std::move(peer), {}});
}

void ImpairmentController::disconnected(ClientId client) {
  if (holds(client)) {
    log::info("{} has gone: its impairment is cleared", holder_->name);
    clear();
  }
  std::erase_if(peers_, [&](const auto& peer) { return peer.client == client; });
}

void ImpairmentController::tick(const Now& now) {
  if (holder_ && now.steady - holder_->last_heard >= kLease) {
    log::warn("nothing came from {} for {} ms: its impairment is cleared", holder_->name, kLease.count());
    clear();
  }
  if (renewal_ && now.steady >= *renewal_) {
    try {
      renew(now);
    } catch (const std::exception& e) {
      log::error("{}; the impairment is cleared", e.what());
      clear();
      problem_ = e.what();
    }
  }
  if (now.steady >= next_look_) look(now);
}

std::optional<Nanoseconds> ImpairmentController::deadline() const {
  std::optional<Nanoseconds> next;
  if (holder_) next = holder_->last_heard + kLease;
  if (renewal_) next = std::min(next.value_or(*renewal_), *renewal_);
  if (!clean()) next = std::min(next.value_or(next_look_), next_look_);
  return next;
}

void ImpairmentController::look(const Now& now) {
  next_look_ = now.steady + kLook;
  if (active_ != nullptr) {
    if (const auto what = active_->missing()) {
      log::error("{}; what is left of the impairment is taken away", *what);
      clear();
      problem_ = *what;
    }
  } else if (resists_) {
    for (const auto& what : sweep_again()) log::info("removed at last: {}", what);
  }
}

void ImpairmentController::renew(const Now& now) {
  renewal_.reset();
  if (active_ == nullptr) return;
  if (const auto after = active_->renew()) renewal_ = now.steady + *after;
}

Reply ImpairmentController::handle(ClientId client, const Request& request, const Now& now) {
  try {
    return decide(client, request, now);
  } catch (const std::exception& e) {
    // The kernel or the run directory failed in the middle: unimpaired is the state that can be vouched for.
    log::error("{}: {}; all impairments are cleared", name_of(client), e.what());
    clear();
    return refused({fmt::format("degen failed: {}", e.what())});
  }
}

const std::vector<Lack>& ImpairmentController::find_lacks() {
  lacks_.clear();
  for (const auto& engine : engines_)
    for (auto& lack : engine->lacks()) lacks_.push_back(std::move(lack));
  return lacks_;
}

Reply ImpairmentController::decide(ClientId client, const Request& request, const Now& now) {
  // Whoever judges a run by this report has to know now.
  if (request.kind == RequestKind::measure || request.kind == RequestKind::show) next_look_ = now.steady;
  tick(now);  // a request that comes too late finds its impairment gone
  if (holds(client)) holder_->last_heard = now.steady;
  if (request.client)
    for (auto& peer : peers_)
      if (peer.client == client) peer.name = printable(*request.client);
  Reply reply;
  switch (request.kind) {
    case RequestKind::apply:
      reply = apply(client, request, now);
      break;
    case RequestKind::measure:
      reply = measure(client, now);
      break;
    case RequestKind::show:
      reply.ok = true;
      reply.report = report();
      reply.report->lacks = lacks_;
      break;
    case RequestKind::clear:
      if (holds(client) || (holder_ && request.force.value_or(false))) {
        if (!holds(client)) log::warn("{} takes the router from {}", name_of(client), holder_->name);
        close_window(now);
        clear();
      }
      reply.ok = true;
      reply.report = report();
      break;
    case RequestKind::heartbeat:
      reply.ok = true;
      break;
  }
  reply.held = holds(client);
  return reply;
}

Result<void> ImpairmentController::admit(ClientId client) const {
  if (resists_)
    return refuse(
        "the router is impaired still: what degen had put into its kernel could not be removed (see degen's "
        "log); this is tried again every {} ms",
        kLook.count());
  if (!holder_ || holds(client)) return {};
  return refuse("the router is held by {} ({}): wait until it lets go, or end it", holder_->name,
                describe(plan_->asked));
}

Reply ImpairmentController::apply(ClientId client, const Request& request, const Now& now) {
  if (auto ok = admit(client); !ok) return refused(ok.error());
  const auto impairment = make_impairment(request.parameters);
  if (!impairment) return refused(impairment.error());
  const auto name = request.engine.value_or(engine_names().front());
  const bool automatic = name == kAutoEngine;
  Seed seed{.value = request.seed.value_or(0), .asked = request.seed.has_value()};
  if (!seed.asked && impairment->random()) seed.value = seeds_();
  EngineChoice choice{.engine = name, .why = {}};
  Unable unable;
  Result<ImpairmentPlan> plan;
  for (;;) {
    if (automatic) {
      const auto chosen = choose_engine(*impairment, unable);
      if (!chosen) return refused(chosen.error());
      choice = *chosen;
    }
    plan = try_engine(choice.engine, *impairment, seed, name_of(client), now);
    if (plan) break;
    if (!automatic) return refused(plan.error());
    unable.emplace(choice.engine, plan.error().message);
  }
  plan_ = *plan;
  if (automatic) chosen_ = choice.why;
  problem_.clear();
  next_look_ = now.steady + kLook;
  holder_ = Holder{.client = client, .name = name_of(client), .last_heard = now.steady};
  renew(now);
  matcher_.reset();
  open_window();
  Reply reply;
  reply.ok = true;
  reply.report = report();
  return reply;
}

Result<ImpairmentPlan> ImpairmentController::try_engine(const std::string& name, const Impairment& impairment,
                                                        const Seed& seed, const std::string& holder, const Now& now) {
  const Lateness lateness{.forward = calibration_.estimate(name, Way::forward, impairment.forward.delay),
                          .back = calibration_.estimate(name, Way::back, impairment.back.delay)};
  auto plan = plan_for(impairment, name, sides_(), lateness, seed);
  if (!plan) return plan;
  if (engine(name) == nullptr) return refuse("engine {} is not available in this service", name);
  if (const auto ok = engine(name)->check(*plan); !ok) return tl::unexpected(ok.error());
  close_window(now);
  chosen_.reset();
  if (const auto ok = install(*plan, holder); !ok) {
    clear();
    return tl::unexpected(ok.error());
  }
  return plan;
}

Result<void> ImpairmentController::install(const ImpairmentPlan& plan, const std::string& holder) {
  Engine* next = engine(plan.engine);
  if (active_ != nullptr && (active_ != next || plan.empty())) take_away();
  if (resists_) return fail("what was applied before could not be removed (see degen's log)");
  if (plan.empty()) return {};
  // Until apply() is through, the old plan's objects may be there too.
  auto owned = ownership_of(plan, holder);
  if (plan_)
    for (const auto& name : ownership_of(*plan_, holder).interfaces) owned.add(name);
  directory_.write(kOwnershipFile, to_json(owned));
  active_ = next;
  return next->apply(plan);
}

// The file stays for as long as something of what it names is there.
void ImpairmentController::take_away() {
  if (active_ != nullptr && !active_->clear()) resists_ = true;
  active_ = nullptr;
  renewal_.reset();
  if (!resists_) directory_.remove(kOwnershipFile);
}

void ImpairmentController::clear() {
  take_away();
  holder_.reset();
  plan_.reset();
  chosen_.reset();
  matcher_.reset();
  open_window();
}

Reply ImpairmentController::measure(ClientId client, const Now& now) {
  if (auto ok = admit(client); !ok) return refused(ok.error());
  matcher_.expire(now.real, patience());
  Reply reply;
  reply.ok = true;
  reply.report = report();
  close_window(now);
  // The report says what the next apply will use.
  if (plan_) {
    reply.report->forward.lateness =
        calibration_.estimate(plan_->engine, Way::forward, plan_->asked.forward.delay).count();
    reply.report->back.lateness = calibration_.estimate(plan_->engine, Way::back, plan_->asked.back.delay).count();
  }
  matcher_.begin_window();
  open_window();
  return reply;
}

// Learns from the window that ends. While somebody holds the router, if only with a delay of 0, packets may be those of
// its workload: the unimpaired residence is learnt when nobody does.
void ImpairmentController::close_window(const Now& now) {
  matcher_.expire(now.real, patience());
  bool learnt = false;
  for (const auto way : {Way::forward, Way::back}) {
    const auto residence = matcher_.residence(way);
    if (residence.samples < kEnoughSamples) continue;
    const auto& baseline = calibration_.baseline(way);
    if (!plan_) {
      calibration_.baseline(way) = {.median = residence.median, .samples = residence.samples};
      learnt = true;
    } else if (plain(plan_->asked.way(way)) && baseline.samples > 0) {
      const Nanoseconds late{residence.median - baseline.median - plan_->programmed(way).count()};
      calibration_.learn(plan_->engine, way, plan_->asked.way(way).delay, late);
      learnt = true;
    }
  }
  if (learnt) directory_.write(kCalibrationFile, to_json(calibration_));
}

void ImpairmentController::open_window() {
  window_forward_ = active_ == nullptr ? Counters{} : active_->counters(Way::forward);
  window_back_ = active_ == nullptr ? Counters{} : active_->counters(Way::back);
}

Nanoseconds ImpairmentController::patience() const {
  if (!plan_) return kTransit;
  // A limited rate holds packets for as long as its queue lasts.
  Nanoseconds longest{0};
  for (const auto way : {Way::forward, Way::back}) {
    const auto& direction = plan_->asked.way(way);
    auto time = direction.longest();
    if (direction.schedule.changes_rate()) time += direction.schedule.length();
    if (direction.rate.bits_per_second > 0)
      time += time_on_link(std::int64_t{plan_->limit(way)} * (Interface{}.mtu + kLinkHeader), direction.rate);
    longest = std::max(longest, time);
  }
  return longest + kTransit;
}

DirectionReport ImpairmentController::direction_report(Way way) const {
  DirectionReport report;
  const auto residence = matcher_.residence(way);
  const auto& baseline = calibration_.baseline(way);
  report.median = residence.median;
  report.p99 = residence.p99;
  report.min = residence.min;
  report.max = residence.max;
  report.samples = residence.samples;
  report.lost = residence.lost;
  report.duplicated = residence.duplicated;
  report.reordered = residence.reordered;
  report.unimpaired = baseline.median;
  report.unimpaired_samples = baseline.samples;
  if (residence.samples > 0) report.achieved = residence.median - baseline.median;
  if (plan_) {
    report.asked = plan_->asked.way(way).delay.count();
    report.programmed = plan_->programmed(way).count();
    report.queue_limit = plan_->limit(way);
    report.lateness = calibration_.estimate(plan_->engine, way, plan_->asked.way(way).delay).count();
  }
  if (active_ != nullptr) {
    const auto counters = active_->counters(way);
    const auto& began = way == Way::forward ? window_forward_ : window_back_;
    report.dropped = counters.dropped - std::min(began.dropped, counters.dropped);
    report.overflowed = counters.overflowed - std::min(began.overflowed, counters.overflowed);
    if (plan_ && !plan_->asked.way(way).faults.none()) report.packets = counters.numbered;
  }
  return report;
}

Report ImpairmentController::report() const {
  Report report;
  report.impaired = !clean();
  if (!problem_.empty()) report.problem = problem_;
  if (plan_) {
    report.engine = plan_->engine;
    report.chosen = chosen_;
    if (plan_->asked.random() && active_ != nullptr && active_->draws_by_seed()) report.seed = plan_->seed.value;
    report.holder = holder_->name;
    report.parameters = to_parameters(plan_->asked);
  }
  report.forward = direction_report(Way::forward);
  report.back = direction_report(Way::back);
  return report;
}

Engine* ImpairmentController::engine(std::string_view name) const {
  for (const auto& engine : engines_)
    if (engine->name() == name) return engine.get();
  return nullptr;
}

std::string ImpairmentController::name_of(ClientId client) const {
  for (const auto& peer : peers_)
    if (peer.client == client) return peer.name.empty() ? peer.peer : fmt::format("{} ({})", peer.name, peer.peer);
  return fmt::format("client {}", client);
}

}  // namespace longhaul::degen
