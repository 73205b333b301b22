// The kernel's NFS over real RDMA: as a workload, and its server as the peer of our own client.
#include <gmock/gmock.h>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

class Nfs : public CompactLab {
 protected:
  /// The client's record.
  static json::value run(const std::string& workload, const std::string& provider, const std::string& options) {
    const auto both = records(workload, provider, "--min-samples 5 " + options);
    return both.is_null() ? both : both.at("client");
  }
};

TEST_F(Nfs, TheKernelsClientAndServer) {
  for (const std::string procedure : {"read", "write"}) {
    for (const std::string provider : {"rxe", "siw"}) {
      const auto client = run("nfs", provider, "--transport rdma --threads 4 --procedure " + procedure);
      EXPECT_EQ(metric(client, "chunks"), 1) << "its payload went by RDMA: " << provider << " " << procedure;
    }
    run("nfs", "rxe", "--transport tcp --threads 4 --procedure " + procedure);
  }
  // Several calls of an operation, and what the options say.
  const auto parts = run("nfs", "rxe", "--transport rdma --size 64KiB --transfer 32KiB --slots 4 --server-threads 2");
  EXPECT_EQ(metric(parts, "chunks"), 1);
}

TEST_F(Nfs, OurClientSpeaksToTheKernelsServer) {
  for (const std::string procedure : {"null", "read", "write", "readdir", "readlink"}) {
    const std::string size = procedure == "readlink" ? "4000" : "64KiB";
    const auto options = "--server kernel --threads 3 --procedure " + procedure + " --size " + size;
    for (const std::string provider : {"rxe", "siw"}) {
      const auto client = run("rpc", provider, "--transport rdma --strategy each-time " + options);
      EXPECT_EQ(metric(client, "trips"), procedure == "write" ? 4 : 2) << provider << " " << procedure;
    }
    run("rpc", "rxe", "--transport tcp " + options);
  }
  // RDMA_NOMSG: it reads the whole call.
  for (const std::string provider : {"rxe", "siw"}) {
    const auto client = run("rpc", provider,
                            "--transport rdma --server kernel --threads 3 --calls long --procedure write --size 64KiB");
    EXPECT_EQ(metric(client, "trips"), 4) << provider;
  }
  // Memory windows: the kernel's server closes those of a client that says it may (RFC 8797). What is read ahead.
  const auto windows = run(
      "rpc", "rxe", "--transport rdma --server kernel --threads 3 --size 64KiB --strategy fast --invalidation remote");
  EXPECT_EQ(metric(windows, "closed_by_peer"), 1);
  run("rpc", "rxe", "--transport rdma --server kernel --ahead 3 --size 64KiB");
  // Inline messages.
  run("rpc", "rxe", "--transport rdma --server kernel --size 1KiB");
  run("rpc", "rxe", "--transport rdma --server kernel --procedure write --size 1KiB");
  const auto small = by_hand("rpc", "rxe", "--transport rdma --server kernel --inline 1KiB");
  EXPECT_EQ(small.code, 1);
  EXPECT_THAT(small.err, HasSubstr("give --inline 4096"));
}

TEST_F(Nfs, NothingIsLeftBehind) {
  // A client that is killed, then a server; the next run is served.
  const std::string ask =
      "taskset 1 longhaul-bench nfs --connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport rdma --duration ";
  const std::string listen =
      "taskset 2 longhaul-bench nfs --listen --open --bind $LONGHAUL_PEER >/dev/null 2>&1 & s=$!\n" +
      wait_until("ss -Hltn 'sport = :7470' | grep -q .");
  const auto outcome = lab().on(
      "client", listen + ask + "60s >/dev/null 2>&1 & c=$!\nsleep 4\nkill -9 $c\nwait $c\n" + ask +
                    "200ms >/dev/null || exit 3\n" + ask +
                    "60s >/dev/null 2>/tmp/lost.log & c=$!\nsleep 4\nkill -9 $s\nwait $c\ncat /tmp/lost.log\n" +
                    listen + ask + "200ms >/dev/null || exit 4\nkill $s\nwait $s\nsleep 1\n" +
                    "ls /run/longhaul\ngrep -c ' nfs ' /proc/mounts\ncat /proc/fs/nfsd/threads\n");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the peer closed"));
  EXPECT_THAT(outcome.out, HasSubstr("export\nnfs\n")) << "no file of a run";
  EXPECT_THAT(outcome.out, HasSubstr("\n0\n0\n")) << "no mount, no thread";
}

}  // namespace
}  // namespace longhaul::testing
