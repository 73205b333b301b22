#include "agents/protocol/messages.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace longhaul::agents {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kToken = "00112233445566778899aabbccddeeff";

StartRequest a_start() {
  return {.run_id = "0123456789abcdef/0/0",
          .role = Role::client,
          .workload = "latency",
          .parameters = {{"completion", Value{"poll"}}, {"size", Value{64}}},
          .transport = "rdma",
          .device = "rxe_a0",
          .bind = "10.10.0.1",
          .token = kToken};
}

std::string start_error(const StartRequest& start) {
  const auto parsed = request_from_json(to_json(Request{.id = 1, .kind = RequestKind::start, .start = start}));
  return parsed ? "" : parsed.error().message;
}

std::string error_of(std::string_view text) {
  const auto parsed = request_from_json(text);
  return parsed ? "" : parsed.error().message;
}

// An older or newer peer reads these very words.
TEST(Messages, GoldenRequest) {
  const auto text = to_json(Request{.id = 7, .kind = RequestKind::start, .start = a_start()});
  EXPECT_EQ(text,
            R"({"id":7,"kind":"start","start":{"run_id":"0123456789abcdef/0/0","role":"client","workload":"latency",)"
            R"("parameters":{"completion":"poll","size":64},"transport":"rdma","device":"rxe_a0","bind":"10.10.0.1",)"
            R"("token":"00112233445566778899aabbccddeeff"}})");
  const auto back = request_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), text);
}

TEST(Messages, GoldenServerMessages) {
  EXPECT_EQ(to_json(ServerMessage{.kind = ServerMessageKind::hello,
                                  .hello = Hello{.node = "a", .version = "0.1.0", .lease = 5}}),
            R"({"kind":"hello","hello":{"protocol":4,"node":"a","version":"0.1.0","lease":5}})");
  const ServerMessage event{
      .kind = ServerMessageKind::event,
      .event = RunEvent{
          .run_id = "r", .bench = BenchEvent{.kind = BenchEventKind::ready, .time = 3, .port = 9}, .exit = {}}};
  const auto text = to_json(event);
  EXPECT_EQ(text, R"({"kind":"event","event":{"run_id":"r","bench":{"kind":"ready","time":3,"port":9}}})");
  const auto back = server_message_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->event->bench->port, 9);
}

TEST(Messages, UnknownMembersOfANewerPeerAreIgnored) {
  EXPECT_TRUE(request_from_json(R"({"id":1,"kind":"heartbeat","mood":"good"})"));
}

TEST(Messages, RefusesWhatIsNoRequest) {
  EXPECT_THAT(error_of(""), HasSubstr("not a JSON document"));
  EXPECT_THAT(error_of("\x16\x03\x01"), HasSubstr("not a JSON document"));
  EXPECT_THAT(error_of("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("id: missing"));
  EXPECT_THAT(error_of(R"({"id":-1,"kind":"facts"})"), HasSubstr("id: expected an integer in range"));
  EXPECT_THAT(error_of(R"({"id":1,"kind":"shutdown"})"), HasSubstr("kind: expected one of heartbeat, facts"));
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("not a JSON document"));
}

TEST(Messages, TheBodyFitsTheKind) {
  EXPECT_THAT(error_of(R"({"id":1,"kind":"start"})"), HasSubstr("lacks the body 'start'"));
  EXPECT_THAT(error_of(R"({"id":1,"kind":"facts","stop":{"run_id":"x"}})"), HasSubstr("does not take the body 'stop'"));
  EXPECT_FALSE(server_message_from_json(R"({"kind":"hello"})"));
  EXPECT_FALSE(server_message_from_json(R"({"kind":"error","hello":{"protocol":1,"node":"","version":"","lease":1}})"));
}

TEST(Messages, ChecksAStart) {
  EXPECT_EQ(start_error(a_start()), "");
  const auto with = [](auto change) {
    auto start = a_start();
    change(start);
    return start_error(start);
  };
  EXPECT_THAT(with([](auto& s) { s.run_id = ""; }), HasSubstr("start.run_id"));
  EXPECT_THAT(with([](auto& s) { s.run_id = std::string(129, 'x'); }), HasSubstr("start.run_id"));
  EXPECT_THAT(with([](auto& s) { s.run_id = "a b"; }), HasSubstr("start.run_id"));
  EXPECT_THAT(with([](auto& s) { s.workload = "--help"; }), HasSubstr("start.workload"));
  EXPECT_THAT(with([](auto& s) { s.transport = "udp"; }),
              HasSubstr("start.transport: expected one of tcp, rdma, ucx, ucx_tcp"));
  EXPECT_THAT(with([](auto& s) { s.transport = ""; }),
              HasSubstr("start.transport: expected one of tcp, rdma, ucx, ucx_tcp"));
  EXPECT_EQ(with([](auto& s) {
              s.role = Role::local;
              s.transport = s.device = s.bind = s.token = "";
            }),
            "");
  EXPECT_THAT(with([](auto& s) { s.device = "x; rm -rf /"; }), HasSubstr("start.device"));
  EXPECT_THAT(with([](auto& s) { s.device = "-x"; }), HasSubstr("start.device"));
  EXPECT_THAT(with([](auto& s) { s.bind = "localhost"; }), HasSubstr("start.bind: expected a numeric"));
  EXPECT_THAT(with([](auto& s) { s.role = Role::router; }), HasSubstr("start.role"));
  EXPECT_THAT(with([](auto& s) { s.parameters["x y"] = Value{1}; }), HasSubstr("start.parameters"));
  EXPECT_THAT(with([](auto& s) { s.parameters["x"] = Value{std::string(300, 'x')}; }), HasSubstr("start.parameters.x"));
  EXPECT_THAT(with([](auto& s) {
                for (int i = 0; i < 100; ++i) s.parameters["p" + std::to_string(i)] = Value{i};
              }),
              HasSubstr("at most 64"));
  EXPECT_EQ(with([](auto& s) {
              s.role = Role::server;
              s.bind = "fd00::1";
            }),
            "");
}

TEST(Messages, ASecretIsWellFormedAndNotRepeated) {
  const auto with = [](Role role, const std::string& token) {
    auto start = a_start();
    start.role = role;
    start.token = token;
    return start_error(start);
  };
  for (const auto role : {Role::client, Role::server}) {
    EXPECT_EQ(with(role, kToken), "");
    // The empty one: whoever is started has to ask for something.
    for (const std::string& bad : {std::string{}, kToken + "0", std::string(32, 'G'), std::string(32, '\n')})
      EXPECT_THAT(with(role, bad), HasSubstr("start.token: expected 32 hexadecimal digits"));
  }
  EXPECT_THAT(with(Role::client, "secret"), Not(HasSubstr("secret")));
  EXPECT_EQ(with(Role::local, ""), "");
  const auto echo_error = [](EchoRequest echo) {
    return error_of(to_json(Request{.id = 1, .kind = RequestKind::echo, .echo = echo}));
  };
  EXPECT_EQ(echo_error({.address = "10.0.0.1", .on = true, .token = kToken}), "");
  EXPECT_THAT(echo_error({.address = "10.0.0.1", .on = true, .token = ""}), HasSubstr("echo.token"));
  EXPECT_EQ(echo_error({.address = "10.0.0.1", .on = false, .token = ""}), "");
}

TEST(Messages, ChecksWhereAClientConnects) {
  const auto error = [](ConnectRequest connect) {
    return error_of(to_json(Request{.id = 1, .kind = RequestKind::connect, .connect = connect}));
  };
  EXPECT_EQ(error({.run_id = "r", .peer = "fd00::2", .peer_port = 1}), "");
  EXPECT_THAT(error({.run_id = "", .peer = "10.0.0.2", .peer_port = 1}), HasSubstr("connect.run_id"));
  EXPECT_THAT(error({.run_id = "r", .peer = "", .peer_port = 1}), HasSubstr("connect.peer"));
  EXPECT_THAT(error({.run_id = "r", .peer = std::string(100'000, '1'), .peer_port = 1}), HasSubstr("connect.peer"));
  EXPECT_THAT(error({.run_id = "r", .peer = "10.0.0.2\n", .peer_port = 1}), HasSubstr("connect.peer"));
  EXPECT_THAT(error({.run_id = "r", .peer = "10.0.0.2", .peer_port = 0}), HasSubstr("connect.peer_port"));
}

TEST(Messages, ChecksProbes) {
  const auto error = [](ProbeRequest probe) {
    return error_of(to_json(Request{.id = 1, .kind = RequestKind::probe, .probe = probe}));
  };
  const ProbeRequest good{.local = "10.0.0.1", .peer = "10.0.0.2", .token = kToken, .count = 100};
  EXPECT_EQ(error(good), "");
  auto bad = good;
  bad.token = "";
  EXPECT_THAT(error(bad), HasSubstr("probe.token"));
  bad = good;
  bad.count = 0;
  EXPECT_THAT(error(bad), HasSubstr("probe.count"));
  bad.count = kMaxProbes + 1;
  EXPECT_THAT(error(bad), HasSubstr("probe.count"));
  bad = good;
  bad.interval = 10;
  EXPECT_THAT(error(bad), HasSubstr("probe.interval"));
  bad.interval = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(error(bad), HasSubstr("probe.interval"));
  bad = good;
  bad.timeout = -1;
  EXPECT_THAT(error(bad), HasSubstr("probe.timeout"));
  bad = good;
  bad.count = kMaxProbes;
  EXPECT_THAT(error(bad), HasSubstr("take longer"));
  // The wait for the last answer is part of it.
  bad = good;
  bad.count = 10;
  bad.interval = kMaxProbeTime / 10;
  bad.timeout = 0;
  EXPECT_EQ(error(bad), "");
  bad.timeout = 1'000'000;
  EXPECT_THAT(error(bad), HasSubstr("take longer"));
  bad = good;
  bad.peer = "example.org";
  EXPECT_THAT(error(bad), HasSubstr("probe.peer"));
}

TEST(Messages, CarriesDegensOwn) {
  longhaul::degen::Request apply{.kind = longhaul::degen::RequestKind::apply,
                                 .engine = "netem",
                                 .parameters = {{"delay", Value{5'000'000}}},
                                 .client = {}};
  const auto text = to_json(Request{.id = 2, .kind = RequestKind::degen, .degen = apply});
  const auto back = request_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->degen->kind, longhaul::degen::RequestKind::apply);
  EXPECT_EQ(back->degen->parameters.at("delay"), Value{5'000'000});
  apply.engine = "net em";
  EXPECT_THAT(error_of(to_json(Request{.id = 2, .kind = RequestKind::degen, .degen = apply})),
              HasSubstr("degen.engine"));
}

std::string refusal(const ServerMessage& message) {
  const auto parsed = server_message_from_json(to_json(message));
  return parsed ? "" : parsed.error().message;
}

ServerMessage of(const Reply& reply) {
  return {.kind = ServerMessageKind::reply, .hello = {}, .reply = reply, .event = {}, .error = {}};
}

ServerMessage of(BenchEvent event) {
  return {.kind = ServerMessageKind::event,
          .hello = {},
          .reply = {},
          .event = RunEvent{.run_id = "r", .bench = std::move(event), .exit = {}},
          .error = {}};
}

ServerMessage of(const NodeRecord& record) {
  return of(BenchEvent{.kind = BenchEventKind::record, .record = record});
}

// Eight million values fit into a frame, and would take a quarter of a gigabyte.
TEST(FromANode, ValuesAreCountedBeforeTheyAreMade) {
  std::string text = R"({"kind":"reply","reply":{"id":1,"probe":{"session":1,"sent":1,"round_trips":[0)";
  for (int i = 0; i < 3'000'000; ++i) text += ",0";
  text += "]}}}";
  EXPECT_THAT(server_message_from_json(text).error().message, HasSubstr("at most 2000000 are taken"));
}

TEST(FromANode, ARecordHasOnlySoMuchInIt) {
  NodeRecord record;
  record.metrics["latency"] = {
      .value = 1, .samples = 2, .distribution = HistogramData{.buckets = {3, 2}, .min = 3, .max = 3}};
  EXPECT_EQ(refusal(of(record)), "");
  auto many = record;
  for (int i = 0; i < 1024; ++i) many.metrics[fmt::format("m{}", i)] = {};
  EXPECT_THAT(refusal(of(many)), HasSubstr("record.metrics: 1025 of them, at most 1024"));
  auto raw = record;
  raw.metrics["latency"].raw.resize(70'000);
  EXPECT_THAT(refusal(of(raw)), HasSubstr("record.metrics.latency.raw: 70000 samples"));
  auto damaged = record;
  damaged.metrics["latency"].distribution->min = 4;
  EXPECT_THAT(refusal(of(damaged)), HasSubstr("record.metrics.latency: damaged histogram"));
  auto limits = record;
  limits.limits.resize(100);
  EXPECT_THAT(refusal(of(limits)), HasSubstr("record.limits: 100 of them"));
  auto cpu = record;
  cpu.cpu = CpuUse{.node_user = std::numeric_limits<std::int64_t>::max()};
  EXPECT_THAT(refusal(of(cpu)), HasSubstr("record.cpu.node_user"));
}

TEST(FromANode, AnEventOfARecordHasOneAndNoOtherHas) {
  EXPECT_THAT(refusal(of(BenchEvent{.kind = BenchEventKind::record})), HasSubstr("lacks a record"));
  EXPECT_THAT(refusal(of(BenchEvent{.kind = BenchEventKind::ready, .record = NodeRecord{}})),
              HasSubstr("does not take a record"));
  EXPECT_THAT(refusal(of(BenchEvent{.kind = BenchEventKind::failed, .message = std::string(70'000, 'x')})),
              HasSubstr("text of 70000 bytes"));
}

TEST(FromANode, TimesAreTimes) {
  EXPECT_EQ(refusal(of(Reply{.id = 1, .clock = 17})), "");
  EXPECT_THAT(refusal(of(Reply{.id = 1, .clock = std::numeric_limits<std::int64_t>::min()})), HasSubstr("reply.clock"));
  EXPECT_EQ(refusal(of(Reply{.id = 1, .probe = ProbeResult{.session = 1, .sent = 2, .round_trips = {5, 6}}})), "");
  EXPECT_THAT(refusal(of(Reply{.id = 1, .probe = ProbeResult{.session = 1, .sent = 1, .round_trips = {5, 6}}})),
              HasSubstr("2 of 1 probes"));
  EXPECT_THAT(refusal(of(Reply{.id = 1, .probe = ProbeResult{.session = 1, .sent = 1, .round_trips = {-5}}})),
              HasSubstr("round_trips"));
  longhaul::degen::Reply degen{.ok = true, .report = longhaul::degen::Report{}};
  degen.report->back.achieved = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(refusal(of(Reply{.id = 1, .degen = degen})), HasSubstr("reply.degen.report.back.achieved"));
}

}  // namespace
}  // namespace longhaul::agents
