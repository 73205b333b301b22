// The impairment of packets by a WAN, for each direction. Pure. The axes are the one declaration from which the CLI's
// options, campaign validation, the agents' whitelist and the record derive.
#pragma once

#include <string>
#include <vector>

#include "degen/impairment/faults.hh"
#include "degen/impairment/schedule.hh"
#include "model/parameter.hh"
#include "model/units.hh"

namespace longhaul::degen {

/// The two ways through the router. forward: client to server.
enum class Way { forward, back };

/// The distribution of a packet's delay round `delay`.
enum class Distribution {
  uniform,  ///< between delay - jitter and delay + jitter
  normal,   ///< jitter is the standard deviation; cut at 4 of them
  pareto    ///< the same, skewed: many a little early, few very late (shape 3)
};

/// Losses by the model of Gilbert and Elliott (Bell System Technical Journal 1963): a packet is lost with one
/// probability in the good state and with another one in the bad state.
struct GilbertElliott {
  Ppm enter;                ///< good -> bad, after a packet; netem's p
  Ppm leave{1'000'000};     ///< bad -> good; netem's r
  Ppm loss_bad{1'000'000};  ///< in the bad state; netem's 1-h
  Ppm loss_good;            ///< in the good state; netem's 1-k
  bool operator==(const GilbertElliott&) const = default;
  bool none() const { return enter.parts == 0 && loss_good.parts == 0; }
};

/// One direction. What is at its default does nothing.
struct Direction {
  Nanoseconds delay{0};  ///< one-way, added to what the path takes anyway
  Nanoseconds jitter{0};
  Distribution distribution = Distribution::uniform;
  bool keep_order = true;  ///< jitter never lets a packet overtake an earlier one
  Ppm loss;
  std::int64_t loss_burst = 1;  ///< mean number of packets lost in a row (Gilbert model); 1: independent losses
  GilbertElliott ge;            ///< in place of `loss`
  bool ecn = false;             ///< what would be lost is marked, if its sender knows marks (RFC 3168)
  BitRate rate;                 ///< serialisation rate of the link; 0: unlimited
  std::int64_t queue = 0;       ///< full packets that may wait for the link; 0: sized from rate and delay
  Ppm duplicate;
  Ppm corrupt;        ///< share of packets in which one bit is flipped
  Ppm reorder;        ///< share of packets that skip the delay and so overtake those before them
  Faults faults;      ///< of single packets
  Schedule schedule;  ///< delay, loss and rate that change

  bool operator==(const Direction&) const = default;
  /// Nothing is asked of this direction.
  bool none() const {
    return delay.count() == 0 && jitter.count() == 0 && !loses() && rate.bits_per_second == 0 && duplicate.parts == 0 &&
           corrupt.parts == 0 && reorder.parts == 0 && faults.none() && schedule.none();
  }
  /// Something of it is drawn at random.
  bool random() const {
    return jitter.count() > 0 || loses() || duplicate.parts > 0 || corrupt.parts > 0 || reorder.parts > 0;
  }
  /// Packets are lost at random.
  bool loses() const { return loss.parts > 0 || !ge.none() || schedule.loses(); }
  /// Its link takes time for bytes.
  bool limited() const { return rate.bits_per_second > 0 || schedule.changes_rate(); }
  /// The longest that a packet can be held on purpose, without queueing for the rate.
  Nanoseconds longest() const;
};

struct Impairment {
  Direction forward;
  Direction back;
  bool operator==(const Impairment&) const = default;
  bool none() const { return forward.none() && back.none(); }
  bool random() const { return forward.random() || back.random(); }
  const Direction& way(Way way) const { return way == Way::forward ? forward : back; }
};

/// delay, jitter, distribution, jitter_order, loss, loss_burst, ge_*, ecn, rate, queue, duplicate, corrupt, reorder,
/// faults, schedule, and each with `_back`. An absent `_back` axis is as forward (so it has no default of its own).
/// Last comes `profile`, which sets others (profiles.hh).
const std::vector<ParameterSpec>& impairment_axes();

/// The impairment axes among `parameters` (a cell holds others too).
Parameters impairment_part(const Parameters& parameters);

/// Reads and checks: refuses unknown names (with the nearest), values out of range and combinations that mean nothing
/// (jitter above the delay, reordering without delay). Errors name the axis. Absent axes have their defaults.
Result<Impairment> make_impairment(const Parameters& asked);

/// The shortest parameters that make_impairment reads back to the same: defaults left out, and `_back` where it is as
/// forward. So equal impairments have equal parameters.
Parameters to_parameters(const Impairment& impairment);

/// "delay 5ms, loss 1000ppm | back: delay 1ms", or "none".
std::string describe(const Impairment& impairment);

}  // namespace longhaul::degen
