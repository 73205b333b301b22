// Strategies that make an application's own buffers usable by the adapter: registered once before, for each transfer,
// or through a cache.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registration/cache/executor.hh"
#include "workloads/harness/session.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads {

struct StrategyOptions {
  std::string strategy = "preregistered";  ///< see strategy_parameters()
  std::size_t capacity = 0;                ///< of the cache, bytes
  /// Regions that may stay registered after their use, until they are deregistered together (Executor's watermark).
  std::size_t deferred = 0;
  bool registers() const { return strategy != "preregistered"; }
  bool windows() const { return strategy == "fast"; }
  /// A buffer is closed to the peer before its use has ended.
  bool closes_at_once() const { return strategy == "each-time" && deferred == 0; }
};

StrategyOptions strategy_of(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport);

/// Part of a buffer with the keys that it is known by; none: the connection's own region.
struct BufferPiece {
  std::size_t offset = 0;  ///< in the connection's memory
  std::size_t length = 0;
  std::optional<registration::Keys> keys;
};

/// Buffers of one connection's memory, made usable by a strategy. Destroyed before the connection.
class Buffers {
 public:
  /// Throws Unsupported where the strategy caches registrations and the kernel does not tell of mappings that go, or
  /// where it wants windows and the connection has none.
  Buffers(Connection& connection, const StrategyOptions& options);

  /// A buffer in use for as long as it lives: move-only, destroyed before the Buffers. Where the strategy registers
  /// nothing it is whole from the beginning.
  class Use {
   public:
    /// The usable pieces, in the order of addresses.
    const std::vector<BufferPiece>& pieces() const { return pieces_; }
    bool complete() const { return !lease_ || lease_->complete(); }

   private:
    friend class Buffers;
    std::size_t offset_ = 0;
    std::size_t length_ = 0;
    std::vector<BufferPiece> pieces_;
    std::optional<registration::Executor::Lease> lease_;  // none: nothing is registered
  };

  /// Pieces that are registered already are usable at once.
  Use begin(std::size_t offset, std::size_t length);
  /// All of it. Throws std::runtime_error when it cannot be registered.
  void complete(Use& use);
  /// Deregisters what went to make room, or what was deferred where that is more than the options allow: to be called
  /// while the protocol waits for its peer.
  void tidy() {
    if (executor_) executor_->tidy();
  }

  /// Uses that have ended are closed one after another. The number of those that have ended; and whether the peer can
  /// reach none of the first `ended` any more. Where deregistration is deferred a use is not counted before its turn.
  std::uint64_t ended() const { return registrar_ == nullptr ? 0 : registrar_->removals(); }
  bool closed(std::uint64_t ended) const {
    return ended == 0 || registrar_->completed_removals() >= ended;  // without a registrar none has ended
  }

  /// The cost since reset(); empty where the strategy registers nothing.
  std::optional<registration::ExecutorCounters> counters() const {
    return executor_ ? std::optional{executor_->counters()} : std::nullopt;
  }
  void reset() {
    if (executor_) executor_->reset();
  }

 private:
  void list_pieces(Use& use) const;

  std::size_t base_;  // the address of offset 0
  registration::Registrar* registrar_ = nullptr;
  std::unique_ptr<registration::Executor> executor_;
};

/// The client's metrics of what its application's buffers cost, for `messages` of them: see strategy_metrics(). Nothing
/// where nothing was registered on the way.
std::map<std::string, Metric> registration_metrics(const registration::ExecutorCounters& counters,
                                                   std::uint64_t messages);

}  // namespace longhaul::workloads
