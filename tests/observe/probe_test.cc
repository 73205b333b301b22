#include "observe/probe.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "common/address.hh"

namespace longhaul::observe {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::SizeIs;

std::string_view view(const std::array<char, kProbeSize>& bytes) {
  return {bytes.data(), bytes.size()};
}

std::string text(const Token& token) {
  return {token.data(), token.size()};
}

bool wait_readable(int fd, int milliseconds = 2000) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, milliseconds) == 1;
}

// degen's capture filter reads these bytes: they are fixed.
TEST(ProbePacket, GoldenBytes) {
  const auto bytes = encode_probe({.direction = ProbeDirection::back,
                                   .session = 0x01020304,
                                   .sequence = 0xa0b0c0d0,
                                   .sender_time = 0x1122334455667788,
                                   .token = token_of("a word")});
  const std::string expected = std::string("LHPB\x01\x01\0\0", 8) + "\x01\x02\x03\x04" + "\xa0\xb0\xc0\xd0" +
                               "\x11\x22\x33\x44\x55\x66\x77\x88" + text(token_of("a word")) + std::string(8, '\0');
  EXPECT_EQ(view(bytes), expected);
}

TEST(ProbePacket, ReadsBackWhatItWrote) {
  const ProbePacket packet{
      .session = 0xffffffff, .sequence = 7, .sender_time = ~std::uint64_t{0}, .token = token_of("x")};
  EXPECT_EQ(decode_probe(view(encode_probe(packet))), packet);
}

TEST(ProbePacket, IgnoresWhatIsNoProbe) {
  auto bytes = encode_probe({});
  EXPECT_FALSE(decode_probe(view(bytes).substr(1)));
  EXPECT_FALSE(decode_probe(std::string{view(bytes)} + "x"));
  EXPECT_FALSE(decode_probe(""));
  bytes[probe_offset::version] = 2;
  EXPECT_FALSE(decode_probe(view(bytes)));
  bytes = encode_probe({});
  bytes[probe_offset::direction] = 2;
  EXPECT_FALSE(decode_probe(view(bytes)));
  bytes = encode_probe({});
  bytes[0] = 'X';
  EXPECT_FALSE(decode_probe(view(bytes)));
}

class Probes : public ::testing::TestWithParam<const char*> {};

bool exists_here(const std::string& address) {
  const auto parsed = parse_address(address, 0);
  const OwnFd fd{::socket(parsed->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  return fd && ::bind(fd.get(), parsed->get(), parsed->length) == 0;
}

TEST_P(Probes, GoRoundAndAreTimed) {
  if (!exists_here(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  auto echo = ProbeEcho::open(GetParam(), 0);
  ASSERT_TRUE(echo) << echo.error().message;
  auto sender = ProbeSender::open(GetParam(), GetParam(), echo->port());
  ASSERT_TRUE(sender) << sender.error().message;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(sender->send());
    ASSERT_TRUE(wait_readable(echo->fd()));
    EXPECT_EQ(echo->answer(), 1);
    ASSERT_TRUE(wait_readable(sender->fd()));
    sender->receive();
  }
  EXPECT_TRUE(sender->all_returned());
  EXPECT_EQ(sender->sent(), 10u);
  EXPECT_THAT(sender->round_trips(), SizeIs(10));
  EXPECT_THAT(sender->round_trips(), Each(Gt(0)));
}

INSTANTIATE_TEST_SUITE_P(Loopback, Probes, ::testing::Values("127.0.0.1", "::1"));

TEST(ProbeEcho, AnswersOnlyThoseThatHaveAToken) {
  auto echo = ProbeEcho::open("127.0.0.1", 0);
  ASSERT_TRUE(echo);
  const std::array admitted{token_of("one"), token_of("two")};
  for (const auto* word : {"one", "two", "three", ""}) {
    auto sender = ProbeSender::open("127.0.0.1", "127.0.0.1", echo->port(), token_of(word));
    ASSERT_TRUE(sender);
    ASSERT_TRUE(sender->send());
    ASSERT_TRUE(wait_readable(echo->fd()));
    const bool has = std::string_view{word} == "one" || std::string_view{word} == "two";
    EXPECT_EQ(echo->answer(admitted), has ? 1 : 0) << word;
    EXPECT_EQ(wait_readable(sender->fd(), has ? 2000 : 0), has) << word;
    sender->receive();
    EXPECT_EQ(sender->all_returned(), has) << word;
  }
}

TEST(ProbeSender, CountsADoubledEchoOnce) {
  auto echo = ProbeEcho::open("127.0.0.1", 0);
  ASSERT_TRUE(echo);
  auto sender = ProbeSender::open("127.0.0.1", "127.0.0.1", echo->port());
  ASSERT_TRUE(sender);
  sender->send();
  sender->send();
  ASSERT_TRUE(wait_readable(echo->fd()));
  sockaddr_storage from{};
  socklen_t length = sizeof from;
  std::array<char, kProbeSize> bytes{};
  ASSERT_EQ(::recvfrom(echo->fd(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &length), 64);
  auto packet = decode_probe(view(bytes));
  ASSERT_TRUE(packet);
  packet->direction = ProbeDirection::back;
  const auto answer = [&](ProbePacket p) {
    const auto reply = encode_probe(p);
    ASSERT_EQ(::sendto(echo->fd(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), length), 64);
  };
  answer(*packet);
  answer(*packet);
  auto wrong = *packet;
  wrong.session ^= 1;
  wrong.sequence = 1;
  answer(wrong);  // of another session
  wrong = *packet;
  wrong.sequence = 99;
  answer(wrong);  // never sent
  ASSERT_TRUE(wait_readable(sender->fd()));
  sender->receive();
  EXPECT_THAT(sender->round_trips(), SizeIs(1));
  EXPECT_FALSE(sender->all_returned());
}

TEST(ProbeSender, SurvivesAnEchoThatIsNotThere) {
  std::uint16_t port = 0;
  {
    auto echo = ProbeEcho::open("127.0.0.1", 0);
    ASSERT_TRUE(echo);
    port = echo->port();
  }
  auto sender = ProbeSender::open("127.0.0.1", "127.0.0.1", port);
  ASSERT_TRUE(sender);
  for (int i = 0; i < 5; ++i) sender->send();
  sender->receive();
  EXPECT_THAT(sender->round_trips(), SizeIs(0));
  EXPECT_EQ(sender->sent(), 5u);
}

TEST(Probes, RefuseWhatIsNoAddress) {
  EXPECT_FALSE(ProbeEcho::open("localhost"));
  EXPECT_FALSE(ProbeEcho::open(""));
  EXPECT_FALSE(ProbeSender::open("127.0.0.1", "300.0.0.1"));
  EXPECT_THROW((void)ProbeEcho::open("192.0.2.1"), std::system_error);  // an address of nobody here
}

}  // namespace
}  // namespace longhaul::observe
