// What a path did to numbered datagrams, from those that came. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/histogram.hh"

namespace longhaul {

/// A datagram that came. Times are each end's wall clock, ns.
struct DatagramArrival {
  std::uint64_t sequence = 0;  ///< from 0, in the order of sending
  std::int64_t sent = 0;
  std::int64_t received = 0;
};

struct ArrivalFindings {
  Histogram variation;      ///< one-way delay less the smallest, ns
  std::int64_t spread = 0;  ///< between its quartiles, ns
  std::vector<std::int64_t>
      delays{};                  ///< received - sent, ns, in ascending order: one way, where both ends have one clock
  std::uint64_t came = 0;        ///< packets of which at least one copy came
  std::uint64_t duplicates = 0;  ///< further copies
  std::uint64_t overtaking = 0;  ///< came before one that had been sent earlier
  std::optional<double> lost_in_row;  ///< mean length of the gaps in the sequence; empty: there is none
  /// Median over the bursts that came whole; empty: none did, or one packet is no burst.
  std::optional<double> stretch;
};

/// Without the further copies of a packet; in the same order.
std::vector<DatagramArrival> first_copies(std::span<const DatagramArrival> arrivals);

/// `arrivals` in the order in which they came; packet i belongs to burst i / `burst`.
ArrivalFindings assess(std::span<const DatagramArrival> arrivals, std::size_t burst);

}  // namespace longhaul
