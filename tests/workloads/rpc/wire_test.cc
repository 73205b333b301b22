// The header of RPC over RDMA: bytes as RFC 8166 draws them, and what a hostile peer may send.
#include "workloads/protocols/rpc/wire.hh"

#include <gmock/gmock.h>

#include <array>

#include "workloads/protocols/rpc/private_data.hh"
#include "workloads/protocols/rpc/xdr.hh"

namespace longhaul::workloads::rpc {
namespace {

using testing::HasSubstr;

using ByteString = std::vector<std::byte>;

ByteString bytes_of(const Header& header) {
  ByteString bytes(encoded_size(header));
  EXPECT_EQ(encode(bytes, header), bytes.size()) << "encoded_size() is exact";
  return bytes;
}

ByteString bytes_of(std::initializer_list<std::uint32_t> words) {
  ByteString bytes(words.size() * 4);
  XdrWriter out{bytes};
  for (const auto word : words) out.word(word);
  return bytes;
}

Header rich() {
  return {.xid = 0x01020304,
          .credits = 32,
          .reads = {{128, {7, 4096, 0x1000}}, {128, {8, 100, 0x9000}}},
          .writes = {{{9, 65536, 0x7f0000000000}}, {}},
          .reply = Chunk{{10, 2048, 0x8000}}};
}

TEST(WireTest, TheBytesAreThoseOfTheRfc) {
  EXPECT_EQ(bytes_of(Header{.xid = 5, .credits = 2}), bytes_of({5, 1, 2, 0, 0, 0, 0}));
  EXPECT_EQ(bytes_of(Header{.xid = 5, .credits = 2, .kind = HeaderKind::done}), bytes_of({5, 1, 2, 3}));
  EXPECT_EQ(bytes_of(rich()),
            bytes_of({0x01020304, 1,   32, 0,                               //
                      1,          128, 7,  4096,  0,      0x1000,           // read list
                      1,          128, 8,  100,   0,      0x9000, 0,        //
                      1,          1,   9,  65536, 0x7f00, 0,      1, 0, 0,  // write list: one segment, and none
                      1,          1,   10, 2048,  0,      0x8000}));        // reply chunk
  EXPECT_EQ(bytes_of(Header{.xid = 5, .kind = HeaderKind::error, .fault = {.kind = WireFault::Kind::version}}),
            bytes_of({5, 1, 0, 4, 1, 1, 1}));
  EXPECT_EQ(bytes_of(Header{.xid = 5, .kind = HeaderKind::error}), bytes_of({5, 1, 0, 4, 2}));
}

TEST(WireTest, EveryKindComesBackAsItWent) {
  auto nomsg = rich();
  nomsg.kind = HeaderKind::nomsg;
  auto msgp = rich();
  msgp.kind = HeaderKind::msgp;
  msgp.align = 4096;
  msgp.threshold = 64;
  const Header done{.xid = 9, .credits = 1, .kind = HeaderKind::done};
  const Header error{.xid = 9, .kind = HeaderKind::error, .fault = {.kind = WireFault::Kind::version, .high = 2}};
  auto slot = rich();
  slot.kind = HeaderKind::slot;
  slot.slot = {{11, 8192, 0x20000}, {11, 100, 0x22000}};
  auto ahead = rich();
  ahead.kind = HeaderKind::ahead;
  for (auto header : {Header{.xid = 1}, rich(), nomsg, msgp, done, error, slot, ahead}) {
    const auto bytes = bytes_of(header);
    auto longer = bytes;
    longer.resize(bytes.size() + 12);
    const auto decoded = decode_header(longer, Sender::client);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->header, header);
    EXPECT_EQ(decoded->size, bytes.size()) << "where the RPC message begins";
  }
}

std::string refused(const ByteString& bytes, Sender sender = Sender::client) {
  const auto decoded = decode_header(bytes, sender);
  return decoded ? "accepted" : decoded.error().message;
}

TEST(WireTest, WhatIsNoHeaderIsRefusedAndSaysWhy) {
  const auto whole = bytes_of(rich());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(decode_header(std::span{whole}.first(length), Sender::client)) << length;
  EXPECT_FALSE(decode_header(std::span{whole}.first(3), Sender::client).error().xid) << "nobody to be told";
  EXPECT_EQ(decode_header(std::span{whole}.first(40), Sender::client).error().xid, 0x01020304U);
  EXPECT_THAT(refused(bytes_of({5, 2, 0, 0, 0, 0, 0})), HasSubstr("0x00000005: version 2, not 1"));
  EXPECT_EQ(decode_header(bytes_of({5, 2, 0, 0, 0, 0, 0}), Sender::client).error().fault.kind,
            WireFault::Kind::version);
  EXPECT_THAT(refused(bytes_of({5, 1, 0, 5, 0, 0, 0})), HasSubstr("unknown kind, 5"));
  EXPECT_THAT(refused(bytes_of({5, 1, 0, 18, 0, 0, 0})), HasSubstr("unknown kind, 18"));
  EXPECT_THAT(refused(bytes_of({5, 1, 0, 0, 2, 0, 0})), HasSubstr("not whole")) << "a flag that is no flag";
  EXPECT_THAT(refused(bytes_of({5, 1, 0, 4, 3})), HasSubstr("unknown error, 3"));
}

TEST(WireTest, SegmentsThatCannotBeAreRefused) {
  auto header = rich();
  header.reads[0].target.length = 0;
  EXPECT_THAT(refused(bytes_of(header)), HasSubstr("a segment of no bytes"));
  header = rich();
  header.writes[0][0].offset = ~std::uint64_t{0} - 10;
  EXPECT_THAT(refused(bytes_of(header)), HasSubstr("beyond the end of memory"));
  header = rich();
  header.writes[0] = {{9, 100, 1000}, {9, 100, 1099}};
  EXPECT_THAT(refused(bytes_of(header)), HasSubstr("segments of a write chunk overlap"));
  header.writes[0][1].offset = 1100;
  EXPECT_EQ(refused(bytes_of(header)), "accepted") << "one behind the other";
  header.writes[0][1] = {10, 100, 1099};
  EXPECT_EQ(refused(bytes_of(header)), "accepted") << "of another region";
  EXPECT_THAT(refused(bytes_of({5, 1, 0, 0, 0, 1, 0xffffffff})), HasSubstr("segments"));
  header = {.xid = 1, .reads = std::vector<ReadSegment>(kMostWireSegments + 1, {0, {1, 1, 0}})};
  EXPECT_THAT(refused(bytes_of(header)), HasSubstr("more than 256 segments"));
}

TEST(WireTest, AServerGivesChunksBackOfWhichItUsedNothing) {
  Header header{.xid = 1, .writes = {{{9, 0, 0x1000}, {9, 0, 0x2000}}}, .reply = Chunk{{10, 0, 0x8000}}};
  EXPECT_EQ(refused(bytes_of(header), Sender::server), "accepted");
  EXPECT_THAT(refused(bytes_of(header), Sender::client), HasSubstr("no bytes"));
}

TEST(WireTest, AHeaderThatDoesNotFitIsSaid) {
  ByteString bytes(40);
  EXPECT_THROW(encode(bytes, rich()), std::length_error);
}

TEST(PrivateDataTest, IsThatOfRfc8797) {
  const auto bytes = encode(PrivateData{.remote_invalidation = true, .send = 4096, .receive = 1024});
  EXPECT_EQ(ByteString(bytes.begin(), bytes.end()), bytes_of({0xf6ab0e18, 0x01010300}));
  EXPECT_EQ(decode_private_data(bytes), (PrivateData{.remote_invalidation = true, .send = 4096, .receive = 1024}));
  EXPECT_EQ(decode_private_data(bytes_of({0xf6ab0e18, 0x0100ffff, 0}))->receive, 262144U) << "padded by the provider";
  EXPECT_FALSE(decode_private_data(bytes_of({0xf6ab0e18}))) << "cut short";
  EXPECT_FALSE(decode_private_data(bytes_of({0xf6ab0e18, 0x02000000}))) << "another version";
  EXPECT_FALSE(decode_private_data(bytes_of({0xf6ab0e19, 0x01000000})));
}

}  // namespace
}  // namespace longhaul::workloads::rpc
