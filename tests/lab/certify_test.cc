// longhaul certify, and a campaign that keeps to the certificate, as a user runs them; and a schedule in a campaign.
#include <gtest/gtest.h>

#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

constexpr const char* kMeasured = R"(name: measured
workload: packets
series: [{transport: tcp, rival: rxe}]
axes: {engine: [nfqueue, edt], delay: [1ms, 20ms]}
fixed: {interval: 1ms, duration: 100ms}
repeat: {min: 1, max: 1}
)";

constexpr const char* kMeant = R"(name: meant
workload: latency
series: [{transport: tcp, rival: rxe}]
axes: {engine: [edt, netem], delay: [0, 5ms, 50ms]}
fixed: {size: 1KiB, op: write}
repeat: {min: 1, max: 1}
)";

TEST(Certify, ACampaignLeavesOutWhatTheEnginesDidNotKeep) {
  const TemporaryDirectory directory;
  const auto file = [&](const char* name) { return directory.path() / name; };
  write_file(file("measured.yaml"), kMeasured);
  const auto measured = longhaul({"run", file("measured.yaml"), "--lab", "--clock", "virtual", "--out", file("out")});
  ASSERT_EQ(measured.code, 0) << measured.out << measured.err;
  const auto certified = longhaul({"certify", file("out"), "--out", file("c.json"), "--plot", file("c.svg"), "--json"});
  ASSERT_EQ(certified.code, 0) << certified.out << certified.err;
  EXPECT_EQ(certified.out, read_file(file("c.json")));
  EXPECT_EQ(read_file(file("c.svg")).rfind("<svg", 0), 0U);
  const auto certificate = boost::json::parse(certified.out);
  EXPECT_EQ(certificate.at("clock").as_string(), "virtual");
  for (const auto* engine : {"nfqueue", "edt"}) {
    const auto& points = certificate.at("engines").at(engine).as_array();
    ASSERT_EQ(points.size(), 2U) << engine;
    for (const auto& point : points) {
      EXPECT_EQ(point.at("broken").as_string(), "") << engine;
      EXPECT_LT(point.at("error").to_number<double>(), 10'000) << engine;
    }
  }

  write_file(file("meant.yaml"), kMeant);
  const std::vector<std::string> kept{"run",           file("meant.yaml"), "--lab", "--clock",   "virtual",
                                      "--certificate", file("c.json"),     "--out", file("kept")};
  const auto ran = longhaul(kept);
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  std::map<std::string, int> statuses;
  for (const auto& row : read_csv(file("kept") / "cells.csv", "latency")) {
    ++statuses[row.at("status")];
    if (row.at("delay_us") == "50000" && row.at("status") != "unsupported") ADD_FAILURE() << "50 ms ran";
  }
  // Without delay both engines, and edt at 5 ms; not 50 ms, nor netem's 5 ms.
  EXPECT_EQ(statuses["ok"], 3) << ran.out << ran.err;
  EXPECT_EQ(statuses["unsupported"], 3);

  auto forged = read_file(file("c.json"));
  forged.replace(forged.find("\"delay\":20000000"), 16, "\"delay\":90000000");
  write_file(file("c.json"), forged);
  const auto refused = longhaul(kept);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("it was changed"), std::string::npos) << refused.err;
}

constexpr const char* kChanging = R"(name: changing
workload: packets
series: [{transport: tcp, rival: rxe}]
axes: {engine: [edt, nfqueue, netem], schedule: [none, "300ms delay 25ms, repeat 600ms"]}
fixed: {delay: 5ms, schedule_back: none, interval: 1ms, duration: 1200ms}
repeat: {min: 1, max: 1}
)";

TEST(Certify, AScheduleIsAnAxisOfCampaigns) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "changing.yaml", kChanging);
  const auto out = directory.path() / "out";
  const auto ran = longhaul({"run", directory.path() / "changing.yaml", "--lab", "--clock", "virtual", "--out", out});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  std::vector<double> spreads;
  for (const auto& row : read_csv(out / "cells.csv", "spread")) spreads.push_back(std::stod(row.at("median")));
  ASSERT_EQ(spreads.size(), 6U);
  std::sort(spreads.begin(), spreads.end());
  for (const auto engine : {0U, 1U, 2U}) {
    EXPECT_LT(spreads[engine], 1'000) << "one delay (us)";
    EXPECT_NEAR(spreads[3 + engine], 20'000, 1'000) << "half of the packets 20 ms later (us)";
  }
}

}  // namespace
}  // namespace longhaul::testing
