// Datagrams through the private network, stamped by the kernel where they leave the source and where they come to the
// sink: what lies between is the router.
#pragma once

#include <functional>

#include "degen/certify/network.hh"
#include "degen/certify/points.hh"

namespace longhaul::degen {

/// Sends at the pace, a sender that was held up makes up for it, and waits for the last one: as long as `delay` and
/// the link of `rate` may take, and a quarter of a second. `meanwhile` is called at least every kMeanwhile; false from
/// it ends all, and what came is returned. Throws std::system_error, and std::runtime_error where a stamp or a datagram
/// was lost in a socket, which would be taken for the router's loss.
WayObserved send_through(const PrivateNetwork& network, Way way, const CertifyPoint& point,
                         const std::function<bool()>& meanwhile);
inline constexpr std::chrono::milliseconds kMeanwhile{500};

}  // namespace longhaul::degen
