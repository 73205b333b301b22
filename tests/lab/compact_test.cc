// One VM holds client, server and router: the peers, the bench and degen by hand, as a user would use them.
#include <signal.h>

#include <thread>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

// No engine's object is in the router.
constexpr const char* kNothingLeft =
    "! { tc qdisc show; nft list tables; for i in $(ls /sys/class/net); do tc filter show dev $i ingress; "
    "tc filter show dev $i egress; done; } | grep -E 'netem|qdisc fq |clsact|degen'";

TEST_F(CompactLab, StatusTellsOfIt) {
  const auto status = longhaul({"lab", "status", "--json"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_NE(status.out.find(lab().name()), std::string::npos);
  const auto twice = longhaul({"lab", "up", "--name", lab().name()});
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find(lab().name()), std::string::npos) << twice.err;
}

TEST_F(CompactLab, ExecPassesInputOutputAndExitCode) {
  EXPECT_EQ(lab().on("server", "exit 7").code, 7);
  EXPECT_EQ(lab().must("router", "ip -o link show ra0 | wc -l"), "1\n");
  const auto nobody = longhaul({"lab", "exec", "--name", lab().name(), "nobody", "--", "true"});
  EXPECT_EQ(nobody.code, 2);
  EXPECT_NE(nobody.err.find("client"), std::string::npos) << "the error lists the nodes: " << nobody.err;
}

TEST_F(CompactLab, PeersMeasureAcrossTheRouter) {
  const auto counters = [&] {
    return lab().must("router",
                      "cat /sys/class/net/ra0/statistics/rx_packets /sys/class/net/rb0/statistics/tx_packets");
  };
  const auto before = counters();
  const auto out =
      lab().must("client", "ib_write_lat -F -s 64 -n 500 -d rxe_b0 >/dev/null 2>&1 &\n" +
                               wait_until("ss -Hltn 'sport = :18515' | grep -q .") +
                               "ib_write_lat -F -s 64 -n 500 -d $LONGHAUL_DEVICE $LONGHAUL_PEER; e=$?; wait; exit $e");
  EXPECT_NE(out.find("t_typical"), std::string::npos) << out;
  EXPECT_NE(before, counters());
  // siw takes its socket over after it has answered: a message that comes in between is not seen until another one
  // comes (Linux 6.1, siw_accept()). rping sends its first at once: on a path of some length that is late enough.
  applied("--delay 5ms");
  lab().must("client", "timeout 30 rping -s -a $LONGHAUL_PEER_SIW -C 3 >/dev/null 2>&1 &\n" +
                           wait_until("rdma resource show cm_id | grep -q LISTEN") +
                           "timeout 30 rping -c -a $LONGHAUL_PEER_SIW -I $LONGHAUL_ADDR_SIW -C 3");
  clear();
}

TEST_F(CompactLab, LatencyByEveryOperation) {
  for (const std::string provider : {"rxe", "siw"}) {
    for (const std::string op : {"write", "write_send", "send", "read", "write_imm"}) {
      const auto device = provider == "rxe" ? "rxe_a0" : "siw_a1";
      const auto outcome = latency(provider, "--transport rdma --size 1KiB --op " + op + " --device " + device);
      if (provider == "siw" && op == "write_imm") {
        EXPECT_NE(outcome.code, 0);
        EXPECT_NE((outcome.out + outcome.err).find("immediate"), std::string::npos) << outcome.out << outcome.err;
        continue;
      }
      ASSERT_EQ(outcome.code, 0) << provider << " " << op << ": " << outcome.out << outcome.err;
      const auto record = json::parse(outcome.out).at("client");
      EXPECT_EQ(record.at("transport").at("device").as_string(), device);
      EXPECT_EQ(record.at("transport").at("provider").as_string(), provider);
      EXPECT_GE(record.at("metrics").at("latency").at("samples").to_number<int>(), 10);
    }
    const auto event = latency(provider, "--transport rdma --op send --completion event --verify");
    EXPECT_EQ(event.code, 0) << provider << ": " << event.out << event.err;
  }
  for (const std::string completion : {"poll", "event"}) {
    const auto outcome = latency("rxe", "--transport tcp --size 16KiB --verify --completion " + completion);
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(json::parse(outcome.out).at("client").at("transport").at("netdev").as_string(), "a0");
  }
}

TEST_F(CompactLab, EveryWorkloadByHand) {
  struct Wanted {
    const char* workload;
    const char* options;
    const char* metric;
  };
  for (const std::string provider : {"rxe", "siw"}) {
    for (const auto& [workload, options, metric] :
         {Wanted{"overlap", "--transport rdma --compute 2ms", "overlap_ratio"},
          {"overlap", "--transport tcp --compute 2ms --progress thread", "overlap_ratio"},
          {"progress", "--transport rdma --load 2ms", "fetch"},
          {"progress", "--transport rdma --op write --load 2ms", "fetch"},
          {"progress", "--transport tcp --load 2ms", "fetch"},
          {"rendezvous", "--transport rdma", "transfer"},
          {"rendezvous", "--transport rdma --protocol write", "transfer"},
          {"rendezvous", "--transport rdma --protocol read", "transfer"},
          {"rendezvous", "--transport tcp --protocol write", "transfer"},
          {"throughput", "--transport rdma --streams 2", "throughput"},
          {"throughput", "--transport rdma --op read", "throughput"},
          {"throughput", "--transport rdma --op send --size 4KiB --streams 2", "throughput"},
          {"throughput", "--transport tcp", "throughput"},
          {"throughput", "--transport tcp --tool peer", "throughput"},
          {"throughput", "--transport rdma --tool peer", "throughput"},
          {"packets", "--transport tcp --burst 16 --interval 5ms", "variation"}}) {
      auto result = by_hand(workload, provider, options);
      // A computation whose length drifted is what the orchestrator repeats, too.
      for (int i = 0; i < 3 && result.err.find("changed its speed") != std::string::npos; ++i)
        result = by_hand(workload, provider, options);
      ASSERT_EQ(result.code, 0) << provider << " " << workload << " " << options << ": " << result.err;
      const auto document = json::parse(result.out);
      EXPECT_GT(document.at("summary").at(metric).at("value").to_number<double>(), 0) << workload << " " << options;
    }
  }
}

TEST_F(CompactLab, UcxRunsOverVerbsAndOverTcp) {
  if (const auto first = latency("rxe", "--transport ucx --op send");
      first.err.find("built without") != std::string::npos)
    GTEST_SKIP() << first.err;
  const auto figure = [](const Outcome& outcome, const char* metric) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    if (outcome.code != 0) return 0.0;
    return json::parse(outcome.out).at("summary").at(metric).at("value").to_number<double>();
  };
  for (const std::string op : {"write", "read", "send", "send --completion event"})
    EXPECT_GT(figure(latency("rxe", "--transport ucx --op " + op), "latency"), 0) << op;
  EXPECT_GT(figure(latency("rxe", "--transport ucx_tcp --op send"), "latency"), 0);
  EXPECT_GT(figure(by_hand("throughput", "rxe", "--transport ucx --op write"), "throughput"), 0);
  // Nobody at the server looks at the worker.
  EXPECT_LT(figure(by_hand("progress", "rxe", "--transport ucx --load 50ms"), "fetch"), 50e6);
  const auto iwarp = latency("siw", "--transport ucx --op send");
  EXPECT_EQ(iwarp.code, 1);
  EXPECT_NE(iwarp.err.find("UCX does not speak iWARP"), std::string::npos) << iwarp.err;
}

// Since Linux 6.5 rxe works in threads of the kernel (workqueues), which take turns with the process that spins.
TEST_F(CompactLab, AnEndThatSpinsIsSeenAsAWholeProcessor) {
  for (const std::string transport : {"tcp", "rdma"}) {
    const auto result = by_hand("latency", "rxe", "--transport " + transport + " --duration 1s");
    ASSERT_EQ(result.code, 0) << result.err;
    const auto document = json::parse(result.out);
    for (const auto* end : {"client", "server"}) {
      const auto& cpu = document.at(end).at("cpu");
      const auto share = [&](const char* name) {
        return cpu.at(name).to_number<double>() / cpu.at("wall").to_number<double>();
      };
      EXPECT_LT(share("node_idle"), 0.05) << transport << " " << end;
      const auto process = share("process_user") + share("process_system");
      if (transport == "rdma" && linux_since(6, 5)) {
        EXPECT_LT(process, 1.05) << end;
        EXPECT_LT(process - 0.05, share("node_user") + share("node_system")) << end;
      } else {
        EXPECT_NEAR(process, 1, 0.05) << transport << " " << end;
      }
    }
  }
}

// Both ends share the kernel: each has its packets received on its own processor.
TEST_F(CompactLab, CpuLoadIsMeasuredWhereThePacketsAreReceived) {
  EXPECT_EQ(lab().must("client", "cd /sys/class/net; cat a?/queues/rx-0/rps_cpus b?/queues/rx-0/rps_cpus"),
            "1\n1\n2\n2\n");
  const auto result = by_hand("cpu_load", "rxe", "--transport tcp --clients 4 --work 5ms --min-samples 3");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto document = json::parse(result.out);
  EXPECT_GT(document.at("summary").at("slowdown").at("value").to_number<double>(), 0);
  const auto& counters = document.at("server").at("transport").at("counters").as_object();
  const auto count = [&](const char* name) {
    const auto* found = counters.if_contains(name);
    return found == nullptr ? 0.0 : found->to_number<double>();
  };
  EXPECT_GT(count("net_rx_softirqs_here"), 0.1 * count("net_rx_softirqs_elsewhere"));

  // Where it is not so the application would not feel them.
  lab().must("client", "echo 0 >/sys/class/net/b0/queues/rx-0/rps_cpus");
  const auto elsewhere = by_hand("cpu_load", "rxe", "--transport tcp --clients 4 --work 5ms --min-samples 3");
  lab().must("client", "echo 2 >/sys/class/net/b0/queues/rx-0/rps_cpus");
  EXPECT_NE(elsewhere.code, 0);
  EXPECT_NE(elsewhere.err.find("packets for b0 are processed on the sender's processor"), std::string::npos)
      << elsewhere.err;
}

TEST_F(CompactLab, ACableLeavesTheRouterAlone) {
  const auto counters = [] { return lab().must("router", "cat /sys/class/net/r*/statistics/rx_packets"); };
  const auto before = counters();
  lab().must("client",
             "ping -q -c 5 -i 0.01 -I $LONGHAUL_ADDR_LAN $LONGHAUL_PEER_LAN && "
             "ping -q -c 5 -i 0.01 -I $LONGHAUL_ADDR_SIW_LAN $LONGHAUL_PEER_SIW_LAN");
  EXPECT_EQ(counters(), before);
}

TEST_F(CompactLab, WrongDevicesAreNamedWithWhatThereIs) {
  const auto outcome = latency("rxe", "--transport rdma --device mlx5_0");
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE((outcome.err + outcome.out).find("rxe_a0"), std::string::npos) << outcome.err << outcome.out;
}

// As a campaign does (orchestrator/run/wan.cc): the loop is closed in a few rounds, in each of which degen learns how
// late its engine is here. A stall of the host spoils one of them and is unlearnt in the next few; a campaign tries a
// refused run up to 24 times.
TEST_F(CompactLab, DelayIsAchievedByEveryEngine) {
  constexpr int kRounds = 12;
  lab().must("client", "/tmp/degen_traffic probe $LONGHAUL_ADDR $LONGHAUL_PEER 60; true");
  for (const std::string engine : {"netem", "nfqueue", "edt"}) {
    for (const std::int64_t delay_ms : {1, 20}) {
      const auto options = "--engine " + engine + " --delay " + std::to_string(delay_ms) + "ms";
      const auto asked = static_cast<double>(delay_ms) * 1e6;
      const double tolerance = std::max(0.05 * asked, 0.2e6);
      std::string rounds;
      bool achieved = false;
      for (int round = 0; round < kRounds && !achieved; ++round) {
        const auto state = applied(options);
        const auto off = [&](const char* way) {
          return std::abs(state.at(way).at("achieved").to_number<double>() - asked);
        };
        achieved = off("forward") <= tolerance && off("back") <= tolerance;
        rounds += json::serialize(state) + "\n";
        clear();
      }
      EXPECT_TRUE(achieved) << options << "\n" << rounds;
    }
  }
}

// The sender stays on one processor: one that moves overtakes its own packets before they reach the router.
// How long a burst becomes on the way is judged by the virtual clock (impairments_test.cc): on a busy host a router
// that is late by more than the delay lets all that waited go at once.
TEST_F(CompactLab, TenThousandPacketsPassInOrder) {
  for (const std::string engine : {"netem", "nfqueue", "edt"}) {
    for (const std::string delay : {"1ms", "100ms"}) {
      applied("--engine " + engine + " --delay " + delay, 1);
      const auto out =
          lab().must("client", "taskset 1 /tmp/degen_traffic flood $LONGHAUL_ADDR $LONGHAUL_PEER 10000 64");
      EXPECT_NE(out.find("received=10000 lost=0 reordered=0"), std::string::npos)
          << engine << " " << delay << ": " << out;
      clear();
    }
  }
}

// The first and last clsact of a machine (degen's edt) and the first and last steering of received packets patch the
// kernel's receive path, which the other processor executes. An emulator that keeps translating what was there before
// leaves processors at a breakpoint that is gone: in QEMU 7.2 they stand still, or panic, within seconds.
TEST_F(CompactLab, AKernelPatchesTheCodeThatItsOtherProcessorExecutes) {
  const auto ping = [](const std::string& from, const std::string& to) {
    return "ping -q -f -w 5 -I $LONGHAUL_" + from + " $LONGHAUL_" + to;
  };
  lab().must("client", ping("ADDR", "PEER") + " & " + ping("ADDR_SIW", "PEER_SIW") + " &\n" +
                           "for i in $(seq 100); do echo qdisc add dev lo clsact; echo qdisc del dev lo clsact; done "
                           ">/tmp/switches\n"
                           "while kill -0 $! 2>/dev/null; do\ntc -batch /tmp/switches || exit 1\n"
                           "for m in $(seq 50); do for on in 1 0; do echo $on >/sys/class/net/lo/queues/rx-0/rps_cpus "
                           "|| exit 2; done; done\ndone; wait");
}

TEST_F(CompactLab, KillingDegenLeavesAnUnimpairedRouter) {
  for (const std::string engine : {"netem", "nfqueue", "edt"}) {
    applied("--delay 20ms --engine " + engine, 1);
    ASSERT_TRUE(lab().signal("router", "KILL", "degen serve "));
    lab().must("router", wait_until(kNothingLeft) + kNothingLeft);
    lab().must("router", wait_until("degen show >/dev/null 2>&1"));  // the next one, which its supervisor starts
    EXPECT_NE(lab().must("router", "degen show").find("nothing is applied"), std::string::npos);
  }
}

TEST_F(CompactLab, ALostClientLeavesAnUnimpairedRouter) {
  applied("--delay 20ms", 1);
  ASSERT_TRUE(lab().signal("router", "KILL", "degen apply "));
  lab().must("router", wait_until(kNothingLeft) + kNothingLeft);
}

// A degen that hangs renews nothing: the programs themselves stop, within their lease of 2 s. In one script, since its
// guard ends it after 4 s.
TEST_F(CompactLab, AStoppedDegenImpairsNoLongerThanItsLease) {
  applied("--delay 200ms --engine edt", 1);
  const auto out = lab().must("client",
                              "ping='ping -q -c 1 -I '$LONGHAUL_ADDR' '$LONGHAUL_PEER\n"
                              "p=$(ps -o pid,args | sed -n 's/^ *\\([0-9]*\\) degen serve .*/\\1/p')\n"
                              "$ping; kill -STOP $p; sleep 2.5; $ping");
  const std::string head = "rtt min/avg/max/mdev = ";
  const auto before = out.find(head);
  const auto after = out.rfind(head);
  ASSERT_NE(before, after) << out;
  EXPECT_GE(std::stod(out.substr(before + head.size())), 400) << out;  // ms
  EXPECT_LT(std::stod(out.substr(after + head.size())), 200) << out;
  lab().must("router", wait_until(kNothingLeft) + kNothingLeft);
  lab().must("router", wait_until("degen show >/dev/null 2>&1"));
}

TEST_F(CompactLab, ForeignQdiscsAreNamedAndLeftAlone) {
  lab().must("router", "tc qdisc add dev rb0 root handle 77: tbf rate 1gbit burst 64k latency 50ms");
  const auto refused = lab().on("router", "degen apply --engine netem --delay 1ms --for 1s");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("rb0"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("tbf"), std::string::npos) << refused.err;
  // Who names no engine gets the one that needs no root qdisc.
  const auto chosen = lab().must("router", "degen apply --delay 1ms --for 1s");
  EXPECT_NE(chosen.find("engine nfqueue was chosen: not edt: rb0: "), std::string::npos) << chosen;
  EXPECT_NE(lab().must("router", "tc qdisc show dev rb0").find("tbf 77:"), std::string::npos);
  lab().must("router", "tc qdisc del dev rb0 root");
}

// Engine edt shares clsact with others' filters and takes only its own away; what leaves no room is named.
TEST_F(CompactLab, ForeignFiltersStayAndStillSeePackets) {
  const auto foreign = [&] {
    const auto out = lab().must("router", "tc -s filter show dev ra0 ingress pref 200");
    const auto at = out.find(" pkt", out.find("Sent "));
    return std::stoi(out.substr(out.rfind(' ', at - 1)));
  };
  lab().must("router", "tc qdisc add dev ra0 clsact; tc filter add dev ra0 ingress pref 200 matchall action gact pipe");
  applied("--delay 5ms --engine edt", 5);
  const auto before = foreign();
  lab().must("client", "ping -q -c 3 -i 0.01 -I $LONGHAUL_ADDR $LONGHAUL_PEER");
  EXPECT_GE(foreign(), before + 3);
  ASSERT_TRUE(lab().signal("router", "KILL", "degen serve "));
  lab().must("router", wait_until("degen show >/dev/null 2>&1"));
  const auto left =
      lab().must("router", "tc qdisc show; tc filter show dev ra0 ingress; tc filter show dev rb0 ingress");
  EXPECT_NE(left.find("clsact"), std::string::npos) << left;
  EXPECT_NE(left.find("pref 200 matchall"), std::string::npos) << left;
  EXPECT_EQ(left.find("degen"), std::string::npos) << left;
  EXPECT_EQ(left.find("qdisc fq "), std::string::npos) << left;
  EXPECT_EQ(left.find("clsact", left.find("clsact") + 1), std::string::npos) << "one is left: " << left;
  lab().must("router", "tc qdisc del dev ra0 clsact; tc qdisc add dev ra0 ingress");
  const auto refused = lab().on("router", "degen apply --delay 1ms --engine edt --for 1s");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("ra0: a qdisc ingress"), std::string::npos) << refused.err;
  lab().must("router", "tc qdisc del dev ra0 ingress; " + std::string{kNothingLeft});
}

// What packaging/systemd/degen.service gives it, and not one more.
TEST_F(CompactLab, DegenDoesWithThreeCapabilities) {
  const auto with = [](const std::string& capabilities, const std::string& engine) {
    const auto sets = "--bounding-set -all," + capabilities + " --inh-caps -all," + capabilities +
                      " --ambient-caps -all," + capabilities;
    return lab().on(
        "router",
        "rm -rf /tmp/run; mkdir /tmp/run; chown 1000 /tmp/run\n"
        "ip link add da type veth peer name dap; ip link add db type veth peer name dbp; ip link set da up; ip link "
        "set db up\n"
        "setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs " +
            sets + " degen serve --run-dir /tmp/run --client-side da --server-side db 2>/tmp/serve.log & p=$!\n" +
            wait_until("[ -S /tmp/run/degen.sock ]") + "degen apply --socket /tmp/run/degen.sock --engine " + engine +
            " --delay 5ms --jitter 1ms --loss 1% --rate 10Mbit/s --for 200ms; e=$?; kill $p; wait $p; ip link del da; "
            "ip link del db; exit $e");
  };
  for (const std::string engine : {"netem", "nfqueue", "edt", "edt --duplicate 1% --faults 'drop 2'"}) {
    const auto done = with("+net_admin,+net_raw,+bpf", engine);
    EXPECT_EQ(done.code, 0) << engine << ": " << done.err;
  }
  const auto refused = with("+net_admin,+net_raw", "edt");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("CAP_BPF"), std::string::npos) << refused.err;
  lab().must("router", kNothingLeft);
}

TEST_F(CompactLab, MemoryThatCannotBeRegisteredIsSaidAtBothEnds) {
  const auto result = lab().on(
      "client",
      "taskset 2 longhaul-bench throughput --listen --open --once --bind $LONGHAUL_PEER >/dev/null 2>/tmp/server.log "
      "& p=$!\n" +
          wait_until("ss -Hltn 'sport = :7470' | grep -q .") +
          "ulimit -l 64; setpriv --reuid 1000 --regid 1000 --clear-groups taskset 1 longhaul-bench throughput "
          "--connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport rdma --size 4MiB; e=$?; wait $p; "
          "cat /tmp/server.log; exit $e");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("ulimit -l"), std::string::npos) << result.err;
  EXPECT_NE(result.out.find("ulimit -l"), std::string::npos) << result.out;  // the server was told why
}

TEST_F(CompactLab, AResultThatTcpRanShortOfMemoryForIsLimited) {
  // Pages: short from 70 on (280 KiB), which four streams use however slow the machine is; with 700 some runs, whose
  // windows had not opened, were never short.
  const auto former =
      lab().must("client", "cat /proc/sys/net/ipv4/tcp_mem; echo 50 70 900 >/proc/sys/net/ipv4/tcp_mem");
  const auto outcome = by_hand("throughput", "rxe", "--transport tcp --streams 4 --size 1MiB --duration 500ms");
  lab().must("client", "echo " + former.substr(0, former.find('\n')) + " >/proc/sys/net/ipv4/tcp_mem");
  // It may be slow beyond its patience; the failure says why, too.
  const auto said =
      outcome.code == 0 ? json::serialize(json::parse(outcome.out).at("client").at("limits")) : outcome.err;
  EXPECT_NE(said.find("raise net.ipv4.tcp_mem"), std::string::npos) << outcome.code << said;
}

TEST_F(CompactLab, AServerServesOnWhenItsFortyClientsDie) {
  for (const std::string transport : {"tcp", "rdma"}) {
    const auto result = lab().on(
        "client",
        "taskset 2 longhaul-bench cpu_load --listen --open --bind $LONGHAUL_PEER >/tmp/server.out 2>/tmp/server.log & "
        "p=$!\n" +
            wait_until("ss -Hltn 'sport = :7470' | grep -q .") +
            "bench='taskset 1 longhaul-bench cpu_load --connect '$LONGHAUL_PEER' --bind '$LONGHAUL_ADDR' --transport " +
            transport +
            " --work 5ms --json'\n"
            "$bench --duration 20s >/dev/null 2>&1 & c=$!; sleep 4; kill -9 $c\n"
            "$bench --duration 500ms; e=$?; kill $p; wait; cat /tmp/server.log >&2; exit $e");
    ASSERT_EQ(result.code, 0) << transport << ": " << result.err;
    EXPECT_NE(result.err.find("a client was not served"), std::string::npos) << transport << ": " << result.err;
    EXPECT_GT(json::parse(result.out).at("summary").at("slowdown").at("value").to_number<double>(), 0);
  }
}

// Intervals are of the raw clock, which nobody sets; a one-way delay is between wall clocks.
TEST_F(CompactLab, AClockThatIsSetSpoilsOneWayFiguresOnly) {
  const auto during = [&](const std::string& workload) {
    return lab().on(
        "client", "taskset 2 longhaul-bench " + workload +
                      " --listen --open --once --bind $LONGHAUL_PEER >/dev/null 2>&1 & p=$!\n" +
                      wait_until("ss -Hltn 'sport = :7470' | grep -q .") +
                      "(sleep 3; date -s @$(($(date +%s) + 100)) >/dev/null) &\ntaskset 1 longhaul-bench " + workload +
                      " --connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport tcp --duration 6s --json; e=$?\n"
                      "date -s @$(($(date +%s) - 100)) >/dev/null; wait; exit $e");
  };
  const auto packets = during("packets");
  EXPECT_EQ(packets.code, 1);
  EXPECT_NE(packets.err.find("the wall clock was set"), std::string::npos) << packets.err;
  const auto latency = during("latency");
  ASSERT_EQ(latency.code, 0) << latency.err;
  EXPECT_LT(json::parse(latency.out).at("summary").at("latency").at("value").to_number<double>(), 50e6);
}

TEST_F(CompactLab, AKilledAgentComesBack) {
  const auto listening = "ss -Hltn 'sport = :41001' | wc -l";
  EXPECT_EQ(lab().must("client", listening), "1\n");
  const auto before = lab().processes("client", "longhaul-agent --node client ");
  ASSERT_TRUE(lab().signal("client", "KILL", "longhaul-agent --node client "));
  auto now = before;
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  while ((now == before || now.empty()) && std::chrono::steady_clock::now() < deadline)
    now = lab().processes("client", "longhaul-agent --node client ");
  EXPECT_NE(now, before);
  EXPECT_NE(now, "");
  lab().must("client", wait_until("[ $(" + std::string{listening} + ") = 1 ]"));
  EXPECT_EQ(lab().must("client", listening), "1\n");
}

}  // namespace
}  // namespace longhaul::testing
