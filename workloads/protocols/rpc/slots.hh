// Slots of design push, at the server: memory that its replies grant, into which the client writes the payload of a
// later WRITE. Whoever holds a slot may write there at any time, so its bytes are looked at only when they cannot
// change any more: a slot that is registered for each use is deregistered first, of one that stays registered a copy is
// taken.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "observe/clock.hh"
#include "workloads/protocols/rpc/options.hh"
#include "workloads/protocols/rpc/wire.hh"
#include "workloads/protocols/strategy.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads::rpc {

class Slots {
 public:
  /// No slots where the options do not push. The options' credits bound those that are granted at a time.
  Slots(Connection& connection, Buffers& buffers, const Options& options);

  /// The next slot, open to the client from now on; empty: it holds as many as it may.
  Chunk grant();
  /// Makes a slot ready for the next grant: to be called when nobody waits.
  void prepare();
  /// The payload that the client has written to a slot that it was granted. The bytes are in `copy` where the slot
  /// stays open, for a while or for good, else in the slot itself, until the next prepare() or grant(). None: the
  /// client holds no such slot, or less of it.
  std::optional<std::span<const std::byte>> take(const Chunk& slot, std::span<std::byte> copy);

  /// Time for which the slots of taken payloads were open; their number.
  Nanoseconds exposed() const { return exposed_; }
  std::uint64_t exposures() const { return exposures_; }
  void reset() {
    exposed_ = {};
    exposures_ = 0;
  }

 private:
  struct Slot {
    std::size_t offset = 0;
    Buffers::Use use;
    Chunk chunk;  // as the client knows it
    observe::RawTime since;
  };

  Connection& connection_;
  Buffers& buffers_;
  Options options_;
  std::vector<Slot> slots_;
  std::deque<std::size_t> free_;
  std::optional<std::size_t> ready_;
  std::vector<std::size_t> granted_;
  Nanoseconds exposed_{};
  std::uint64_t exposures_ = 0;
};

}  // namespace longhaul::workloads::rpc
