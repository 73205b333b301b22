// Our messages as a capture, and what somebody else's dissector reads in it: every field of the header, and whose call
// it is. The bytes are what client and server really send one another.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/child.hh"
#include "tests/workloads/rpc/table.hh"

namespace longhaul::workloads::rpc {
namespace {

namespace fs = std::filesystem;

struct Message {
  Sender sender;
  std::vector<std::byte> bytes;
};

// Numbers in network order, one behind the other.
class Bytes {
 public:
  Bytes& number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = size; i-- > 0;) all_.push_back(static_cast<std::byte>(value >> (8 * i)));
    return *this;
  }
  Bytes& append(std::span<const std::byte> more) {
    all_.insert(all_.end(), more.begin(), more.end());
    return *this;
  }
  const std::vector<std::byte>& all() const { return all_; }

 private:
  std::vector<std::byte> all_;
};

// A SEND ONLY packet of RoCE version 2 (InfiniBand Architecture, annex A17): Ethernet, IPv4, UDP to port 4791, BTH.
std::vector<std::byte> frame_of(const Message& message, std::uint32_t number) {
  const bool call = message.sender == Sender::client;
  const std::size_t fill = padded(message.bytes.size()) - message.bytes.size();
  Bytes packet;
  packet.number(0x04, 1).number(fill << 4, 1).number(0xffff, 2);
  packet.number(call ? 0x11 : 0x12, 4).number(0x80000000U | number, 4);
  packet.append(message.bytes).number(0, fill).number(0, 4);
  Bytes frame;
  frame.number(0x020000000002, 6).number(0x020000000001, 6).number(0x0800, 2);
  frame.number(0x45, 1).number(0, 1).number(28 + packet.all().size(), 2).number(0x4000, 4).number(64, 1).number(17, 1);
  frame.number(0, 2).number(call ? 0x0a000001 : 0x0a000002, 4).number(call ? 0x0a000002 : 0x0a000001, 4);
  frame.number(50000, 2).number(4791, 2).number(8 + packet.all().size(), 2).number(0, 2);
  frame.append(packet.all());
  return frame.all();
}

void write_capture(const fs::path& path, const std::vector<Message>& messages) {
  std::ofstream out{path, std::ios::binary};
  const auto put = [&](std::span<const std::byte> bytes) {
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  // pcap(5) in network order: magic, version 2.4, snapshot length, Ethernet.
  put(Bytes{}.number(0xa1b2c3d4, 4).number(2, 2).number(4, 2).number(0, 8).number(65535, 4).number(1, 4).all());
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const auto frame = frame_of(messages[i], i);
    put(Bytes{}.number(1, 4).number(i, 4).number(frame.size(), 4).number(frame.size(), 4).all());
    put(frame);
  }
}

// All that the two ends send one another during some calls.
std::vector<Message> messages_of(const Options& options) {
  Table table{options};
  std::vector<Message> all;
  const auto record = [&](Sender sender, FakeConnection& to, const ConnectionPlan& plan) {
    return [&all, &to, &plan, sender](std::span<std::byte> bytes) {
      const auto offset = static_cast<std::size_t>(bytes.data() - to.memory().data());
      if (offset < plan.receive_offset || offset >= plan.receive_offset + plan.receives * plan.receive_stride) return;
      all.push_back({sender, {bytes.begin(), bytes.end()}});  // not what moves by RDMA
    };
  };
  table.client_end.tamper = record(Sender::client, table.server_end, table.server_plan);
  table.server_end.tamper = record(Sender::server, table.client_end, table.client_plan);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(table.play());
  return all;
}

// One line a message, as tshark prints the same fields: several of a kind are joined by commas.
std::string line_of(const Message& message) {
  const auto decoded = decode_header(message.bytes, message.sender);
  EXPECT_TRUE(decoded);
  const auto& header = decoded->header;
  std::string handles, lengths, offsets, positions;
  const auto join = [](std::string& text, const std::string& more) { text += (text.empty() ? "" : ",") + more; };
  const auto name = [&](const WireSegment& one) {
    join(handles, fmt::format("{:#010x}", one.handle));
    join(lengths, std::to_string(one.length));
    join(offsets, fmt::format("{:#018x}", one.offset));
  };
  for (const auto& read : header.reads) {
    join(positions, std::to_string(read.position));
    name(read.target);
  }
  for (const auto& chunk : header.writes) std::ranges::for_each(chunk, name);
  if (header.reply) std::ranges::for_each(*header.reply, name);
  const bool lists = header.kind != HeaderKind::done;
  const auto count = [&](std::size_t number) { return lists ? std::to_string(number) : std::string{}; };
  // The RPC message behind it, where it is whole: else a dissector waits for the RDMA reads that bring the payload.
  std::string call;
  if (message.sender == Sender::client && header.kind == HeaderKind::msg && header.reads.empty()) {
    const auto rpc = get_server_call(std::span{message.bytes}.subspan(decoded->size), nfs::Payload::inside);
    call = fmt::format("{};{}", nfs::kProgram, static_cast<int>(rpc->procedure));
  }
  return fmt::format("{:#010x};1;{};{};{};{};{};{};{};{};{};{}", header.xid, header.credits,
                     static_cast<std::uint32_t>(header.kind), count(header.reads.size()), count(header.writes.size()),
                     count(header.reply ? 1 : 0), positions, handles, lengths, offsets, call.empty() ? ";" : call);
}

std::string tshark(const fs::path& capture) {
  std::vector<std::string> command{"tshark", "-r", capture, "-T", "fields", "-E", "separator=;"};
  for (const char* field :
       {"rpcordma.xid", "rpcordma.version", "rpcordma.flow_control", "rpcordma.msg_type", "rpcordma.reads_count",
        "rpcordma.writes_count", "rpcordma.reply_count", "rpcordma.position", "rpcordma.rdma_handle",
        "rpcordma.rdma_length", "rpcordma.rdma_offset", "rpc.program", "nfs.procedure_v3"}) {
    command.emplace_back("-e");
    command.emplace_back(field);
  }
  std::string errors;  // it says there that it is run by root
  return run_command(command, &errors).out;
}

TEST(RpcCaptureTest, TsharkReadsOurMessagesAsWeMeanThem) {
  if (std::system("command -v tshark >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "tshark is not installed (scripts/bootstrap test)";
  const auto capture = fs::path{testing::TempDir()} / fmt::format("longhaul-rpc-{}.pcap", ::getpid());
  std::size_t kinds = 0;
  for (const auto procedure : {nfs::Procedure::null, nfs::Procedure::read, nfs::Procedure::write,
                               nfs::Procedure::readdir, nfs::Procedure::readlink}) {
    for (const auto design : {Design::read_write, Design::read_read}) {
      for (const bool long_calls : {false, true}) {
        const auto messages = messages_of({.procedure = procedure,
                                           .design = design,
                                           .size = procedure == nfs::Procedure::readlink ? 4000U : 20000U,
                                           .threads = 2,
                                           .threshold = 1024,
                                           .segment = 8192,
                                           .long_calls = long_calls});
        write_capture(capture, messages);
        std::istringstream lines{tshark(capture)};
        std::string line;
        for (const auto& message : messages) {
          ASSERT_TRUE(std::getline(lines, line)) << "one line a message";
          const auto ours = line_of(message);
          // A reply's procedure is known to whoever saw the call on the same pair of queues, which a dissector cannot
          // tell without the connection's set-up.
          const auto header_of = [&](const std::string& all) {
            return message.sender == Sender::client ? all : all.substr(0, all.rfind(';', all.rfind(';') - 1));
          };
          EXPECT_EQ(header_of(line), header_of(ours));
          kinds |=
              std::size_t{1} << static_cast<std::size_t>(decode_header(message.bytes, message.sender)->header.kind);
        }
        EXPECT_FALSE(std::getline(lines, line)) << line;
      }
    }
  }
  EXPECT_EQ(kinds, 0b1011U) << "RDMA_MSG, RDMA_NOMSG and RDMA_DONE were among them";
  fs::remove(capture);
}

}  // namespace
}  // namespace longhaul::workloads::rpc
