// Engine edt's kernel objects as data: for each interface by which packets leave a fair queue (fq) that holds them
// until their delivery time, and the terms of the program that sets it; for each by which they come in, a program that
// notes their arrival. Pure.
#pragma once

#include <span>

#include "degen/engines/edt/decision.h"
#include "degen/engines/planner.hh"

namespace longhaul::degen {

/// Parameters of fq, in the kernel's units (linux/pkt_sched.h).
struct FqQdisc {
  std::uint32_t limit = 0;         ///< packets, of all flows and of each
  std::uint32_t horizon = 0;       ///< us; a packet whose delivery time is further away is dropped
  std::uint32_t buckets_log = 10;  ///< 2^this trees of flows
  bool operator==(const FqQdisc&) const = default;
};

/// An interface by which impaired packets leave.
struct EdtLink {
  std::string interface;
  Way way = Way::forward;
  std::vector<std::string> origins;  ///< the interfaces by which packets of this way come in
  Direction direction;               ///< with the programmed delay
  Nanoseconds patience{0};  ///< with a rate: a packet is dropped if the link would be free for it later than that
  std::int64_t room = 0;    ///< in place of patience where there is a schedule: bytes on the link and waiting for it
  FqQdisc fq;
  std::uint64_t seed = 0;
  bool operator==(const EdtLink&) const = default;
};

/// How long the programs impair after a degen that does not renew their lease, and how often it does.
inline constexpr Nanoseconds kEdtLease = std::chrono::seconds{2};
inline constexpr Nanoseconds kEdtRenewal = std::chrono::milliseconds{500};

namespace edt {

std::vector<EdtLink> links_of(const ImpairmentPlan& plan);

/// The interfaces that need the program of arrival, none twice.
std::vector<std::string> arrivals_of(const ImpairmentPlan& plan);

/// `origins`: indexes of the link's origins. `seed` fixes the random choices. `generation`: another one than that of
/// the terms before, whose packets may still wait. `begin` of the direction's schedule, by CLOCK_MONOTONIC.
edt_terms terms_of(const EdtLink& link, std::span<const std::uint32_t> origins, std::uint64_t seed,
                   std::uint32_t generation = 0, Nanoseconds begin = {});

/// Of the direction's schedule, and as many behind them that never begin as make them a power of two; none where it has
/// no schedule.
std::vector<edt_moment> moments_of(const EdtLink& link);

/// Of single packets of the direction, EDT_MOST_FAULTS with those that hit none.
std::vector<edt_fault> faults_of(const EdtLink& link);

/// Refuses a kernel (`uname -r`) without delivery times that survive forwarding: older than 5.18.
Result<void> check_kernel(std::string_view release);

Planner planner();

}  // namespace edt
}  // namespace longhaul::degen
