// The wire of transfers: what is written is what is read, byte by byte as docs/frrwp.md says.
#include "workloads/protocols/frrwp/message.hh"

#include <gmock/gmock.h>

#include <array>

namespace longhaul::workloads::frrwp {
namespace {

using testing::HasSubstr;

using Bytes = std::array<std::byte, kMessageSize>;

Message plain(Kind kind) {
  return {.kind = kind, .tag = 7, .length = 4096, .segments = {}, .moments = {}, .reason = {}, .taken = 3};
}

Message with_segments(Kind kind, std::size_t count) {
  auto message = plain(kind);
  for (std::size_t i = 0; i < count; ++i)
    message.segments.push_back({4096 * i, 4096, static_cast<std::uint32_t>(1000 + i)});
  return message;
}

TEST(FrrwpMessageTest, EveryKindComesBackAsItWent) {
  auto closed = plain(Kind::closed);
  for (std::size_t i = 0; i < kMoments.size(); ++i)
    closed.moments.*kMoments[i] = observe::from_ns(static_cast<std::int64_t>(i + 1));
  auto refuse = plain(Kind::refuse);
  refuse.reason = "no memory";
  for (const auto& message :
       {with_segments(Kind::start, 0), with_segments(Kind::start, 2), with_segments(Kind::key, 1),
        with_segments(Kind::stcrw, kMostSegments), plain(Kind::fin), closed, refuse, plain(Kind::credit)}) {
    Bytes bytes{};
    const auto length = encode(bytes, message);
    const auto read = decode(std::span{bytes}.first(length));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, message) << to_text(message.kind);
  }
}

TEST(FrrwpMessageTest, TheWireIsAsDocumented) {
  Bytes bytes{};
  ASSERT_EQ(encode(bytes, with_segments(Kind::stcrw, 1)), 48U);
  const std::array<unsigned, 48> wanted{1,    0,  3, 0, 1, 0, 0, 0,               // version 1, STCRW, one place
                                        7,    0,  0, 0, 0, 0, 0, 0,               // tag
                                        0,    16, 0, 0, 0, 0, 0, 0,               // length
                                        3,    0,  0, 0, 0, 0, 0, 0,               // taken, unused
                                        0,    0,  0, 0, 0, 0, 0, 0, 0, 16, 0, 0,  // offset, length
                                        0xe8, 3,  0, 0};                          // key
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), wanted[i]) << i;
}

TEST(FrrwpMessageTest, WhatIsNoMessageIsRefused) {
  Bytes bytes{};
  const auto length = encode(bytes, with_segments(Kind::key, 4));
  const auto whole = std::span{bytes}.first(length);
  EXPECT_THAT(decode(whole.first(length - 1)).error().message, HasSubstr("cut short"));
  EXPECT_THAT(decode(whole.first(8)).error().message, HasSubstr("8 bytes"));
  bytes[4] = std::byte{200};
  EXPECT_THAT(decode(bytes).error().message, HasSubstr("cut short")) << "more segments than a message may name";
  bytes[2] = std::byte{99};
  EXPECT_THAT(decode(bytes).error().message, HasSubstr("unknown kind, 99"));
  bytes[0] = std::byte{2};
  EXPECT_THAT(decode(bytes).error().message, HasSubstr("version 2"));
  EXPECT_THROW(encode(bytes, with_segments(Kind::key, kMostSegments + 1)), std::runtime_error);
}

TEST(FrrwpMessageTest, ALongReasonIsCut) {
  auto refuse = plain(Kind::refuse);
  refuse.reason = std::string(2 * kLongestReason, 'x');
  Bytes bytes{};
  const auto read = decode(std::span{bytes}.first(encode(bytes, refuse)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->reason.size(), kLongestReason);
}

}  // namespace
}  // namespace longhaul::workloads::frrwp
