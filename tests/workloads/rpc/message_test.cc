// RPC messages and NFS: what is written is what is read, and refusals.
#include "workloads/protocols/rpc/message.hh"

#include <gmock/gmock.h>

#include <array>

#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/nfs.hh"

namespace longhaul::workloads::rpc {
namespace {

using testing::HasSubstr;

using Buffer = std::array<std::byte, 8192>;

TEST(XdrTest, OpaqueBytesAreFilledUpWithZeros) {
  std::array<std::byte, 12> bytes{};
  bytes.fill(std::byte{0xff});
  XdrWriter out{bytes};
  out.text("abcde");
  EXPECT_EQ(out.size(), 12U);
  EXPECT_TRUE(out.good());
  EXPECT_EQ(bytes[8], std::byte{'e'});
  EXPECT_EQ(bytes[9], std::byte{0});
  out.word(1);
  EXPECT_FALSE(out.good()) << "beyond the end";
  EXPECT_EQ(out.size(), 12U);
  XdrReader in{bytes};
  EXPECT_EQ(in.text(5), "abcde");
  EXPECT_EQ(in.left(), 0U);
  XdrReader shorter{bytes};
  EXPECT_EQ(shorter.text(4), "");
  EXPECT_FALSE(shorter.good()) << "more than was allowed";
}

TEST(RpcMessageTest, CallsAndRepliesComeBackAsTheyWent) {
  const CallHeader none{.xid = 1, .program = 100003, .version = 3, .procedure = 6};
  auto system = none;
  system.credential = SystemCredential{.stamp = 7, .machine = "node1", .uid = 1000, .gid = 100, .groups = {4, 24}};
  for (const auto& header : {none, system}) {
    Buffer bytes{};
    XdrWriter out{bytes};
    put(out, header);
    XdrReader in{std::span{bytes}.first(out.size())};
    const auto read = get_call(in);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, header);
    EXPECT_EQ(in.left(), 0U);
  }
  for (const auto& header :
       {ReplyHeader{.xid = 2}, ReplyHeader{.xid = 2, .outcome = Outcome::program_mismatch, .low = 3, .high = 4},
        ReplyHeader{.xid = 2, .outcome = Outcome::system_error},
        ReplyHeader{.xid = 2, .outcome = Outcome::rpc_mismatch, .low = 2, .high = 2},
        ReplyHeader{.xid = 2, .outcome = Outcome::auth_error, .high = 5}}) {
    Buffer bytes{};
    XdrWriter out{bytes};
    put(out, header);
    XdrReader in{std::span{bytes}.first(out.size())};
    const auto read = get_reply(in);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, header);
  }
}

TEST(RpcMessageTest, WhatIsNoCallIsRefused) {
  Buffer bytes{};
  XdrWriter out{bytes};
  put(out, ReplyHeader{.xid = 7});
  XdrReader reply{std::span{bytes}.first(out.size())};
  EXPECT_THAT(get_call(reply).error().message, HasSubstr("0x00000007 is n"));
  XdrWriter call{bytes};
  put(call, CallHeader{.xid = 7, .program = 1});
  for (std::size_t length = 0; length < call.size(); length += 4) {
    XdrReader in{std::span{bytes}.first(length)};
    EXPECT_FALSE(get_call(in)) << length;
  }
  bytes[11] = std::byte{3};
  XdrReader version{bytes};
  EXPECT_THAT(get_call(version).error().message, HasSubstr("version 3 of RPC"));
}

TEST(RpcMessageTest, RecordsAreMarked) {
  std::array<std::byte, 4> bytes{};
  XdrWriter out{bytes};
  put(out, RecordMark{300, true});
  EXPECT_EQ(bytes[0], std::byte{0x80});
  XdrReader in{bytes};
  EXPECT_EQ(get_mark(in), (RecordMark{300, true}));
}

Options options_of(nfs::Procedure procedure, std::size_t size) {
  return {.procedure = procedure, .size = size};
}

// A call and its reply through the store, with the payload inside or elsewhere, of sizes that are no whole words, too.
class ProcedureTest : public testing::TestWithParam<std::tuple<nfs::Procedure, std::size_t, nfs::Payload>> {};

TEST_P(ProcedureTest, IsCarriedOut) {
  const auto& [procedure, size, where] = GetParam();
  const auto options = options_of(procedure, size);
  MemoryStore store{options.file_size(), 1000, size};
  const auto operation = call_of(options, 77, size);
  std::vector<std::byte> payload(size);
  fill_content(payload, operation.offset);
  Buffer bytes{};
  XdrWriter out{bytes};
  const auto position = put_call(out, options.handles, operation, payload, where);
  ASSERT_TRUE(out.good());
  const auto shape = shape_of(options.handles, operation);
  EXPECT_EQ(out.size(), shape.message + (where == nfs::Payload::inside ? padded(shape.payload) : 0));
  auto call = get_server_call(std::span{bytes}.first(out.size()), where);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->outcome, Outcome::success);
  if (procedure == nfs::Procedure::write) {
    EXPECT_EQ(position, shape.message);
    call->write.payload = payload;
  }
  const auto reply = execute(store, *call);
  Buffer answer{};
  XdrWriter answered{answer};
  put_reply(answered, reply, where);
  ASSERT_TRUE(answered.good());
  EXPECT_LE(answered.size(), shape.reply + padded(shape.reply_payload));
  // The server makes the message once, and puts the payload behind it where it goes inside.
  Buffer apart{};
  XdrWriter message{apart};
  put_reply(message, reply, nfs::Payload::elsewhere);
  if (where == nfs::Payload::elsewhere) {
    EXPECT_EQ(answered.size(), message.size());
  } else {
    message.fixed(reply.payload());
    EXPECT_EQ(answered.size(), message.size());
    EXPECT_EQ(answer, apart);
  }
  const auto checked = check_reply(std::span{answer}.first(answered.size()), operation, where);
  if (procedure == nfs::Procedure::read) {
    EXPECT_EQ(checked.length, size);
    if (where == nfs::Payload::inside) {
      EXPECT_EQ(content_fault(checked.payload, operation.offset), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ProcedureTest,
                         testing::Combine(testing::Values(nfs::Procedure::null, nfs::Procedure::read,
                                                          nfs::Procedure::write, nfs::Procedure::readdir,
                                                          nfs::Procedure::readlink),
                                          testing::Values(std::size_t{256}, std::size_t{999}, std::size_t{4000}),
                                          testing::Values(nfs::Payload::inside, nfs::Payload::elsewhere)));

TEST(ProcedureFaultTest, ErrorsNameTheCall) {
  const auto options = options_of(nfs::Procedure::read, 256);
  const auto operation = call_of(options, 5);
  MemoryStore store{1024, 1, 1};
  Buffer bytes{};
  const auto answer = [&](const ServerReply& reply) {
    XdrWriter out{bytes};
    put_reply(out, reply, nfs::Payload::inside);
    return std::span{bytes}.first(out.size());
  };
  const auto why = [&](std::span<const std::byte> message) -> std::string {
    try {
      check_reply(message, operation, nfs::Payload::inside);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  };
  ServerReply reply{.header = {.xid = 5}, .procedure = nfs::Procedure::read};
  reply.read = store.read({.file = MemoryStore::link(), .offset = 0, .count = 256});
  EXPECT_THAT(why(answer(reply)), HasSubstr("READ call 0x00000005: the server answered NFS error 70"));
  reply.read = store.read({.file = MemoryStore::file(), .offset = 0, .count = 255});
  EXPECT_THAT(why(answer(reply)), HasSubstr("255 bytes came, not 256"));
  reply.header.xid = 6;
  EXPECT_THAT(why(answer(reply)), HasSubstr("is of call 0x00000006"));
  EXPECT_THAT(why(answer({.header = {.xid = 5, .outcome = Outcome::garbage_arguments}})), HasSubstr("garbage"));
  EXPECT_THAT(why(answer(reply).first(9)), HasSubstr("not whole"));
}

TEST(ProcedureFaultTest, UnknownProgramsAndProceduresAreOutcomes) {
  Buffer bytes{};
  const auto outcome = [&](CallHeader header) {
    XdrWriter out{bytes};
    put(out, header);
    return get_server_call(std::span{bytes}.first(out.size()), nfs::Payload::inside)->outcome;
  };
  EXPECT_EQ(outcome({.program = 100005, .version = 3}), Outcome::program_unavailable);
  EXPECT_EQ(outcome({.program = 100003, .version = 4}), Outcome::program_mismatch);
  EXPECT_EQ(outcome({.program = 100003, .version = 3, .procedure = 1}), Outcome::procedure_unavailable);
  EXPECT_EQ(outcome({.program = 100003, .version = 3, .procedure = 6}), Outcome::garbage_arguments);
}

TEST(ProcedureFaultTest, AStoreTakesNothingThatIsNotItsOwn) {
  MemoryStore store{1024, 1, 1};
  std::vector<std::byte> payload(100);
  fill_content(payload, 1000);
  const auto write = [&](std::uint64_t offset) {
    return store
        .write({.file = MemoryStore::file(),
                .offset = offset,
                .length = static_cast<std::uint32_t>(payload.size()),
                .payload = payload})
        .status;
  };
  EXPECT_EQ(write(1000), nfs::Status::invalid) << "beyond the end";
  EXPECT_EQ(write(~std::uint64_t{0}), nfs::Status::invalid);
  EXPECT_EQ(write(3), nfs::Status::io) << "content that is not the file's there";
  EXPECT_EQ(write(1000 - 251), nfs::Status::ok) << "a period earlier";
  EXPECT_EQ(store.read({.file = MemoryStore::file(), .offset = 5000, .count = 10}).length, 0U);
}

}  // namespace
}  // namespace longhaul::workloads::rpc
