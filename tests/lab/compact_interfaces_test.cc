// degen by itself where people put it: on one interface of a router, in a bridge, between VLANs of one cable. Each is a
// router of its own, a network namespace of the lab's, between hosts of its own.
#include <fmt/format.h>

#include <iterator>
#include <sstream>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

// A host NAME at the other end of the router's interface dNAME.
constexpr const char* kHosts = R"(
host() { ip netns add h$1; ip -n hr link add d$1 type veth peer name e$1 netns h$1; ip -n hr link set d$1 up; ip -n h$1 link set e$1 up; }
)";
constexpr const char* kRouted = R"(
ip netns add hr; ip netns exec hr sysctl -qw net.ipv4.ip_forward=1
n=1
for h in a b c; do
  host $h
  ip -n hr addr add 10.77.$n.254/24 dev d$h
  ip -n h$h addr add 10.77.$n.1/24 dev e$h
  ip -n h$h route add default via 10.77.$n.254
  n=$((n + 1))
done
)";
constexpr const char* kBridged = R"(
ip netns add hr; ip -n hr link add dv type bridge; ip -n hr link set dv up
n=1
for h in a b c; do
  host $h
  ip -n hr link set d$h master dv
  ip -n h$h addr add 10.77.0.$n/24 dev e$h
  n=$((n + 1))
done
)";
// One cable, on which both hosts have a VLAN.
constexpr const char* kOnAStick = R"(
ip netns add hr; ip netns exec hr sysctl -qw net.ipv4.ip_forward=1
host t; n=1
for h in a b; do
  ip netns add h$h
  ip -n hr link add link dt name dt.$n type vlan id $n; ip -n hr link set dt.$n up
  ip -n ht link add link et name et.$n type vlan id $n; ip -n ht link set et.$n netns h$h; ip -n h$h link set et.$n up
  ip -n hr addr add 10.77.$n.254/24 dev dt.$n
  ip -n h$h addr add 10.77.$n.1/24 dev et.$n
  ip -n h$h route add default via 10.77.$n.254
  n=$((n + 1))
done
)";

// The fastest round trip of some from a host to an address, in whole milliseconds.
constexpr const char* kTools = R"(
fastest() { ip netns exec h$1 ping -q -c 6 -i 0.1 -W 5 $2 | sed -n 's|.*= *\([0-9]*\)\.[0-9]*/.*|\1|p'; }
degen_by_itself() { rm -f /tmp/itself.log; ip netns exec hr degen apply "$@" --socket /run/itself/degen.sock --for 60s >/tmp/itself.log 2>&1 & p=$!
  for i in $(seq 100); do grep -q '^applied' /tmp/itself.log && return; kill -0 $p 2>/dev/null || break; sleep 0.1; done; cat /tmp/itself.log >&2; exit 9; }
end_it() { kill -INT $p; wait $p; cat /tmp/itself.log >&2; }
)";

class Interfaces : public CompactLab {
 protected:
  // degen's own words: this machine stood still for longer than edt's lease, so the impairment was taken away.
  bool held_up() const { return said_.find("degen was held up") != std::string::npos; }

  std::string said_;
  void TearDown() override {
    lab().on("router", "for n in a b c t r; do ip netns del h$n 2>/dev/null; done; true");
    CompactLab::TearDown();
  }
  static Outcome in(const std::string& network, const std::string& script) {
    return lab().on("router", kHosts + network + kTools + script);
  }
  /// Round trips as `echo`ed, in their order.
  std::vector<int> times(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    said_ = outcome.err;
    std::istringstream words{outcome.out};
    return {std::istream_iterator<int>{words}, {}};
  }
};

TEST_F(Interfaces, OneOfARouterBothWays) {
  for (const std::string engine : {"edt", "nfqueue"}) {
    const auto ms = times(
        in(kRouted, "fastest a 10.77.2.1\ndegen_by_itself da --both-ways --delay 100ms --engine " + engine +
                        "\nfastest a 10.77.2.1\nfastest c 10.77.1.1\nfastest b 10.77.3.1\n"
                        "ip netns exec hr ping -q -c 3 -i 0.1 10.77.1.1 | sed -n 's|.*= *\\([0-9]*\\)\\..*|\\1|p'\n"
                        "end_it\nfastest a 10.77.2.1"));
    if (held_up()) GTEST_SKIP() << said_;
    ASSERT_EQ(ms.size(), 6U) << engine;
    EXPECT_LT(ms[0], 100) << engine;
    EXPECT_GE(ms[1], 200) << engine << said_;  // 100 ms each way
    EXPECT_GE(ms[2], 200) << engine << said_;
    EXPECT_LT(ms[3], 100) << engine << ": what passes between the others";
    EXPECT_LT(ms[4], 100) << engine << ": the router's own";
    EXPECT_LT(ms[5], 100) << engine << ": afterwards";
    TearDown();
  }
  const auto netem = in(kRouted, "ip netns exec hr degen apply da --both-ways --engine netem --delay 1ms");
  EXPECT_EQ(netem.code, 2);
  EXPECT_NE(netem.err.find("use engine edt or nfqueue"), std::string::npos) << netem.err;
  const auto alone = lab().on("router", "degen apply ra0 --delay 1ms");
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("--both-ways"), std::string::npos) << alone.err;
}

TEST_F(Interfaces, PortsOfABridge) {
  for (const std::string what : {"da db --engine edt", "da db --engine netem", "da --both-ways"}) {
    const auto ms = times(in(kBridged, "fastest a 10.77.0.2\ndegen_by_itself " + what +
                                           " --delay 100ms\nfastest a 10.77.0.2\nend_it\nfastest a 10.77.0.2"));
    if (held_up()) GTEST_SKIP() << said_;
    ASSERT_EQ(ms.size(), 3U) << what;
    EXPECT_LT(ms[0], 100) << what;
    EXPECT_GE(ms[1], 200) << what << said_;
    EXPECT_LT(ms[2], 100) << what;
    TearDown();
  }
  // Packets would pass, and nobody would know.
  const auto refused =
      in(kBridged, "ip netns exec hr degen apply da db --engine nfqueue --delay 1ms --socket /run/itself/degen.sock");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("a port of a bridge"), std::string::npos) << refused.err;
}

TEST_F(Interfaces, TwoVlansOfOneCable) {
  for (const std::string engine : {"edt", "netem", "nfqueue"}) {
    const auto ms = times(in(kOnAStick, "fastest a 10.77.2.1\ndegen_by_itself dt.1 dt.2 --delay 100ms --engine " +
                                            engine + "\nfastest a 10.77.2.1\nend_it\nfastest a 10.77.2.1"));
    if (held_up()) GTEST_SKIP() << said_;
    ASSERT_EQ(ms.size(), 3U) << engine;
    EXPECT_LT(ms[0], 100) << engine;
    EXPECT_GE(ms[1], 200) << engine << said_;
    EXPECT_LT(ms[2], 100) << engine;
    TearDown();
  }
  const auto twice = in(kOnAStick, "ip netns exec hr degen apply dt.1 --both-ways --delay 1ms");
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("dt.1 lies on dt"), std::string::npos) << twice.err;
}

}  // namespace
}  // namespace longhaul::testing
