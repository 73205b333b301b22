// A router is never left impaired, and never unimpaired without anybody knowing.
#include <fmt/format.h>

#include <algorithm>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

// In the router, once a death: 20 ms are applied; degen dies (KILL) or hangs (STOP); then the tenths of a second until
// neither qdisc nor table of degen's is in the kernel, "late" when that takes more than 8 s.
constexpr const char* kDeath = R"(
until degen show >/dev/null 2>&1; do sleep 0.1; done
degen apply --engine {engine} --delay 20ms --for 60s >/tmp/death.log 2>&1 &
until degen show | grep -q 'held by'; do sleep 0.1; done
impaired() {{ tc qdisc show | grep -q ' de6e:' || nft list tables | grep -q degen; }}
impaired || exit 3
p=$(ps -o pid,args | sed -n 's/^ *\([0-9]*\) degen serve .*/\1/p')
kill -{signal} $p
for i in $(seq 80); do impaired || break; sleep 0.1; done
impaired && i=late
echo "$i"
)";

TEST_F(CompactLab, TwentyDeathsOfDegenLeaveAnUnimpairedRouter) {
  constexpr const char* engines[] = {"netem", "nfqueue", "edt"};
  int slowest_kill = 0;
  for (int i = 0; i < 20; ++i) {
    const bool hangs = i % 5 == 4;
    const auto script =
        fmt::format(kDeath, fmt::arg("engine", engines[i % 3]), fmt::arg("signal", hangs ? "STOP" : "KILL"));
    const auto took = lab().must("router", script);
    ASSERT_FALSE(took.empty());
    ASSERT_EQ(took.find("late"), std::string::npos) << "death " << i;
    if (!hangs) slowest_kill = std::max(slowest_kill, std::stoi(took));
  }
  RecordProperty("slowest_kill_tenths", slowest_kill);
  EXPECT_LE(slowest_kill, 20);  // the guard acts at once; the rest is this machine's
  lab().must("router", "until degen show >/dev/null 2>&1; do sleep 0.1; done");
  EXPECT_NE(lab().must("router", "degen show").find("nothing is applied"), std::string::npos);
}

TEST_F(CompactLab, WhatAStrangerTakesAwayIsNoticed) {
  lab().must("router", "degen apply --engine netem --loss 1% --for 60s >/tmp/apply.log 2>&1 & " +
                           wait_until("degen show | grep -q 'held by'"));
  lab().must("router", "tc qdisc del dev rb0 root");
  const auto said = lab().must("router", wait_until("degen show | grep -q '^lost: '") + "degen show");
  EXPECT_NE(said.find("lost: rb0: degen's qdisc is gone"), std::string::npos) << said;
  // The other way's goes, too: half an impairment is none that anybody asked for.
  EXPECT_EQ(lab().must("router", "tc qdisc show").find("netem"), std::string::npos);
  const auto applying =
      lab().must("router", wait_until("grep -q 'no longer applies' /tmp/apply.log") + "cat /tmp/apply.log");
  EXPECT_NE(applying.find("degen no longer applies it: rb0: degen's qdisc is gone"), std::string::npos) << applying;
}

TEST_F(CompactLab, ASecondDegenLeavesTheFirstAlone) {
  applied("--engine nfqueue --delay 20ms", 1);
  const auto same = lab().on("router", "degen serve --run-dir /run/other --client-side ra0 --server-side rb0");
  EXPECT_NE(same.code, 0);
  EXPECT_NE(same.err.find("ra0: another degen serves it"), std::string::npos) << same.err;
  // One with interfaces of its own.
  lab().must("router",
             "ip link add da type veth peer name dap; ip link add db type veth peer name dbp\n"
             "degen serve --run-dir /run/other --client-side da --server-side db >/tmp/other.log 2>&1 & p=$!\n" +
                 wait_until("degen show --socket /run/other/degen.sock >/dev/null 2>&1") +
                 "degen show | grep -q 'held by' || exit 4\n"
                 "nft list tables | grep -q longhaul_degen || exit 5\n"
                 "degen apply --socket /run/other/degen.sock --engine nfqueue --delay 1ms --for 1s >/tmp/second.log "
                 "2>&1 && exit 6\n"
                 "grep -q 'another degen impairs by engine nfqueue' /tmp/second.log || exit 7\n"
                 "kill $p; wait $p; ip link del da; ip link del db");
  clear();
}

TEST_F(CompactLab, ADegenByItselfEndsWithItsImpairment) {
  const std::string begin =
      "ip link add da type veth peer name dap; ip link add db type veth peer name dbp; ip link set da up; ip link set "
      "db up\n"
      "apply='degen apply da db --socket /run/alone/degen.sock --engine netem --profile metro --loss 1%'\n"
      "gone() { ! tc qdisc show | grep -q 'netem.*dev d[ab]' && ! ps -o args | grep -q '^degen .*/run/alone'; }\n";
  const std::string end = wait_until("gone") + "gone || exit 7\nip link del da; ip link del db";
  // Its time is over; Ctrl-C; kill -9.
  lab().must("router", begin + "$apply --for 1s >/tmp/alone.log 2>&1 & p=$!\n" +
                           wait_until("tc qdisc show dev db | grep -q netem") +
                           "degen show --socket /run/alone/degen.sock | grep -q 'delay 490us' || exit 3\n"
                           "$apply >/tmp/second.log 2>&1 && exit 4\n"
                           "grep -q 'a degen serves at /run/alone/degen.sock already' /tmp/second.log || exit 5\n"
                           "wait $p || exit 6\n" +
                           end);
  for (const std::string signal : {"INT", "KILL"})
    lab().must("router", begin + "$apply >/tmp/alone.log 2>&1 & p=$!\n" +
                             wait_until("tc qdisc show dev db | grep -q netem") + "kill -" + signal + " $p; wait $p\n" +
                             end);
  const auto missing = lab().on("router", "degen apply da db --socket /run/alone/degen.sock --delay 1ms");
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("da: there is no such network interface"), std::string::npos) << missing.err;
}

TEST_F(CompactLab, AnInterfaceThatIsGoneKeepsNoneOfTheOthersFromBeingCleared) {
  // A degen with interfaces of its own dies, and one of them goes before the next one starts.
  lab().must(
      "router",
      R"(ip link add da type veth peer name dap; ip link add db type veth peer name dbp; ip link set da up; ip link set db up
degen serve --no-guard --run-dir /run/other --client-side da --server-side db >/tmp/other.log 2>&1 & p=$!
)" + wait_until("degen show --socket /run/other/degen.sock >/dev/null 2>&1") +
          R"(degen apply --socket /run/other/degen.sock --engine netem --delay 5ms --for 60s >/dev/null 2>&1 &
)" + wait_until("tc qdisc show dev db | grep -q netem") +
          R"(kill -9 $p; wait $p
ip link del da
tc qdisc show dev db | grep -q netem || exit 3
degen serve --run-dir /run/other --client-side da --server-side db >/tmp/other.log 2>&1 && exit 4
tc qdisc show dev db | grep -q netem && exit 5
grep -q 'da: there is no such network interface' /tmp/other.log || exit 6
ip link del db)");
}

}  // namespace
}  // namespace longhaul::testing
