// What the engines that decide in our own code make of packets, as if their kernels were always on time: engine edt's
// function (decision.h) and engine nfqueue's Scheduler, each as its planner sets it up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "degen/impairment/spec.hh"

namespace longhaul::degen::test {

struct Arrival {
  Nanoseconds time{0};
  std::uint32_t bytes = 1514;  // on the link
  bool ecn_capable = false;
  FlowKey key{};
};

/// One packet's end.
struct Outcome {
  bool passed = false;
  Nanoseconds held{0};  ///< from its arrival; 0 of one that is lost
  bool marked = false;
  std::optional<std::uint64_t> flip;  ///< of which bit
  bool twice = false;                 ///< a copy of it passed, too
  bool operator==(const Outcome&) const = default;
};

struct Decider {
  std::string engine;
  std::function<std::vector<Outcome>(const Direction&, std::uint32_t seed, const std::vector<Arrival>&)> decide;
};

const std::vector<Decider>& deciders();

/// As many packets, so far apart.
std::vector<Arrival> arrivals(int count, Nanoseconds apart, std::uint32_t bytes = 1514, bool ecn_capable = false);

}  // namespace longhaul::degen::test
