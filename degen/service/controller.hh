// degen's reactions to requests, lost clients and time. No I/O of its own but the run directory's
// files: engines, sightings and the time come from outside.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "degen/client/messages.hh"
#include "degen/engines/choice.hh"
#include "degen/engines/engine.hh"
#include "degen/engines/planner.hh"
#include "degen/service/calibration.hh"
#include "degen/service/ownership.hh"
#include "degen/service/probe_matcher.hh"

namespace longhaul::degen {

/// The two clocks that the controller needs, read together.
struct Now {
  Nanoseconds steady{0};  ///< CLOCK_MONOTONIC: leases
  Nanoseconds real{0};    ///< CLOCK_REALTIME: the clock of the packets' timestamps
};

using ClientId = std::uint64_t;

/// How often degen looks whether its objects are in the kernel still.
inline constexpr std::chrono::milliseconds kLook{500};

/// By the kernel's random numbers, never the processor's own: what the kernel draws follows from a run's seed by a
/// virtual clock.
std::uint32_t draw_seed();

class ImpairmentController {
 public:
  /// `sides` is asked at every apply (an MTU may change), `seeds` at each that names none. The run directory outlives
  /// the controller.
  ImpairmentController(std::function<Sides()> sides, std::vector<std::unique_ptr<Engine>> engines,
                       const RunDirectory& directory, std::function<std::uint32_t()> seeds = draw_seed);
  ~ImpairmentController();
  ImpairmentController(const ImpairmentController&) = delete;
  ImpairmentController& operator=(const ImpairmentController&) = delete;

  /// Clears what an earlier process left: what its ownership file names, and degen's own objects on all interfaces.
  /// Says what it removed. Call once, before the first request. What resists is tried again by tick(), and nothing is
  /// applied meanwhile. `mine` says of an interface that only the file names whether no other degen has it by now.
  std::vector<std::string> sweep(const std::function<bool(const std::string&)>& mine);

  /// Tries what the engines need, once: from then on requests show what they cannot have. Throws std::system_error.
  const std::vector<Lack>& find_lacks();

  /// `peer` names the client for people ("pid 12").
  void connected(ClientId client, std::string peer);
  Reply handle(ClientId client, const Request& request, const Now& now);
  void disconnected(ClientId client);

  /// Whether what is applied is this client's.
  bool holds(ClientId client) const { return holder_ && holder_->client == client; }

  /// Clears when the holder's lease has run out, and when something of the impairment is gone from the kernel; renews
  /// the engine's lease; tries again to remove what resisted.
  void tick(const Now& now);
  /// When tick() is needed next; empty: not at all.
  std::optional<Nanoseconds> deadline() const;

  void see(const Sighting& sighting) { matcher_.see(sighting); }

  /// Takes everything away (exit).
  void clear();
  /// Nothing of degen's is in the kernel, as far as is known.
  bool clean() const { return active_ == nullptr && !resists_; }

  Report report() const;

 private:
  struct Holder {
    ClientId client = 0;
    std::string name;
    Nanoseconds last_heard{0};
  };
  Reply decide(ClientId client, const Request& request, const Now& now);
  Reply apply(ClientId client, const Request& request, const Now& now);
  Reply measure(ClientId client, const Now& now);
  /// Puts it in place by this engine; a refusal leaves what was there, a failure nothing.
  Result<ImpairmentPlan> try_engine(const std::string& name, const Impairment& impairment, const Seed& seed,
                                    const std::string& holder, const Now& now);
  Result<void> install(const ImpairmentPlan& plan, const std::string& holder);
  Result<void> admit(ClientId client) const;
  void look(const Now& now);
  void take_away();
  std::vector<std::string> sweep_again();
  Engine* engine(std::string_view name) const;
  std::string name_of(ClientId client) const;
  Nanoseconds patience() const;
  void renew(const Now& now);
  void close_window(const Now& now);
  void open_window();
  DirectionReport direction_report(Way way) const;

  struct Peer {
    ClientId client;
    std::string peer;
    std::string name;
  };
  std::function<Sides()> sides_;
  std::vector<std::unique_ptr<Engine>> engines_;
  const RunDirectory& directory_;
  std::function<std::uint32_t()> seeds_;
  Calibration calibration_;
  ProbeMatcher matcher_;
  std::vector<Peer> peers_;
  std::optional<Holder> holder_;
  std::optional<ImpairmentPlan> plan_;  // applied; set exactly while there is a holder
  std::optional<std::string> chosen_;   // see Report::chosen
  Engine* active_ = nullptr;            // whose objects are in the kernel
  std::vector<Lack> lacks_;
  bool resists_ = false;      // something could not be removed; the ownership file names it
  std::string problem_;       // see Report::problem
  Nanoseconds next_look_{0};  // steady
  std::function<bool(const std::string&)> mine_;
  std::optional<Nanoseconds> renewal_;  // when the active engine wants to be renewed
  Counters window_forward_;             // the engine's counters when the window began
  Counters window_back_;
};

}  // namespace longhaul::degen
