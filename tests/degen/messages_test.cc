#include "degen/client/messages.hh"

#include <gmock/gmock.h>

#include "degen/cli/commands.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;

TEST(Messages, ARequestIsThis) {
  const Request request{.kind = RequestKind::apply,
                        .engine = "netem",
                        .parameters = {{"delay", 5'000'000}, {"distribution", "normal"}},
                        .force = {},
                        .client = "me"};
  const std::string golden =
      R"({"version":1,"kind":"apply","engine":"netem","parameters":{"delay":5000000,"distribution":"normal"},"client":"me"})";
  EXPECT_EQ(to_json(request), golden);
  const auto read = request_from_json(golden).value();
  EXPECT_EQ(read.kind, RequestKind::apply);
  EXPECT_EQ(read.parameters, request.parameters);
  EXPECT_EQ(read.client, "me");
}

TEST(Messages, ShortRequestsAreEnough) {
  EXPECT_EQ(request_from_json(R"({"version":1,"kind":"heartbeat"})")->kind, RequestKind::heartbeat);
  EXPECT_FALSE(request_from_json(R"({"version":1})"));
  EXPECT_FALSE(request_from_json(R"({"version":1,"kind":"reboot"})"));
  EXPECT_THAT(request_from_json(R"({"version":2,"kind":"show"})").error().message, HasSubstr("version 2"));
  EXPECT_FALSE(request_from_json(R"({"version":1,"kind":"apply","parameters":{"delay":1.5}})"));
}

TEST(Messages, RepliesComeBackAsTheyWere) {
  Reply reply{.ok = true,
              .error = {},
              .held = true,
              .report = Report{.impaired = true, .engine = "netem", .holder = "me", .parameters = {{"delay", 5}}}};
  reply.report->back.achieved = -3;
  reply.report->forward.samples = 77;
  const auto read = reply_from_json(to_json(reply)).value();
  EXPECT_TRUE(read.ok && read.held);
  EXPECT_EQ(read.report->back.achieved, -3);
  EXPECT_EQ(read.report->forward.samples, 77u);
  EXPECT_EQ(read.report->parameters, reply.report->parameters);
  EXPECT_FALSE(read.error);
}

TEST(Text, ReportsForPeople) {
  Report report{
      .impaired = true, .engine = "netem", .holder = "me (pid 3, uid 0)", .parameters = {{"delay", 5'000'000}}};
  EXPECT_THAT(to_text(report), testing::AllOf(HasSubstr("delay 5ms (netem), held by me (pid 3, uid 0)"),
                                              HasSubstr("no probes have come")));
  EXPECT_THAT(to_text(report), testing::Not(HasSubstr("was chosen")));
  report.seed = 42;
  EXPECT_THAT(to_text(report), HasSubstr("random by seed 42\n"));
  report.chosen = "not edt: no fq";
  EXPECT_THAT(to_text(report), HasSubstr("engine netem was chosen: not edt: no fq\n"));
  report.forward = {.asked = 5'000'000,
                    .programmed = 4'750'000,
                    .achieved = 5'012'000,
                    .median = 5'042'000,
                    .unimpaired = 30'000,
                    .unimpaired_samples = 50,
                    .samples = 200};
  EXPECT_THAT(to_text(report), testing::AllOf(HasSubstr("5.012ms"), HasSubstr("4.750ms"), HasSubstr("30.0us"),
                                              testing::Not(HasSubstr("no probes have"))));
  EXPECT_THAT(to_text(Report{}), HasSubstr("nothing is applied"));
}

TEST(Text, ShortTimes) {
  EXPECT_EQ(short_time(0), "0");
  EXPECT_EQ(short_time(999), "1.0us");
  EXPECT_EQ(short_time(-41'600), "-41.6us");
  EXPECT_EQ(short_time(5'012'345), "5.012ms");
  EXPECT_EQ(short_time(1'500'000'000), "1.5000s");
}

}  // namespace
}  // namespace longhaul::degen
