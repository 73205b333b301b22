#include "results/analyses/certificate/certificate.hh"

#include <gmock/gmock.h>

#include "degen/impairment/spec.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kMegabit = 1'000'000;

class Certificates : public testing::Test {
 protected:
  Vocabulary vocabulary_{.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
  Summary summary_;

  CellSummary& add(Parameters parameters, std::vector<double> errors = {1000, -3000, 2000}) {
    CellSummary cell{.workload = "packets", .parameters = std::move(parameters), .status = Status::ok, .usable = 3};
    const auto delay = integer_of(cell.parameters, "delay");
    for (auto* way : {&cell.forward, &cell.back}) {
      way->asked = delay;
      for (const auto error : errors) way->values.push_back(static_cast<double>(delay) + error);
      way->p99 = static_cast<double>(delay) + 20'000;
    }
    for (const auto* name : {"loss", "duplicates", "reordered"}) {
      MetricSummary metric;
      metric.name = name;
      metric.values = {0, 0, 0};
      cell.metrics.push_back(metric);
    }
    summary_.cells.push_back(cell);
    return summary_.cells.back();
  }
  static void spoil(CellSummary& cell, const std::string& name) {
    for (auto& metric : cell.metrics)
      if (metric.name == name) metric.values = {0, 0.01, 0};
  }
  Certificate made() const { return certify(summary_, vocabulary_).value(); }

  void engines() {
    for (const std::string engine : {"netem", "edt"})
      for (const auto delay : {1 * kMillisecond, 5 * kMillisecond, 100 * kMillisecond}) {
        Parameters parameters{{"delay", Value{delay}}};
        if (engine != "netem") parameters["engine"] = Value{engine};
        add(parameters);
      }
  }
};

TEST_F(Certificates, SayWhatEachEngineKept) {
  engines();
  spoil(add({{"delay", Value{500 * kMillisecond}}}), "loss");
  add({{"delay", Value{5 * kMillisecond}}, {"rate", Value{10 * kMegabit}}});
  const auto certificate = made();
  ASSERT_EQ(certificate.engines.size(), 2u);
  const auto& netem = certificate.engines.at("netem");
  ASSERT_EQ(netem.size(), 5u);
  EXPECT_EQ(netem.front().delay, 1 * kMillisecond);
  EXPECT_DOUBLE_EQ(*netem.front().error, 2000);
  EXPECT_DOUBLE_EQ(*netem.front().largest_error, 3000);
  EXPECT_DOUBLE_EQ(*netem.front().p99, 20'000);
  EXPECT_EQ(netem.front().packets_a_second, 1000);
  EXPECT_THAT(netem[3].broken, HasSubstr("0.01 of the packets were lost"));
  const auto range = range_of(netem);
  EXPECT_EQ(range.least_delay, 1 * kMillisecond);
  EXPECT_EQ(range.most_delay, 100 * kMillisecond) << "what was not kept does not count";
  EXPECT_EQ(range.most_rate, 10 * kMegabit);
  EXPECT_THAT(to_text(certificate), HasSubstr("netem: delays 1ms to 100ms, rates 10Mbit/s to 10Mbit/s"));
}

// What the path itself cannot carry is no engine's fault: cells of which nothing is asked stand beside the engines.
TEST_F(Certificates, HaveTheRouterByItself) {
  engines();
  for (const std::int64_t interval : {100'000, 50'000, 20'000}) {
    auto& cell = add({{"delay", Value{std::int64_t{0}}}, {"interval", Value{interval}}});
    if (interval == 20'000) spoil(cell, "loss");
  }
  const auto certificate = made();
  ASSERT_EQ(certificate.engines.size(), 3u);
  EXPECT_EQ(certificate.engines.at("none").size(), 3u);
  EXPECT_EQ(range_of(certificate.engines.at("none")).packets_a_second, 20'000);
  EXPECT_THAT(to_text(certificate), HasSubstr("the router by itself: delays none; up to 20000 packets/s"));
  EXPECT_EQ(range_of(certificate.engines.at("netem")).packets_a_second, 1000);
  EXPECT_EQ(outside(certificate, {{"delay", Value{std::int64_t{0}}}}), "");
}

TEST_F(Certificates, SayUpToHowManyPacketsASecond) {
  for (const std::int64_t interval : {100'000, 50'000, 20'000, 10'000})
    for (const auto delay : {1 * kMillisecond, 100 * kMillisecond}) {
      auto& cell = add({{"delay", Value{delay}}, {"interval", Value{interval}}});
      if (interval == 20'000 && delay == 100 * kMillisecond) spoil(cell, "reordered");
    }
  EXPECT_EQ(range_of(made().engines.at("netem")).packets_a_second, 20'000)
      << "50,000 broke at one delay; that 100,000 did not is luck";
}

TEST_F(Certificates, ArePlainCellsOfPacketsAlone) {
  add({{"delay", Value{kMillisecond}}, {"loss", Value{1000}}});
  EXPECT_THAT(certify(summary_, vocabulary_).error().message, HasSubstr("campaigns/certify.yaml"));
  add({{"delay", Value{kMillisecond}}}).workload = "latency";
  EXPECT_FALSE(certify(summary_, vocabulary_));
}

TEST_F(Certificates, TellCellsThatLieOutside) {
  engines();
  const auto certificate = made();
  const auto why = [&](const Parameters& parameters) { return outside(certificate, parameters); };
  EXPECT_EQ(why({}), "") << "nothing is asked of degen";
  EXPECT_EQ(why({{"delay", Value{5 * kMillisecond}}}), "");
  EXPECT_EQ(why({{"delay", Value{7 * kMillisecond}}, {"engine", Value{"edt"}}}), "") << "between two that were kept";
  EXPECT_EQ(why({{"delay", Value{5 * kMillisecond}}, {"delay_back", Value{0}}}), "");
  EXPECT_THAT(why({{"delay", Value{200 * kMillisecond}}}), HasSubstr("engine netem is certified from 1ms to 100ms"));
  EXPECT_THAT(why({{"delay", Value{5 * kMillisecond}}, {"delay_back", Value{200 * kMillisecond}}}),
              HasSubstr("delay 200ms"));
  EXPECT_THAT(why({{"delay", Value{kMillisecond / 2}}}), HasSubstr("delay 500us"));
  EXPECT_THAT(why({{"rate", Value{kMegabit}}}), HasSubstr("none was certified of engine netem"));
  EXPECT_THAT(why({{"delay", Value{kMillisecond}}, {"engine", Value{"nfqueue"}}}),
              HasSubstr("engine nfqueue is not in"));
  EXPECT_THAT(why({{"delay", Value{kMillisecond}}, {"engine", Value{"auto"}}}), HasSubstr("name it"));
  EXPECT_THAT(why({{"delay", Value{kMillisecond}}, {"clock", Value{"virtual"}}}), HasSubstr("by the host clock"));
}

TEST_F(Certificates, ADelayBetweenTwoThatWasNotKeptIsOutside) {
  engines();
  auto& cell = add({{"delay", Value{20 * kMillisecond}}});
  cell.status = Status::refused;
  cell.message = "before the run, client to server: asked for 20.000 ms";
  EXPECT_THAT(outside(made(), {{"delay", Value{20 * kMillisecond}}}),
              HasSubstr("did not keep it at 1000 packets/s: before the"));
}

TEST_F(Certificates, AreReadBackAndRefusedWhenTheyWereChanged) {
  engines();
  const auto text = to_json(made());
  const auto read = certificate_from_json(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), text);
  EXPECT_TRUE(certificate_from_json(text + "\n")) << "an editor that ends files with a line";
  // Numbers of up to 17 digits.
  auto certificate = made();
  for (int i = 1; i < 2000; ++i) {
    certificate.engines.begin()->second.front().stretch = 1.0 + 1.0 / (3.0 * i);
    ASSERT_TRUE(certificate_from_json(to_json(certificate))) << to_json(certificate);
  }
  auto changed = text;
  changed.replace(changed.find("\"runs\":3"), 8, "\"runs\":9");
  EXPECT_THAT(certificate_from_json(changed).error().message, HasSubstr("it was changed"));
  EXPECT_THAT(certificate_from_json("[]").error().message, HasSubstr("no JSON document"));
  EXPECT_THAT(certificate_from_json("{}").error().message, HasSubstr("no certificate"));
}

TEST_F(Certificates, AreDrawnWithALineForEachEngine) {
  engines();
  const auto svg = to_svg(made());
  EXPECT_THAT(svg, HasSubstr(">edt</text>"));
  EXPECT_THAT(svg, HasSubstr(">netem</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>edt, 5ms, 1000 packets/s of 64 B: 2.0 us</title>"));
}

// Names come from results.db, which may be a stranger's.
TEST_F(Certificates, AreDrawnWithoutMarkupOfOthers) {
  engines();
  auto certificate = made();
  auto engine = certificate.engines.extract("edt");
  engine.key() = "</text><script>alert(1)</script>";
  certificate.engines.insert(std::move(engine));
  certificate.clock = "<img src=x>";
  const auto svg = to_svg(certificate);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

}  // namespace
}  // namespace longhaul::results
