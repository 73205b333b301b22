// A router is never left impaired, and never unimpaired without anybody knowing.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

// In the router, once a death: 20 ms are applied; then somebody dies; then the hundredths of a second until neither
// qdisc nor table of degen's is in the kernel, "late" when that takes more than 8 s. A look takes some hundredths
// itself.
constexpr const char* kDeath = R"(
{before}
until degen show {at} >/dev/null 2>&1; do sleep 0.1; done
degen apply {at} --engine {engine} --delay 20ms --for 60s >/tmp/death.log 2>&1 &
until degen show {at} | grep -q 'held by'; do sleep 0.1; done
impaired() {{ tc qdisc show | grep -q ' de6e:' || nft list tables | grep -q degen; }}
time() {{ read t rest </proc/uptime; echo ${{t%.*}}${{t#*.}}; }}
process() {{ ps -o pid,args | sed -n "s/^ *\([0-9]*\) [^ ]*$1 .*/\1/p"; }}
dies() {{ {dies}; }}
impaired || exit 3
begin=$(time)
dies || exit 4
while impaired; do [ $(($(time) - begin)) -gt 800 ] && echo late && exit; sleep 0.02; done
echo $(($(time) - begin))
{after}
)";

struct Death {
  const char* what;
  const char* dies;
  int most;          // hundredths of a second
  bool own = false;  // of a degen with interfaces of its own
};

// Killed, and who clears acts at once; the guard hears nothing for 4 s before it acts. The rest is this machine's,
// whose processor is emulated and shared.
constexpr Death kKilled{"killed", "kill -KILL $(process 'degen serve')", 400};
constexpr Death kDeaths[] = {
    kKilled,
    {"out of memory", "echo 1000 >/proc/$(process 'degen serve')/oom_score_adj && echo f >/proc/sysrq-trigger", 400},
    {"its guard killed", "kill -KILL $(process 'degen guard')", 400},
    kKilled,
    {"stopped", "kill -STOP $(process 'degen serve')", 800},
    {"an interface removed", "ip link del da", 400, true},
};

struct Place {
  const char* at;
  const char* before;
  const char* after;
};
constexpr Place kService{"", "", ""};
constexpr Place kOwn{"--socket /run/other/degen.sock",
                     "ip link add da type veth peer name dap; ip link add db type veth peer name dbp\n"
                     "ip link set da up; ip link set db up\n"
                     "degen serve --run-dir /run/other --client-side da --server-side db >/tmp/other.log 2>&1 & own=$!",
                     "kill $own; wait $own; ip link del db"};

int deaths() {
  const char* asked = std::getenv("LONGHAUL_DEATHS");
  return asked == nullptr ? 20 : std::stoi(asked);
}

// LONGHAUL_DEATHS=200: so many (docs/performance.md).
TEST_F(CompactLab, DeathsOfDegenLeaveAnUnimpairedRouter) {
  constexpr const char* engines[] = {"netem", "nfqueue", "edt"};
  std::map<std::string, std::vector<int>> took;
  const int count = deaths();
  ASSERT_GT(count, 0);
  for (int i = 0; i < count; ++i) {
    const auto& [what, dies, most, own] = kDeaths[i / 3 % std::size(kDeaths)];
    const std::string engine = engines[i % 3];
    const auto& place = own ? kOwn : kService;
    const auto said = lab().must(
        "router", fmt::format(kDeath, fmt::arg("engine", engine), fmt::arg("dies", dies), fmt::arg("at", place.at),
                              fmt::arg("before", place.before), fmt::arg("after", place.after)));
    ASSERT_FALSE(said.empty()) << "death " << i;
    ASSERT_EQ(said.find("late"), std::string::npos) << "death " << i << ": " << engine << ", " << what;
    const int time = std::stoi(said);
    EXPECT_LE(time, most) << "death " << i << ": " << engine << ", " << what;
    took[fmt::format("{}, {}", engine, what)].push_back(time);
  }
  for (auto& [kind, times] : took) {
    std::sort(times.begin(), times.end());
    fmt::print("{}: {} deaths, plain after {:.2f} s in the median, {:.2f} s at most\n", kind, times.size(),
               times[times.size() / 2] / 100.0, times.back() / 100.0);
  }
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
