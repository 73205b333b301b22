// Round trips of an operation across a long path, by the host's clock. The path is so long that what a busy host adds
// is a small part of a trip.
#include <map>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

class Trips : public CompactLab {
 protected:
  /// One-way trips that an operation takes, at 50 ms each.
  static double trips(const std::string& workload, const std::string& options) {
    return metric(records(workload, "rxe", options).at("client"), "operation") / 50e6;
  }
};

// It is crossed: the kernel binds its client to no address, and here both ends have one kernel.
TEST_F(Trips, OfTheKernelsNfs) {
  applied("--delay 50ms");
  const std::string common = "--min-samples 5 --size 32KiB ";
  const auto sockets = trips("nfs", common + "--transport tcp --procedure write");
  const auto read = trips("nfs", common + "--transport rdma");
  const auto write = trips("nfs", common + "--transport rdma --procedure write");
  clear();
  EXPECT_GE(sockets, 2);
  EXPECT_LT(sockets, 3);
  EXPECT_GE(read, 2);
  EXPECT_LT(read, 3);
  EXPECT_GE(write, 4);
  EXPECT_LT(write, 5);
}

TEST_F(Trips, OfRpcByItsDesigns) {
  applied("--delay 50ms");
  const std::string common = "--min-samples 10 --transport rdma --size 8KiB ";
  const auto read_write = trips("rpc", common + "--procedure read --design read-write");
  const auto read_read = trips("rpc", common + "--procedure read --design read-read");
  const auto write = trips("rpc", common + "--procedure write");
  const auto push = trips("rpc", common + "--procedure write --design push");
  clear();
  EXPECT_GE(read_write, 2);
  EXPECT_LT(read_write, 3);
  EXPECT_GE(read_read, 4);
  EXPECT_LT(read_read, 5);
  EXPECT_GE(write, 4);
  EXPECT_LT(write, 5);
  EXPECT_GE(push, 2);
  EXPECT_LT(push, 3);
}

// Eight records a round trip in place of one, but for the time that they take on the link.
TEST_F(Trips, ReadAheadKeepsALongPathBusy) {
  constexpr double kRecord = 8 * 8192;     // bits
  constexpr double kRoundTrip = 2 * 0.04;  // s
  applied("--delay 40ms");
  const auto throughput = [](const std::string& provider, const std::string& options) {
    const auto both =
        records("rpc", provider, "--min-samples 10 --procedure read --size 8KiB --duration 500ms " + options);
    return both.is_null() ? 0 : metric(both.at("client"), "throughput");
  };
  std::map<std::string, double> ahead;
  std::map<std::string, double> alone;
  const auto both = [&](const std::string& provider, const std::string& options) {
    ahead[provider + options] = throughput(provider, options + " --ahead 7");
    alone[provider + options] = throughput(provider, options);
  };
  for (const std::string design : {"push", "read-read"}) both("rxe", " --transport rdma --design " + design);
  for (const std::string design : {"push", "read-write"}) both("siw", " --transport rdma --design " + design);
  both("rxe", " --transport tcp");
  clear();
  for (const auto& [name, rate] : ahead) {
    EXPECT_GT(rate, 5 * alone.at(name)) << name;
    // A hiccup of the host's may hold up the first round and not the last.
    EXPECT_LT(rate, 1.25 * 8 * kRecord / kRoundTrip) << name << ": more than is under way";
  }
}

}  // namespace
}  // namespace longhaul::testing
