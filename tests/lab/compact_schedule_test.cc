// A path that changes, in a kernel: what packets meet when the schedule is played by degen's own engine.
#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

class Schedules : public CompactLab {
 protected:
  /// Round trips in milliseconds of pings each 50 ms, while it is impaired so.
  static std::vector<double> pings(const std::string& options, int count) {
    lab().must("router", "degen apply " + options + " --for 60s >/tmp/apply.log 2>&1 & " +
                             wait_until("degen show | grep -q 'held by'"));
    const auto told =
        lab().on("client", fmt::format("ping -c {} -i 0.05 -W 20 -I $LONGHAUL_ADDR $LONGHAUL_PEER", count)).out;
    clear();
    std::vector<double> times;
    const std::regex time{"time=([0-9.]+) ms"};
    for (std::sregex_iterator it{told.begin(), told.end(), time}, end; it != end; ++it)
      times.push_back(std::stod((*it)[1]));
    EXPECT_EQ(times.size(), static_cast<std::size_t>(count)) << told;
    return times;
  }
};

TEST_F(Schedules, TheDelayChangesAndBeginsAnew) {
  for (const std::string engine : {"edt", "nfqueue", "netem"}) {
    const auto times = pings("--engine " + engine + " --delay 20ms --schedule '1s delay 320ms, repeat 2s'", 120);
    ASSERT_FALSE(times.empty()) << engine;
    EXPECT_GE(*std::min_element(times.begin(), times.end()), 40) << engine;
    const auto count = [&](double from, double to) {
      return std::count_if(times.begin(), times.end(), [&](double time) { return time >= from && time < to; });
    };
    // Six seconds: half of the time each, and here and there a ping that meets one delay on each of its ways.
    EXPECT_GT(count(40, 320), 120 / 5) << engine;
    EXPECT_GT(count(640, 1e9), 120 / 5) << engine;
  }
}

TEST_F(Schedules, PacketsWaitForALinkThatIsDown) {
  for (const std::string engine : {"edt", "nfqueue"}) {
    const auto times = pings("--engine " + engine +
                                 " --delay 1ms --rate 10Mbit/s --schedule '1s down, 2s rate 10Mbit/s, repeat 3s' "
                                 "--schedule-back none",
                             120);
    ASSERT_FALSE(times.empty()) << engine;
    const auto longest = *std::max_element(times.begin(), times.end());
    EXPECT_GT(longest, 800) << engine << ": a ping each 50 ms: one came soon after the link went down";
    EXPECT_LT(*std::min_element(times.begin(), times.end()), 500) << engine;
  }
  const auto refused =
      lab().on("router", "degen apply --engine netem --rate 10Mbit/s --schedule '1s down, 2s rate 10Mbit/s' --for 1s");
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("use engine edt or nfqueue"), std::string::npos) << refused.err;
}

TEST_F(Schedules, ATraceThatIsNoneIsToldByItsLine) {
  const auto outcome = lab().on("router", "printf '10\\nten\\n' | degen schedule -");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("-: line 2: 'ten'"), std::string::npos) << outcome.err;
  const auto schedule = lab().must("router", "printf '10\\n20\\n250\\n' | degen schedule -");
  EXPECT_EQ(schedule.substr(0, schedule.find('\n')),
            "0 rate 242.24kbit/s, 100ms down, 200ms rate 242.24kbit/s, repeat 250ms");
}

}  // namespace
}  // namespace longhaul::testing
