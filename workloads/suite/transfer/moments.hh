// From the moments of transfers, taken at both ends, to what is reported of them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/record.hh"
#include "workloads/harness/session.hh"
#include "workloads/protocols/frrwp/message.hh"

namespace longhaul::workloads::transfer {

/// All in ns, by the names of spec()'s metrics.
class MomentLog {
 public:
  /// `write`: the data goes from the client to the server.
  MomentLog(bool write, PeerClock clock) : write_(write), clock_(clock) {}

  void add(const frrwp::Moments& client, const frrwp::Moments& server);
  void reset() { samples_.clear(); }

  /// Medians and distributions. Intervals from one end to the other are left out where they are smaller than what the
  /// two clocks may differ by.
  std::map<std::string, Metric> metrics() const;
  /// Whether some were.
  bool left_out() const;

 private:
  struct Series {
    Samples samples;
    bool across = false;  // from one clock to the other
  };
  void record(const char* name, std::int64_t from, std::int64_t to, bool across);
  bool hidden(const Series& series) const;

  bool write_;
  PeerClock clock_;
  std::map<std::string, Series> samples_;
};

}  // namespace longhaul::workloads::transfer
