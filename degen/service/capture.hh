// Sees the probes on the router's interfaces: one packet socket, so that a probe's arrival is always seen before its
// departure, with a filter in the kernel for the probe port and the kernel's timestamps.
#pragma once

#include <linux/filter.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.hh"
#include "degen/impairment/plan.hh"
#include "degen/service/probe_matcher.hh"
#include "observe/probe.hh"

namespace longhaul::degen {

/// Classic BPF for packets that begin with their IP header: UDP over IPv4 or IPv6, from or to the probe port, no
/// fragments.
std::span<const sock_filter> probe_filter();

/// The probe in an IP packet; empty when there is none.
std::optional<observe::ProbePacket> probe_in_packet(std::string_view packet);

/// Reads a captured packet on an interface of `side` (true: client side): which way it goes, and whether it leaves or
/// arrives.
Sighting sighting_of(bool client_side, bool outgoing, const observe::ProbePacket& probe, Nanoseconds time);

class Capture {
 public:
  /// Throws std::system_error (CAP_NET_RAW is needed).
  explicit Capture(const Sides& sides);

  int fd() const { return socket_.get(); }
  /// Gives all sightings that have come; at most a few thousand a call.
  void drain(const std::function<void(const Sighting&)>& each);

 private:
  std::optional<bool> client_side(int index);
  std::vector<std::string> client_;
  std::vector<std::string> server_;
  std::map<int, std::optional<bool>> sides_;  // by interface index
  OwnFd socket_;
};

}  // namespace longhaul::degen
