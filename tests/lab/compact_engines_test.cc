// What degen's engines do to packets in a kernel, where a campaign's figures would not tell: which packets are lost,
// marks, and what netem does when it is used by itself.
#include <fmt/format.h>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

// Packets of senders that know marks, by what came to this node: marked, and not. (Linux 6.1 counts each of them twice
// here, so what counts is the share.)
struct Marks {
  int marked = 0;
  int unmarked = 0;
};

class Engines : public CompactLab {
 protected:
  /// Impairs until clear(); returns when it is in place.
  static void hold(const std::string& options) {
    lab().must("router", "degen apply " + options + " --for 60s >/tmp/apply.log 2>&1 & " +
                             wait_until("degen show | grep -q 'held by'"));
  }
  static Marks marks() {
    const auto count = [](const std::string& name) {
      return std::stoi(lab().must("server",
                                  "awk '/^IpExt:/ { if (!n) n = split($0, names); else for (i = 1; i <= n; ++i) if "
                                  "(names[i] == \"" +
                                      name + "\") print $i }' /proc/net/netstat"));
    };
    return {.marked = count("InCEPkts"), .unmarked = count("InECT0Pkts")};
  }
  /// What degen_traffic says of `count` datagrams that cross the router.
  static std::string traffic(int count) {
    return lab()
        .on("client", fmt::format("taskset 1 /tmp/degen_traffic flood $LONGHAUL_ADDR $LONGHAUL_PEER {} 64", count))
        .out;
  }
  /// From "lost=" to the sum of their numbers.
  static std::string flood(int count) {
    const auto out = traffic(count);
    const auto first = out.find("lost=");
    EXPECT_NE(first, std::string::npos) << out;
    return out.substr(first, out.find(" duplicated=") - first);
  }
  /// The number behind "NAME=".
  static int figure(const std::string& out, const std::string& name) {
    const auto at = out.find(name + "=");
    EXPECT_NE(at, std::string::npos) << out;
    return at == std::string::npos ? -1 : std::stoi(out.substr(at + name.size() + 1));
  }
};

TEST_F(Engines, TheSameSeedLosesTheSamePacketsInEither) {
  const auto lost = [](const std::string& engine, int seed) {
    hold(fmt::format("--engine {} --delay 1ms --loss 10% --loss-back 0 --seed {}", engine, seed));
    EXPECT_NE(lab().must("router", "degen show").find(fmt::format("random by seed {}\n", seed)), std::string::npos);
    auto which = flood(1920);
    clear();
    return which;
  };
  const auto first = lost("edt", 7);
  EXPECT_EQ(lost("edt", 7), first);
  EXPECT_EQ(lost("nfqueue", 7), first);
  EXPECT_NE(lost("nfqueue", 8), first);
  if (linux_since(6, 7)) {
    hold("--engine netem --loss 1% --seed 7");
    EXPECT_NE(lab().must("router", "degen show").find("random by seed 7\n"), std::string::npos);
    return clear();
  }
  const auto refused = lab().on("router", "degen apply --engine netem --loss 1% --seed 7 --for 1s");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("since Linux 6.7"), std::string::npos) << refused.err;
}

// The datagrams are numbered from 0, packets from 1.
TEST_F(Engines, FaultsHitTheSamePacketsInEither) {
  for (const std::string engine : {"edt", "nfqueue"}) {
    hold("--engine " + engine + " --delay 20ms --faults 'drop 3, drop 20-22, delay 9 by 40ms' --faults-back none");
    EXPECT_EQ(flood(64), fmt::format("lost=4 reordered=1 lost_sum={}", 2 + 19 + 20 + 21)) << engine;
    const auto state = boost::json::parse(lab().must("router", "degen show --json"));
    EXPECT_EQ(state.at("forward").at("packets").to_number<int>(), 64) << engine;
    clear();
  }
  // Of a flow: its packets alone are counted, and hit. The flood is UDP; pings go meanwhile.
  for (const std::string engine : {"edt", "nfqueue"}) {
    hold("--engine " + engine + " --delay 20ms --faults 'icmp: drop 2' --faults-back 'udp: count'");
    EXPECT_EQ(flood(64), "lost=0 reordered=0 lost_sum=0") << engine;
    const auto pings = lab().on("client", "ping -c 3 -i 0.2 -W 2 -I $LONGHAUL_ADDR $LONGHAUL_PEER").out;
    EXPECT_NE(pings.find("icmp_seq=1"), std::string::npos) << engine << ": " << pings;
    EXPECT_EQ(pings.find("icmp_seq=2"), std::string::npos) << engine << ": " << pings;
    EXPECT_NE(pings.find("icmp_seq=3"), std::string::npos) << engine << ": " << pings;
    const auto state = boost::json::parse(lab().must("router", "degen show --json"));
    EXPECT_EQ(state.at("forward").at("packets").to_number<int>(), 3) << engine;
    EXPECT_EQ(state.at("back").at("packets").to_number<int>(), 0) << engine << ": pings are not UDP";
    clear();
  }
  const auto refused = lab().on("router", "degen apply --engine edt --faults 'swap 3' --for 1s");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("use engine nfqueue"), std::string::npos) << refused.err;
}

TEST_F(Engines, PacketsLeaveTwice) {
  for (const std::string engine : {"netem", "edt"}) {
    hold("--engine " + engine + " --delay 1ms --duplicate 10% --duplicate-back 0");
    const auto out = traffic(1920);
    EXPECT_EQ(figure(out, "lost"), 0) << engine << ": " << out;
    EXPECT_EQ(figure(out, "reordered"), 0) << engine << ": " << out;
    EXPECT_NEAR(figure(out, "duplicated"), 192, 60) << engine << ": " << out;
    clear();
  }
  // All of them, and none a third time.
  hold("--engine edt --delay 1ms --duplicate 100% --duplicate-back 0");
  const auto all = traffic(640);
  EXPECT_EQ(figure(all, "lost"), 0) << all;
  EXPECT_EQ(figure(all, "duplicated"), 640) << all;
  clear();
  hold("--engine edt --faults 'duplicate 5, drop 9' --faults-back none");
  const auto one = traffic(64);
  EXPECT_EQ(figure(one, "duplicated"), 1) << one;
  EXPECT_EQ(figure(one, "lost_sum"), 8) << one;
  clear();
}

TEST_F(Engines, WhatWouldBeLostIsMarked) {
  for (const std::string engine : {"netem", "nfqueue", "edt"}) {
    hold("--engine " + engine + " --delay 1ms --loss 50% --loss-back 0 --ecn true");
    const auto before = marks();
    const auto capable = lab().on("client", "ping -q -Q 2 -c 40 -i 0.01 -I $LONGHAUL_ADDR $LONGHAUL_PEER").out;
    EXPECT_NE(capable.find("40 received"), std::string::npos) << engine << ": " << capable;
    const auto after = marks();
    const double marked = after.marked - before.marked;
    const auto share = marked / (marked + after.unmarked - before.unmarked);
    EXPECT_GT(share, 0.15) << engine;
    EXPECT_LT(share, 0.85) << engine;
    const auto deaf = lab().on("client", "ping -q -c 40 -i 0.01 -I $LONGHAUL_ADDR $LONGHAUL_PEER").out;
    EXPECT_EQ(deaf.find("40 received"), std::string::npos) << engine << ": " << deaf;
    clear();
  }
}

// The table of docs/degen.md: netem's jitter reorders unless a rate is asked, too; degen's engine asks for one.
TEST_F(Engines, NetemByItselfReordersUnderJitter) {
  lab().must("router", "tc qdisc add dev rb0 root handle 77: netem limit 100000 delay 5ms 2ms");
  const auto raw = flood(1920);
  lab().must("router", "tc qdisc del dev rb0 root");
  EXPECT_NE(raw.find("lost=0 "), std::string::npos) << raw;
  EXPECT_EQ(raw.find(" reordered=0"), std::string::npos) << raw;
  for (const std::string engine : {"netem", "nfqueue", "edt"}) {
    hold("--engine " + engine + " --delay 5ms --jitter 2ms --delay-back 0 --jitter-back 0");
    const auto ours = flood(1920);
    EXPECT_NE(ours.find(" reordered=0"), std::string::npos) << engine << ": " << ours;
    clear();
  }
}

}  // namespace
}  // namespace longhaul::testing
