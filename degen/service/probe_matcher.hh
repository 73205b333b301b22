// From sightings of probes on the router's interfaces to residence times. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "degen/impairment/spec.hh"

namespace longhaul::degen {

/// A probe seen on an interface of the router.
struct Sighting {
  Way way = Way::forward;
  bool leaving = false;  ///< transmitted on the far side; else: arrived on the near side
  std::uint32_t session = 0;
  std::uint32_t sequence = 0;
  std::uint8_t direction = 0;  ///< the probe's own: 0 sent, 1 echoed
  Nanoseconds time{0};         ///< the kernel's timestamp; one clock for all interfaces
};

/// Residence of one way since the window began, ns.
struct Residence {
  std::int64_t median = 0;
  std::int64_t p99 = 0;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
};

class ProbeMatcher {
 public:
  void see(const Sighting& sighting);

  /// Probes that arrived more than `patience` before `now` and did not leave are lost.
  void expire(Nanoseconds now, Nanoseconds patience);

  Residence residence(Way way) const;

  /// Begins a window: what is on its way belongs to the new one.
  void begin_window();
  /// Begins a window and forgets what is on its way: it began under another impairment.
  void reset();

 private:
  struct Key {
    std::uint64_t probe;  // session and sequence
    std::uint8_t direction;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return std::hash<std::uint64_t>{}(key.probe * 2 + key.direction); }
  };
  struct Passage {
    Nanoseconds arrived{0};
    std::uint64_t turn = 0;
    std::uint32_t departures = 0;
  };
  struct Path {
    std::unordered_map<Key, Passage, KeyHash> passages;
    std::deque<Key> by_arrival;                          // of all passages, oldest first
    std::map<std::uint64_t, std::uint64_t> newest_left;  // session and direction -> highest turn that left
    std::uint64_t turns = 0;
    std::vector<std::int64_t> samples;
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t reordered = 0;
  };
  static void drop_oldest(Path& path);
  Path& path(Way way) { return way == Way::forward ? forward_ : back_; }
  Path forward_;
  Path back_;
};

}  // namespace longhaul::degen
