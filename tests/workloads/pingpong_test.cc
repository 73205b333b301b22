#include "workloads/protocols/pingpong.hh"

#include <gmock/gmock.h>

#include "tests/workloads/fake.hh"

namespace longhaul::workloads::pingpong {
namespace {

using testing::HasSubstr;

TEST(Payload, AnyChangedByteIsFound) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{256}, std::size_t{257},
                                 std::size_t{258}, std::size_t{1500}}) {
    std::vector<std::byte> message(size);
    fill(message, Direction::ping, 7, 7);
    EXPECT_FALSE(find_fault(message, Direction::ping, 7, 7));
    for (std::size_t i = 0; i < size; ++i) {
      message[i] ^= std::byte{1};
      EXPECT_THAT(find_fault(message, Direction::ping, 7, 7).value_or(""),
                  HasSubstr(fmt::format("byte {} of {}", i, size)));
      message[i] ^= std::byte{1};
    }
  }
}

// The ends may be of different builds.
TEST(Payload, IsWhatItWas) {
  for (const auto direction : {Direction::ping, Direction::pong}) {
    std::vector<std::byte> message(5000);
    fill(message, direction, 9, 3);
    for (std::size_t i = 1; i + 1 < message.size(); ++i)
      ASSERT_EQ(std::to_integer<std::size_t>(message[i]),
                (i * 131 + i / 256 * 17 + (direction == Direction::pong ? 89 : 0) + 3 * 29) % 256)
          << i;
    EXPECT_EQ(message.front(), std::byte{9});
    EXPECT_EQ(message.back(), std::byte{9});
  }
}

TEST(Payload, StaleAndForeignMessagesAreFound) {
  std::vector<std::byte> message(100);
  fill(message, Direction::ping, 7, 7);
  EXPECT_TRUE(find_fault(message, Direction::pong, 7, 7));
  stamp(message, 8);  // a new edge on an old body
  EXPECT_TRUE(find_fault(message, Direction::ping, 8, 8));
}

TEST(Payload, SequenceNeverIsZero) {
  std::uint8_t sequence = 0;
  for (int i = 0; i < 1000; ++i) {
    sequence = next_sequence(sequence);
    EXPECT_NE(sequence, 0);
  }
}

class LanesTest : public testing::TestWithParam<std::tuple<std::string, std::size_t, bool>> {};

// A client and a server lane over two joined memories.
struct Table {
  explicit Table(const LaneOptions& options) : client_end(options.layout().total), server_end(options.layout().total) {
    client_end.join(server_end);
    for (int i = 0; i < 4; ++i) {
      client_end.post_receive(options.layout().in, options.pong);
      server_end.post_receive(options.layout().in, options.ping);
    }
    if (options.op == "read") fill_source(server_end.memory(), options);
    client = make_client_lane(client_end, options);
    if (options.op != "read") server = make_server_lane(server_end, options);
  }
  // One exchange; true when the client saw its end.
  bool play() {
    client->start();
    if (server && !server->advance()) return false;
    return client->advance();
  }
  FakeConnection client_end;
  FakeConnection server_end;
  std::unique_ptr<PingPong> client;
  std::unique_ptr<PingPong> server;
};

TEST_P(LanesTest, MessagesGoToAndFro) {
  const auto& [op, size, verify] = GetParam();
  Table table{{op, size, size, verify}};
  for (int i = 0; i < 600; ++i) {
    ASSERT_TRUE(table.play()) << i;
    table.client->inspect();
  }
  table.client->verify_last();
  if (table.server) table.server->verify_last();
  EXPECT_EQ(table.client->out_of_order(), 0U);
}

TEST_P(LanesTest, ACorruptedReplyIsFound) {
  const auto& [op, size, verify] = GetParam();
  if (op == "read") return;  // below
  Table table{{op, size, size, verify}};
  ASSERT_TRUE(table.play());
  const auto middle = size / 2;
  table.server_end.tamper = [middle](std::span<std::byte> bytes) { bytes[middle] ^= std::byte{0x40}; };
  const auto play_and_look = [&] {
    // A write whose edge is wrong is a write that never comes.
    if (!table.play()) throw std::runtime_error("corrupted payload, or never seen");
    table.client->inspect();
    table.client->verify_last();
  };
  EXPECT_THROW(play_and_look(), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Operations, LanesTest,
                         testing::Combine(testing::Values("stream", "send", "write", "write_imm", "write_send", "read"),
                                          testing::Values(std::size_t{1}, std::size_t{2}, std::size_t{64},
                                                          std::size_t{5000}),
                                          testing::Bool()));

TEST_P(LanesTest, PingAndPongMayDifferInSize) {
  const auto& [op, size, verify] = GetParam();
  for (const auto& [ping, pong] : {std::pair{std::size_t{16}, size}, {size, std::size_t{3}}}) {
    Table table{{op, ping, pong, verify}};
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(table.play()) << i;
      table.client->inspect();
    }
    table.client->verify_last();
    if (table.server) table.server->verify_last();
  }
}

TEST(Lanes, TheServerMayHaveToDoSomethingElseFirst) {
  for (const std::string op : {"stream", "write"}) {
    int done = 0;
    LaneOptions options{op, 64, 64, false};
    options.before_reply = [&done] { ++done; };
    Table table{options};
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(table.play());
      EXPECT_EQ(done, i);
    }
  }
}

TEST_P(LanesTest, AnyPayloadCrossesAndAnotherOnesEndIsFound) {
  const auto& [op, size, verify] = GetParam();
  LaneOptions options{op, size, size, verify};
  for (const int payload : {1, 77, 255}) {
    options.payload = static_cast<std::uint8_t>(payload);
    Table table{options};
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(table.play()) << i;
      table.client->inspect();
    }
    table.client->verify_last();
    if (size <= 2) continue;  // all edges
    auto other = options;
    other.payload = 3;
    Table plain{other};
    ASSERT_TRUE(plain.play());
    const auto sent = op == "read" ? plain.server_end.memory() : plain.client_end.memory();
    EXPECT_TRUE(find_fault(sent.first(size), op == "read" ? Direction::pong : Direction::ping,
                           std::to_integer<std::uint8_t>(sent.front()), options.payload));
  }
}

TEST(Lanes, AReadOfOtherBytesIsFound) {
  Table table{{"read", 64, 64, true}};
  ASSERT_TRUE(table.play());
  table.server_end.memory()[10] ^= std::byte{1};
  ASSERT_TRUE(table.play());
  EXPECT_THROW(table.client->inspect(), std::runtime_error);
}

TEST(Lanes, AWriteWhoseLastByteComesFirstWaitsAndIsCounted) {
  Table table{{"write", 64, 64, false}};
  ASSERT_TRUE(table.play());
  std::byte* late = nullptr;
  std::byte value{};
  table.server_end.tamper = [&](std::span<std::byte> bytes) {
    late = bytes.data();
    value = bytes.front();
    bytes.front() = std::byte{0};
  };
  table.client->start();
  ASSERT_TRUE(table.server->advance());
  EXPECT_FALSE(table.client->advance());
  EXPECT_FALSE(table.client->advance());
  *late = value;
  EXPECT_TRUE(table.client->advance());
  EXPECT_EQ(table.client->out_of_order(), 1U);
}

TEST(Lanes, OperationsAreWhatTheyAreCalled) {
  const auto first = [](const std::string& op) {
    Table table{{op, 64, 64, false}};
    EXPECT_TRUE(table.play());
    return table.client_end.posted;
  };
  EXPECT_EQ(first("write").at(0).operation, Operation::write);
  EXPECT_EQ(first("write_imm").at(0).operation, Operation::write_with_immediate);
  EXPECT_EQ(first("read").at(0).operation, Operation::read);
  const auto both = first("write_send");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].operation, Operation::write);
  EXPECT_TRUE(both[0].more);
  EXPECT_EQ(both[1].operation, Operation::send);
  EXPECT_EQ(both[1].length, 0U);
}

}  // namespace
}  // namespace longhaul::workloads::pingpong
