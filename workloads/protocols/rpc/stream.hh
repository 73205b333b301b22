// RPC over sockets (RFC 5531, section 11): the same calls, payloads inside, marked as records of a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "observe/clock.hh"
#include "workloads/harness/loop.hh"
#include "workloads/protocols/rpc/call.hh"
#include "workloads/protocols/rpc/client.hh"
#include "workloads/protocols/rpc/options.hh"

namespace longhaul::workloads::rpc {

/// Takes records off a stream, one after another. A record in several fragments is refused: neither end makes them.
class RecordReader {
 public:
  /// Records of at most `most` bytes, received at `offset` of the connection's memory.
  RecordReader(Connection& connection, std::size_t offset, std::size_t most);

  /// A receive is complete. The record, where it is whole; it stays in place until next().
  std::span<const std::byte> received();
  /// Awaits the next record.
  void next();

 private:
  Connection& connection_;
  std::size_t offset_;
  std::size_t most_;
  std::size_t length_ = 0;  // of the record; 0: its mark is awaited
};

class StreamServer final : public Lane {
 public:
  StreamServer(Connection& connection, const Options& options, MemoryStore& store);

  void start() override {}
  bool advance() override;
  Waitable& waitable() override { return connection_; }
  void reset() override {
    if (auto* const disks = store_.disks()) disks->reset();
  }

 private:
  void take(std::span<const std::byte> record);
  void answer();

  Connection& connection_;
  MemoryStore& store_;
  Layout layout_;
  RecordReader records_;
  std::optional<ServerCall> call_;  // waits for the disks
  observe::RawTime due_;            // when they are through
};

class StreamClient final : public Client {
 public:
  StreamClient(Connection& connection, const Options& options);

  void progress() override;
  Waitable& waitable() override { return connection_; }
  double ceiling(Nanoseconds round_trip) const override {
    return rpc::ceiling(
        {.threads = options_.lines() * options_.clients, .credits = options_.credits * options_.clients}, {},
        ReplyWay::inside, round_trip);
  }
  double trips() const override { return 2; }
  std::optional<registration::ExecutorCounters> registrations() const override { return std::nullopt; }
  /// Every READ is compared where it lies: only the last ones' ends are.
  void verify_last() const override {}

 private:
  void begin(std::size_t line) override { under_way_[line] = true; }
  bool over(std::size_t line) const override { return !under_way_[line]; }
  void send_ready() override;
  void send_call(std::size_t line);
  void take(std::span<const std::byte> record);

  Connection& connection_;
  Options options_;
  Layout layout_;
  RecordReader records_;
  std::vector<bool> under_way_;  // by line
};

}  // namespace longhaul::workloads::rpc
