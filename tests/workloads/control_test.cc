#include "workloads/harness/control.hh"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "workloads/transport/verbs/cm.hh"

namespace longhaul::workloads {
namespace {

using testing::HasSubstr;

std::pair<OwnFd, OwnFd> pair() {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  return {OwnFd{fds[0]}, OwnFd{fds[1]}};
}

Patience briefly() {
  return Patience::of(std::chrono::milliseconds{50}, -1);
}

TEST(ControlMessage, SurvivesTheWire) {
  ControlMessage message;
  message.kind = ControlKind::hello;
  message.session = 0x7fffffffffffffff;
  message.workload = "latency";
  message.parameters = Parameters{{"size", 64}, {"op", "send"}};
  message.port = 65535;
  message.status = Status::unsupported;
  const auto back = control_message_from_json(to_json(message));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->kind, ControlKind::hello);
  EXPECT_EQ(back->session, message.session);
  EXPECT_EQ(back->parameters, message.parameters);
  EXPECT_EQ(back->port, message.port);
  EXPECT_EQ(back->status, Status::unsupported);
  EXPECT_FALSE(back->record);
}

TEST(ControlMessage, AnotherVersionIsNamedBeforeAnythingElse) {
  const auto refused = control_message_from_json(R"({"version": 99, "program": "9.9-future", "kind": "teleport"})");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("version 99"));
  EXPECT_THAT(refused.error().message, HasSubstr("9.9-future"));
}

TEST(ControlMessage, NonsenseIsRefused) {
  for (const auto* text :
       {"", "{", "[]", "17", R"({"kind": "hello"})", R"({"version": 2, "kind": "teleport"})",
        R"({"version": 2, "kind": "hello", "port": 70000})", R"({"version": 2, "kind": "hello", "session": "x"})"})
    EXPECT_FALSE(control_message_from_json(text)) << text;
}

TEST(ControlChannel, MessagesArriveInOrderAndTheEndIsAnError) {
  auto [a, b] = pair();
  ControlChannel left{std::move(a)};
  ControlChannel right{std::move(b)};
  EXPECT_FALSE(*right.next());
  ControlMessage message;
  message.kind = ControlKind::window_start;
  left.send(message, briefly());
  message.kind = ControlKind::window_stop;
  left.send(message, briefly());
  EXPECT_EQ(right.receive(briefly(), "a message")->kind, ControlKind::window_start);
  EXPECT_EQ(right.receive(briefly(), "a message")->kind, ControlKind::window_stop);
  EXPECT_THAT(right.receive(briefly(), "the third").error().message, HasSubstr("the third did not come"));
  { const auto gone = std::move(left); }
  EXPECT_FALSE(right.next());
}

TEST(ControlChannel, AHugeFrameIsRefusedByItsHeader) {
  auto [a, b] = pair();
  ControlChannel channel{std::move(b)};
  const char header[] = {'\x7f', '\0', '\0', '\0'};
  ASSERT_EQ(::send(a.get(), header, sizeof header, 0), 4);
  EXPECT_FALSE(channel.next());
}

TEST(Preamble, IsATokenAndSixteenBytes) {
  const auto token = token_of("a word");
  const Preamble preamble{true, 258, 0x0102030405060708, token};
  const auto bytes = encode(preamble);
  EXPECT_EQ(bytes, std::string(token.data(), token.size()) + std::string("LHDT\1\2\3\4\5\6\7\x8\1\2\0\0", 16));
  EXPECT_EQ(decode_preamble(bytes), preamble);
  EXPECT_EQ(decode_preamble(encode(Preamble{false, 0, 7})), (Preamble{false, 0, 7}));
  EXPECT_FALSE(decode_preamble("GET / HTTP/1.0\r\nHost: a host with a longer name\r\n"));
  EXPECT_FALSE(decode_preamble(bytes.substr(1)));
}

TEST(Introduction, FitsAnInfiniBandRequestAndSurvives) {
  const Introduction introduction{0x0102030405060708, 300, 0xdeadbeef, 0x7f0011223344, 1 << 23};
  const auto bytes = encode(introduction);
  static_assert(kIntroductionSize <= 56);
  EXPECT_EQ(decode_introduction({bytes.data(), bytes.size()}), introduction);
  // Providers hand over the whole field, padded.
  EXPECT_EQ(decode_introduction(std::string{bytes.data(), bytes.size()} + std::string(20, '\0')), introduction);
  EXPECT_FALSE(decode_introduction({bytes.data(), bytes.size() - 1}));
  EXPECT_FALSE(decode_introduction(std::string(56, '\0')));
}

}  // namespace
}  // namespace longhaul::workloads
