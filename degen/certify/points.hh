// What `degen certify` measures, and what the packets that came say of an engine. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.hh"
#include "model/arrivals.hh"
#include "model/certificate.hh"
#include "model/parameter.hh"
#include "model/units.hh"

namespace longhaul::degen {

/// `tc qdisc ... netem` as it is typed by hand, with its own limit of 1000 packets: what degen's engines are to be
/// better than. No campaign can ask for it.
inline constexpr const char* kRawNetem = "tc-netem";

/// degen's engines, and kRawNetem.
std::vector<std::string> certifiable();

/// How datagrams are sent, one way.
struct Pace {
  std::int64_t size = 64;  ///< bytes of a datagram behind its UDP header
  std::int64_t burst = 1;  ///< sent back to back each time
  Nanoseconds interval{0};
  std::int64_t count = 0;  ///< in all
  auto operator<=>(const Pace&) const = default;
};

std::int64_t packets_a_second(const Pace& pace);

/// One measurement: of an engine one delay and rate is asked, the same either way, and datagrams go each way in turn.
struct CertifyPoint {
  std::string engine;  ///< kNoEngine: nothing is asked
  Nanoseconds delay{0};
  BitRate rate;  ///< 0: unlimited
  Pace pace;
};

struct CertifyGrid {
  std::vector<std::string> engines;
  std::vector<Nanoseconds> delays;
  std::vector<BitRate> rates;
  std::vector<std::int64_t> packets_a_second;
  std::int64_t size = 64;
  Nanoseconds duration{0};  ///< for which datagrams are sent, each way
};

/// What fits into a frame of 1500 bytes behind IP and UDP, and what the number of a datagram needs.
inline constexpr std::int64_t kMostPayload = 1472;
inline constexpr std::int64_t kLeastPayload = 8;

/// Every delay at every packet rate by each engine, engines taking turns; then every rate, in bursts of full packets at
/// two thirds of the link, behind a delay of kRatesDelay. Before each pace the router by itself. Refuses an engine that
/// is none, a delay or rate that degen does not know, a size that does not fit.
Result<std::vector<CertifyPoint>> points_of(const CertifyGrid& grid);
inline constexpr Nanoseconds kRatesDelay = std::chrono::milliseconds{5};

/// As `degen apply` takes it.
Parameters parameters_of(const CertifyPoint& point);

/// What tc is told of one interface of a router where kRawNetem is meant.
std::vector<std::string> raw_netem(const CertifyPoint& point, const std::string& interface);

/// How long a point takes.
Nanoseconds duration_of(const CertifyPoint& point);

/// When each of these packets should leave: they come at `arrivals` (ns, ascending), a link of `rate` carries one after
/// the other, `bytes` long with its frame, and the delay lies behind the link.
std::vector<std::int64_t> due(std::span<const std::int64_t> arrivals, std::int64_t bytes, BitRate rate,
                              Nanoseconds delay);

/// What came, one way of one point. `sent` and `received` of an arrival are the kernel's, of one clock.
struct WayObserved {
  std::vector<DatagramArrival> arrivals;
  std::uint64_t sent = 0;
  Nanoseconds took{0};  ///< to send them
};

/// ns. The path by itself is in none of them.
struct WayFound {
  double error = 0;  ///< of the median packet: when it left less when it should have
  double p99 = 0;    ///< of the same
  double variation = 0;
  std::optional<double> stretch;
  double loss = 0, duplicates = 0, reordered = 0;  ///< shares
  double path = 0;                                 ///< median of the time on the way, all in all
  double packets_a_second = 0;                     ///< as they were sent
};

/// `path`: what the median packet of this pace takes where nothing is asked.
WayFound assess(const CertifyPoint& point, const WayObserved& observed, double path);

/// The point as a certificate has it, of both ways of all rounds; `refusal` is what degen said where it did not apply
/// it. Kept is what was applied and came whole, once and in order, at nine tenths of the pace at least.
CertifiedPoint certified(const CertifyPoint& point, const std::vector<WayFound>& found, const std::string& refusal);

}  // namespace longhaul::degen
