// degen certify on a router that serves: a certificate of the machine, and nothing of the router disturbed.
#include <gmock/gmock.h>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

using ::testing::HasSubstr;

class CompactCertify : public CompactLab {
 protected:
  static constexpr const char* kAsked =
      "degen certify --delay 20ms --rate 10Mbit/s --packets-per-second 200 --duration 500ms --json";
  // What `degen certify` starts, and where it keeps its socket.
  static std::string left() {
    return lab().must("router",
                      "own() { ps -o args | grep '[d]egen-certify-'; }\n"
                      "for i in $(seq 50); do own >/dev/null || break; sleep 0.1; done\n"
                      "own; cat /proc/net/netfilter/nfnetlink_queue; tc qdisc show | grep -e netem -e fq; true");
  }
};

TEST_F(CompactCertify, SaysWhatTheEnginesKeepOnThisMachine) {
  const auto before = lab().must("router", "ip -br link; tc qdisc show; degen show --json");
  const auto made = lab().on("router", kAsked);
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  EXPECT_EQ(lab().must("router", "ip -br link; tc qdisc show; degen show --json"), before);
  EXPECT_EQ(left(), "");

  const auto certificate = boost::json::parse(made.out);
  EXPECT_EQ(certificate.at("clock").as_string(), "host");
  EXPECT_TRUE(certificate.at("emulated").as_bool());
  const auto& engines = certificate.at("engines").as_object();
  ASSERT_EQ(engines.size(), 5U) << "three engines, tc's netem, and the router by itself";
  for (const auto& [engine, points] : engines) {
    if (engine == "none") continue;
    ASSERT_EQ(points.as_array().size(), 2U) << engine;
    for (const auto& point : points.as_array()) {
      SCOPED_TRACE(boost::json::serialize(point));
      EXPECT_EQ(point.at("loss").to_number<double>(), 0);
      EXPECT_EQ(point.at("reordered").to_number<double>(), 0);
      EXPECT_EQ(point.at("duplicates").to_number<double>(), 0);
      ASSERT_FALSE(point.at("error").is_null()) << "it was applied";
      // By the clock of a host that does other things: what is held for 20 ms, or on a link for 24, is told from what
      // is not.
      EXPECT_LT(point.at("error").to_number<double>(), 10e6);
    }
  }

  const TemporaryDirectory directory;
  write_file(directory.path() / "router.json", made.out);
  const auto drawn = longhaul({"certify", directory.path() / "router.json", "--plot", directory.path() / "router.svg"});
  ASSERT_EQ(drawn.code, 0) << drawn.out << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("degen certify, by the host clock, emulated processors"));
  EXPECT_THAT(read_file(directory.path() / "router.svg"), HasSubstr(">edt</text>"));
}

TEST_F(CompactCertify, LeavesNothingWhenItIsEnded) {
  for (const std::string signal : {"INT", "KILL"}) {
    SCOPED_TRACE(signal);
    const auto ended = lab().on("router", std::string{"degen certify --delay 50ms --packets-per-second 100 --rate 0 "
                                                      "--duration 20s >/tmp/certify.log 2>&1 & p=$!\n"} +
                                              wait_until("ps -o args | grep -q 'degen [s]erve.*degen-certify-'") +
                                              "sleep 1; kill -" + signal + " $p; wait $p");
    EXPECT_EQ(ended.code, signal == "INT" ? 130 : 137) << ended.out << ended.err;
    EXPECT_EQ(left(), "");
  }
}

TEST_F(CompactCertify, RefusesToBeNobody) {
  const auto refused = lab().on("router", "setpriv --reuid 65534 --clear-groups degen certify --delay 1ms");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("run degen certify as root"));
}

}  // namespace
}  // namespace longhaul::testing
