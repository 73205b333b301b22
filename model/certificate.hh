// What degen's engines did to packets on one testbed or machine: between which delays and rates, and up to how many
// packets a second, each of them kept what was asked of it; and whether a cell lies inside of that. Pure.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "model/cell.hh"

namespace longhaul {

/// Of which nothing is asked: the router by itself.
inline constexpr const char* kNoEngine = "none";

/// Packets of one size and pace, of which only delay, rate and queue were asked. Times in ns, both ways together: the
/// worse counts.
struct CertifiedPoint {
  std::int64_t delay = 0;  ///< asked, one way; the longer
  std::int64_t rate = 0;   ///< asked, bit/s; the lower. 0: unlimited
  std::int64_t packets_a_second = 0;
  std::int64_t size = 0;  ///< bytes of a datagram
  int runs = 0;           ///< usable
  /// |achieved - asked| of the runs' medians: their median, and the largest. Absent where no run measured it.
  std::optional<double> error;
  std::optional<double> largest_error;
  std::optional<double> p99;        ///< of the delay, beyond what was asked
  std::optional<double> variation;  ///< p99 of what a packet was later than the fastest one
  std::optional<double> stretch;    ///< of a burst: 1 is as it was sent
  double loss = 0;                  ///< shares of the packets; the largest of the runs
  double duplicates = 0;
  double reordered = 0;
  std::string broken;  ///< why it was not kept; empty: it was
};
BOOST_DESCRIBE_STRUCT(CertifiedPoint, (),
                      (delay, rate, packets_a_second, size, runs, error, largest_error, p99, variation, stretch, loss,
                       duplicates, reordered, broken))

/// What was kept, by the points.
struct CertifiedRange {
  std::int64_t least_delay = 0, most_delay = 0;  ///< ns; 0: none
  std::int64_t least_rate = 0, most_rate = 0;    ///< bit/s; 0: none
  /// The most at which nothing was lost, reordered or doubled, and below which neither; 0: none.
  std::int64_t packets_a_second = 0;
};

struct Certificate {
  int schema = 1;
  std::string campaign;
  std::string version;                                         ///< of longhaul
  std::string clock;                                           ///< host or virtual
  bool emulated = false;                                       ///< a processor that QEMU emulates
  std::int64_t measured = 0;                                   ///< CLOCK_REALTIME ns at the campaign's end
  std::map<std::string, std::string> kernels;                  ///< by node
  std::map<std::string, std::vector<CertifiedPoint>> engines;  ///< and "none": the router by itself
};
BOOST_DESCRIBE_STRUCT(Certificate, (), (schema, campaign, version, clock, emulated, measured, kernels, engines))

/// By rate, packets a second, size and delay, as tables and plots have them.
void sort(std::vector<CertifiedPoint>& points);

/// Why its packets were not kept: they were lost, reordered or doubled; empty: none was.
std::string fault_of(const CertifiedPoint& point);

CertifiedRange range_of(const std::vector<CertifiedPoint>& points);

/// What a cell asks of the path, and by which engine: ns and bit/s, 0 is nothing and unlimited. Back is as forward
/// where it says nothing else.
struct AskedOfPath {
  std::string engine;
  std::int64_t delay = 0, delay_back = 0;
  std::int64_t rate = 0, rate_back = 0;
};
AskedOfPath asked_of(const Parameters& parameters);

/// Why a cell of these parameters (complete) lies outside; empty: it lies inside, or asks nothing of degen.
std::string outside(const Certificate& certificate, const Parameters& parameters);

/// The document, with a digest of itself: certificate_from_json() refuses one that was changed.
std::string to_json(const Certificate& certificate);
Result<Certificate> certificate_from_json(std::string_view text);

/// Tables for the terminal.
std::string to_text(const Certificate& certificate);

}  // namespace longhaul
