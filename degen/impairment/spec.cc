#include "degen/impairment/spec.hh"

#include <algorithm>
#include <set>
#include <utility>

#include "degen/impairment/profiles.hh"
#include "degen/impairment/timeline.hh"

namespace longhaul::degen {
namespace {

constexpr std::string_view kBack = "_back";
constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<ParameterSpec> forward_axes() {
  return {
      {.name = "delay",
       .kind = Kind::duration,
       .help = "one-way delay added by the router",
       .fallback = Value{0},
       .max = 10 * kSecond,
       .choices = {}},
      // netem computes with 32 bits of it (sch_netem.c, tabledist), so it ends well below 2.1 s.
      {.name = "jitter",
       .kind = Kind::duration,
       .help = "spread of the delay, at most the delay: half width (uniform) or standard deviation",
       .fallback = Value{0},
       .max = 1 * kSecond,
       .choices = {}},
      {.name = "distribution",
       .kind = Kind::choice,
       .help = "of the jitter: uniform, normal, pareto (a long tail of late packets)",
       .fallback = Value{"uniform"},
       .choices = {"uniform", "normal", "pareto"}},
      {.name = "jitter_order",
       .kind = Kind::choice,
       .help = "kept: jitter delays those behind too; free: a packet may overtake an earlier one",
       .fallback = Value{"kept"},
       .choices = {"kept", "free"}},
      {.name = "loss",
       .kind = Kind::fraction,
       .help = "packets lost",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "loss_burst",
       .kind = Kind::count,
       .help = "mean number of packets lost in a row (Gilbert model); 1: independent losses",
       .fallback = Value{1},
       .min = 1,
       .max = 10'000,
       .choices = {}},
      {.name = "ge_enter",
       .kind = Kind::fraction,
       .help = "Gilbert-Elliott losses, in place of 'loss': packets after which the good state turns bad (p)",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "ge_leave",
       .kind = Kind::fraction,
       .help = "packets after which the bad state turns good (r); its mean length is 1 / ge_leave packets",
       .fallback = Value{1'000'000},
       .min = 1,
       .max = 1'000'000,
       .choices = {}},
      {.name = "ge_loss_bad",
       .kind = Kind::fraction,
       .help = "packets lost in the bad state (1-h)",
       .fallback = Value{1'000'000},
       .max = 1'000'000,
       .choices = {}},
      {.name = "ge_loss_good",
       .kind = Kind::fraction,
       .help = "packets lost in the good state (1-k)",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "ecn",
       .kind = Kind::flag,
       .help = "packets that would be lost are marked instead (CE) where their sender knows marks (RFC 3168)",
       .fallback = Value{0},
       .max = 1,
       .choices = {}},
      {.name = "rate",
       .kind = Kind::rate,
       .help = "rate of the link; unlimited adds no serialisation time",
       .fallback = Value{0},
       .max = 400'000'000'000,
       .choices = {}},
      {.name = "queue",
       .kind = Kind::count,
       .help = "packets of full length that may wait for the link (needs a rate), more are lost; 0: as many as are on "
               "the way there and back, and 128",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "duplicate",
       .kind = Kind::fraction,
       .help = "packets that arrive twice",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "corrupt",
       .kind = Kind::fraction,
       .help = "packets in which one bit is flipped; who checks them drops them",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "reorder",
       .kind = Kind::fraction,
       .help = "packets that skip the delay and overtake those before them; needs a delay",
       .fallback = Value{0},
       .max = 1'000'000,
       .choices = {}},
      {.name = "faults",
       .kind = Kind::choice,
       .help = "of single packets by their number, such as 'drop 17, drop 20-22, duplicate 5, delay 9 by 3ms, swap "
               "11'; count: they are only counted; of one flow's packets: 'udp 4791: drop 17', 'tcp: count'",
       .fallback = Value{"none"},
       .choices = {},
       .punctuation = " ,:",
       .check = [](const std::string& text) -> Result<void> {
         if (auto faults = parse_faults(text); !faults) return tl::unexpected(faults.error());
         return {};
       }},
      {.name = "schedule",
       .kind = Kind::choice,
       .help = "delay, loss and rate that change, such as '2s delay 30ms loss 1%, 4s rate 5Mbit/s, 6s down, 7s rate "
               "20Mbit/s, repeat 10s' (degen schedule makes one of a trace)",
       .fallback = Value{"none"},
       .choices = {},
       .punctuation = " ,%/",
       .longest = kLongestSchedule,
       .check = [](const std::string& text) -> Result<void> {
         if (auto schedule = parse_schedule(text); !schedule) return tl::unexpected(schedule.error());
         return {};
       }},
  };
}

ParameterSpec profile_axis() {
  ParameterSpec axis{.name = kProfileAxis,
                     .kind = Kind::choice,
                     .help = "a ready WAN, which sets other axes (degen profiles)",
                     .fallback = Value{kNoProfile},
                     .choices = {kNoProfile}};
  for (const auto& profile : profiles()) axis.choices.push_back(profile.name);
  return axis;
}

std::vector<ParameterSpec> all_axes() {
  auto axes = forward_axes();
  const auto count = axes.size();
  for (std::size_t i = 0; i < count; ++i) {
    auto axis = axes[i];
    axis.help = fmt::format("server to client: {}; absent: as {}", axis.help, axis.name);
    axis.name += kBack;
    axis.fallback.reset();
    axes.push_back(std::move(axis));
  }
  axes.push_back(profile_axis());
  return axes;
}

Distribution distribution_of(const std::string& name) {
  if (name == "normal") return Distribution::normal;
  if (name == "pareto") return Distribution::pareto;
  return Distribution::uniform;
}

std::string_view name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::normal:
      return "normal";
    case Distribution::pareto:
      return "pareto";
    case Distribution::uniform:
      break;
  }
  return "uniform";
}

// One direction's values: `suffix` "_back" falls back on the forward axis.
class Reader {
 public:
  Reader(const Parameters& parameters, std::string_view suffix) : parameters_(parameters), suffix_(suffix) {}

  std::int64_t number(const std::string& axis) const { return std::get<std::int64_t>(value(axis)); }
  std::string word(const std::string& axis) const { return std::get<std::string>(value(axis)); }

 private:
  const Value& value(const std::string& axis) const {
    if (const auto it = parameters_.find(axis + std::string{suffix_}); it != parameters_.end()) return it->second;
    if (const auto it = parameters_.find(axis); it != parameters_.end()) return it->second;
    return *find_parameter(impairment_axes(), axis)->fallback;
  }
  const Parameters& parameters_;
  std::string_view suffix_;
};

Direction read_direction(const Parameters& parameters, std::string_view suffix) {
  const Reader read{parameters, suffix};
  return {.delay = Nanoseconds{read.number("delay")},
          .jitter = Nanoseconds{read.number("jitter")},
          .distribution = distribution_of(read.word("distribution")),
          .keep_order = read.word("jitter_order") == "kept",
          .loss = Ppm{read.number("loss")},
          .loss_burst = read.number("loss_burst"),
          .ge = {.enter = Ppm{read.number("ge_enter")},
                 .leave = Ppm{read.number("ge_leave")},
                 .loss_bad = Ppm{read.number("ge_loss_bad")},
                 .loss_good = Ppm{read.number("ge_loss_good")}},
          .ecn = read.number("ecn") != 0,
          .rate = BitRate{read.number("rate")},
          .queue = read.number("queue"),
          .duplicate = Ppm{read.number("duplicate")},
          .corrupt = Ppm{read.number("corrupt")},
          .reorder = Ppm{read.number("reorder")},
          // Checked by their axes.
          .faults = parse_faults(read.word("faults")).value(),
          .schedule = parse_schedule(read.word("schedule")).value()};
}

Result<void> check_direction(const Direction& d, std::string_view suffix) {
  if (d.jitter > d.delay)
    return refuse(
        "jitter{}: {} is more than the delay of {}: no packet can leave before it came; raise delay{} or lower it",
        suffix, format_quantity(Kind::duration, d.jitter.count()), format_quantity(Kind::duration, d.delay.count()),
        suffix);
  if (d.reorder.parts > 0 && d.delay.count() == 0)
    return refuse("reorder{}: {} without delay{}: a packet can overtake only those that are held", suffix,
                  format_quantity(Kind::fraction, d.reorder.parts), suffix);
  if (d.queue > 0 && !d.limited())
    return refuse(
        "queue{0}: {1} without rate{0}: nothing waits for a link that is never busy; give a rate, or leave it out",
        suffix, d.queue);
  if (d.loss.parts > 0 && !d.ge.none())
    return refuse("loss{0}: {1} beside ge_enter{0} or ge_loss_good{0}: packets are lost by one model; leave out either",
                  suffix, format_quantity(Kind::fraction, d.loss.parts));
  // The Gilbert model enters its bad state with p = loss / (burst x (1 - loss)), a probability.
  if (d.loss_burst > 1 && d.loss.parts > 0 && d.loss.parts > d.loss_burst * (1'000'000 - d.loss.parts))
    return refuse("loss{}: {} cannot be reached with bursts of {}: at most {}", suffix,
                  format_quantity(Kind::fraction, d.loss.parts), d.loss_burst,
                  format_quantity(Kind::fraction, 1'000'000 * d.loss_burst / (d.loss_burst + 1)));
  return {};
}

Result<void> check_schedule(const Direction& d, std::string_view suffix) {
  if (d.schedule.none()) return {};
  const auto& first = d.schedule.changes.front();
  const bool from_the_beginning = first.at.count() == 0 && first.rate;
  if (d.schedule.changes_rate() && d.rate.bits_per_second == 0 && !from_the_beginning)
    return refuse("schedule{0}: which rate{0} has the link before {1}? Give rate{0}, or a rate at 0s", suffix,
                  format_quantity(Kind::duration, first.at.count()));
  if (d.schedule.loses() && (d.loss_burst > 1 || !d.ge.none()))
    return refuse("schedule{0}: a loss that changes, beside losses in bursts: leave out loss_burst{0} and ge_*{0}",
                  suffix);
  const Timeline timeline{d, Nanoseconds{0}};
  for (const auto& moment : timeline.moments()) {
    auto then = d;
    then.schedule = {};
    then.delay = moment.delay;
    then.loss = moment.loss;
    if (!moment.rate.down) then.rate = moment.rate.rate;
    if (const auto ok = check_direction(then, suffix); !ok)
      return refuse("schedule{}: from {} on: {}", suffix, format_quantity(Kind::duration, moment.at.count()),
                    ok.error().message);
  }
  return {};
}

// Parameters of one direction; values at `base`'s are left out.
void write_direction(const Direction& d, const Direction& base, const std::string& suffix, Parameters& out) {
  const auto number = [&](const std::string& axis, std::int64_t value, std::int64_t other) {
    if (value != other) out.emplace(axis + suffix, value);
  };
  number("delay", d.delay.count(), base.delay.count());
  number("jitter", d.jitter.count(), base.jitter.count());
  if (d.distribution != base.distribution) out.emplace("distribution" + suffix, std::string{name_of(d.distribution)});
  if (d.keep_order != base.keep_order)
    out.emplace("jitter_order" + suffix, std::string{d.keep_order ? "kept" : "free"});
  number("loss", d.loss.parts, base.loss.parts);
  number("loss_burst", d.loss_burst, base.loss_burst);
  number("ge_enter", d.ge.enter.parts, base.ge.enter.parts);
  number("ge_leave", d.ge.leave.parts, base.ge.leave.parts);
  number("ge_loss_bad", d.ge.loss_bad.parts, base.ge.loss_bad.parts);
  number("ge_loss_good", d.ge.loss_good.parts, base.ge.loss_good.parts);
  number("ecn", d.ecn ? 1 : 0, base.ecn ? 1 : 0);
  number("rate", d.rate.bits_per_second, base.rate.bits_per_second);
  number("queue", d.queue, base.queue);
  number("duplicate", d.duplicate.parts, base.duplicate.parts);
  number("corrupt", d.corrupt.parts, base.corrupt.parts);
  number("reorder", d.reorder.parts, base.reorder.parts);
  if (d.faults != base.faults) out.emplace("faults" + suffix, to_text(d.faults));
  if (d.schedule != base.schedule) out.emplace("schedule" + suffix, to_text(d.schedule));
}

std::string describe_direction(const Direction& d) {
  if (d.none()) return "none";
  Parameters parameters;
  write_direction(d, Direction{}, "", parameters);
  std::string text;
  // In the order of the declaration, which is the order in which people think of them.
  for (const auto& axis : impairment_axes()) {
    const auto it = parameters.find(axis.name);
    if (it != parameters.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, brief(format_value(axis, it->second)));
  }
  return text;
}

}  // namespace

Nanoseconds Direction::longest() const {
  auto most = delay;
  for (const auto& change : schedule.changes) most = std::max(most, change.delay.value_or(most));
  // Normal and Pareto are cut at 4 standard deviations (distribution.hh).
  return most + (distribution == Distribution::uniform ? jitter : 4 * jitter);
}

const std::vector<ParameterSpec>& impairment_axes() {
  static const std::vector<ParameterSpec> axes = all_axes();
  return axes;
}

Parameters impairment_part(const Parameters& parameters) {
  Parameters part;
  for (const auto& [name, value] : parameters)
    if (find_parameter(impairment_axes(), name) != nullptr) part.emplace(name, value);
  return part;
}

Result<Impairment> make_impairment(const Parameters& asked) {
  for (const auto& [name, value] : asked) {
    const auto* axis = find_parameter(impairment_axes(), name);
    if (axis == nullptr) {
      std::vector<std::string> names;
      for (const auto& known : impairment_axes()) names.push_back(known.name);
      const auto near = nearest(name, names);
      return refuse("{}: not an impairment{}", name, near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }
    if (const auto ok = check_value(*axis, value); !ok) return refuse("{}: {}", name, ok.error().message);
  }
  const auto parameters = with_profile(asked);
  if (!parameters) return tl::unexpected(parameters.error());
  Impairment impairment{.forward = read_direction(*parameters, ""), .back = read_direction(*parameters, kBack)};
  using Named = std::pair<const Direction&, std::string_view>;
  for (const auto& [direction, suffix] : {Named{impairment.forward, ""}, Named{impairment.back, kBack}}) {
    if (const auto ok = check_direction(direction, suffix); !ok) return tl::unexpected(ok.error());
    if (const auto ok = check_schedule(direction, suffix); !ok) return tl::unexpected(ok.error());
  }
  return impairment;
}

Parameters to_parameters(const Impairment& impairment) {
  Parameters parameters;
  write_direction(impairment.forward, Direction{}, "", parameters);
  write_direction(impairment.back, impairment.forward, std::string{kBack}, parameters);
  return parameters;
}

std::string describe(const Impairment& impairment) {
  auto forward = describe_direction(impairment.forward);
  if (impairment.forward == impairment.back) return forward;
  return fmt::format("{} | back: {}", forward, describe_direction(impairment.back));
}

}  // namespace longhaul::degen
