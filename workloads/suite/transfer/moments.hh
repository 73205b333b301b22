// From the moments of transfers, taken at both ends, to what is reported of them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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
  /// A transfer by the typical process: only its critical path counts, beside that of the next that is added.
  void add_typical(const frrwp::Moments& client, const frrwp::Moments& server);
  void reset() {
    samples_.clear();
    saved_.clear();
    typical_.reset();
  }

  /// Medians and distributions. Intervals from one end to the other are left out where they are smaller than what the
  /// two clocks may differ by.
  std::map<std::string, Metric> metrics() const;
  /// True if some were left out.
  bool left_out() const;

 private:
  struct Series {
    Samples samples;
    bool across = false;  // from one clock to the other
  };
  Nanoseconds path_of(const frrwp::Moments& client, const frrwp::Moments& server_clock) const;
  void record(const char* name, observe::RawTime from, observe::RawTime to, bool across);
  bool hidden(const Series& series) const;

  bool write_;
  PeerClock clock_;
  std::map<std::string, Series> samples_;
  std::optional<Nanoseconds> typical_;  // critical path of the last typical one
  std::vector<Nanoseconds> saved_;      // may be below 0
};

}  // namespace longhaul::workloads::transfer
