// Our codec against libtirpc's, made by rpcgen from oracle.x: the same bytes, read back by the other.
#include <gtest/gtest.h>

#include <random>

#include "oracle.h"
#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/nfs.hh"
#include "workloads/protocols/rpc/wire.hh"

namespace longhaul::workloads::rpc {
namespace {

using ByteString = std::vector<std::byte>;

template <typename T>
ByteString by_oracle(xdrproc_t procedure, T& value) {
  ByteString bytes(65536);
  XDR stream;
  xdrmem_create(&stream, reinterpret_cast<char*>(bytes.data()), static_cast<u_int>(bytes.size()), XDR_ENCODE);
  EXPECT_TRUE(procedure(&stream, &value));
  bytes.resize(xdr_getpos(&stream));
  return bytes;
}

// Reads with the oracle and writes what it read once more.
template <typename T>
ByteString through_oracle(xdrproc_t procedure, ByteString bytes) {
  T value{};
  XDR stream;
  xdrmem_create(&stream, reinterpret_cast<char*>(bytes.data()), static_cast<u_int>(bytes.size()), XDR_DECODE);
  EXPECT_TRUE(procedure(&stream, &value)) << "libtirpc does not understand it";
  EXPECT_EQ(xdr_getpos(&stream), bytes.size());
  auto again = by_oracle(procedure, value);
  xdr_free(procedure, &value);
  return again;
}

template <typename Put>
ByteString ours(Put put) {
  ByteString bytes(65536);
  XdrWriter out{bytes};
  put(out);
  EXPECT_TRUE(out.good());
  bytes.resize(out.size());
  return bytes;
}

TEST(RpcOracleTest, HeadersAreTheSameBytes) {
  std::mt19937_64 random{8166};
  const auto segment = [&] {
    return WireSegment{static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random() % 65536 + 1),
                       random() >> 1};
  };
  for (int i = 0; i < 2000; ++i) {
    Header header{.xid = static_cast<std::uint32_t>(random()),
                  .credits = static_cast<std::uint32_t>(random() % 512),
                  .kind = static_cast<HeaderKind>(random() % 5)};
    header.fault.kind = static_cast<WireFault::Kind>(1 + random() % 2);
    header.align = static_cast<std::uint32_t>(random() % 4096);
    for (auto n = random() % 4; n > 0; --n)
      header.reads.push_back({static_cast<std::uint32_t>(random() % 300), segment()});
    for (auto n = random() % 3; n > 0; --n) {
      header.writes.emplace_back();
      for (auto m = random() % 4; m > 0; --m) header.writes.back().push_back(segment());
    }
    if (random() % 2 == 0) header.reply = Chunk{segment(), segment()};
    ByteString bytes(encoded_size(header));
    encode(bytes, header);
    ASSERT_EQ(through_oracle<oracle_header>(reinterpret_cast<xdrproc_t>(xdr_oracle_header), bytes), bytes) << i;
  }
}

TEST(RpcOracleTest, CallsOfNfsAreTheSameBytes) {
  const auto file = MemoryStore::file();
  oracle_handle handle{static_cast<u_int>(file.size),
                       const_cast<char*>(reinterpret_cast<const char*>(file.bytes.data()))};
  ByteString payload(1001);
  fill_content(payload, 5);
  {
    oracle_read_args read{handle, 0x123456789, 4096};
    EXPECT_EQ(ours([&](auto& out) {
                nfs::put(out, nfs::ReadArguments{file, 0x123456789, 4096});
              }),
              by_oracle(reinterpret_cast<xdrproc_t>(xdr_oracle_read_args), read));
  }
  {
    oracle_write_args write{handle, 7, 1001, 2, {1001, reinterpret_cast<char*>(payload.data())}};
    EXPECT_EQ(ours([&](auto& out) {
                nfs::put(out, nfs::WriteArguments{file, 7, nfs::Stable::file, 1001, payload}, nfs::Payload::inside);
              }),
              by_oracle(reinterpret_cast<xdrproc_t>(xdr_oracle_write_args), write));
  }
  {
    oracle_readdir_args readdir{handle, 9, {0, 0, 0, 0, 0, 0, 0, 3}, 8192};
    EXPECT_EQ(ours([&](auto& out) {
                nfs::put(out, nfs::ReaddirArguments{file, 9, 3, 8192});
              }),
              by_oracle(reinterpret_cast<xdrproc_t>(xdr_oracle_readdir_args), readdir));
  }
}

TEST(RpcOracleTest, ResultsOfNfsAreUnderstood) {
  MemoryStore store{4096, 30, 100};
  const auto check = [](xdrproc_t procedure, auto of, const ByteString& bytes) {
    EXPECT_EQ((through_oracle<typename decltype(of)::type>(procedure, bytes)), bytes);
  };
  const auto read = store.read({.file = MemoryStore::file(), .offset = 100, .count = 1001});
  check(reinterpret_cast<xdrproc_t>(xdr_oracle_read_result), std::type_identity<oracle_read_result>{},
        ours([&](auto& out) { nfs::put(out, read, nfs::Payload::inside); }));
  check(reinterpret_cast<xdrproc_t>(xdr_oracle_read_result), std::type_identity<oracle_read_result>{},
        ours([&](auto& out) { nfs::put(out, nfs::ReadResult{.status = nfs::Status::io}, nfs::Payload::inside); }));
  check(reinterpret_cast<xdrproc_t>(xdr_oracle_write_result), std::type_identity<oracle_write_result>{},
        ours([&](auto& out) { nfs::put(out, nfs::WriteResult{.count = 5}); }));
  check(reinterpret_cast<xdrproc_t>(xdr_oracle_write_result), std::type_identity<oracle_write_result>{},
        ours([&](auto& out) { nfs::put(out, nfs::WriteResult{.status = nfs::Status::stale}); }));
  check(reinterpret_cast<xdrproc_t>(xdr_oracle_readdir_result), std::type_identity<oracle_readdir_result>{},
        ours([&](auto& out) { nfs::put(out, store.readdir({.directory = MemoryStore::directory(), .count = 700})); }));
  check(reinterpret_cast<xdrproc_t>(xdr_oracle_readlink_result), std::type_identity<oracle_readlink_result>{},
        ours([&](auto& out) { nfs::put(out, store.readlink(MemoryStore::link())); }));
}

TEST(RpcOracleTest, CallHeadersAreTheSameBytes) {
  const SystemCredential credential{.stamp = 3, .machine = "node-1", .uid = 5, .gid = 6, .groups = {7, 8}};
  char machine[] = "node-1";
  u_int groups[] = {7, 8};
  oracle_sys system{3, machine, 5, 6, {2, groups}};
  auto body = by_oracle(reinterpret_cast<xdrproc_t>(xdr_oracle_sys), system);
  oracle_call call{9,
                   0,
                   2,
                   100003,
                   3,
                   6,
                   {1, {static_cast<u_int>(body.size()), reinterpret_cast<char*>(body.data())}},
                   {0, {0, nullptr}}};
  EXPECT_EQ(ours([&](auto& out) {
              put(out, CallHeader{.xid = 9, .program = 100003, .version = 3, .procedure = 6, .credential = credential});
            }),
            by_oracle(reinterpret_cast<xdrproc_t>(xdr_oracle_call), call));
}

}  // namespace
}  // namespace longhaul::workloads::rpc
