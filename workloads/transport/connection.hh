// The transport interface: a connected pair of endpoints, each with one block of memory. The caller drives all
// progress; there are no threads behind it. Operations are the transport's own: what a transport lacks is not in
// capabilities() and is refused, never emulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/record.hh"
#include "registration/cache/executor.hh"
#include "workloads/transport/waitable.hh"

namespace longhaul::workloads {

enum class Operation { send, write, write_with_immediate, read };

/// A request to move bytes between the two ends' memory. Offsets are from the start of each end's memory.
struct Request {
  Operation operation = Operation::send;
  std::size_t local = 0;
  std::size_t length = 0;
  std::size_t remote = 0;  ///< write, write_with_immediate, read
  bool absolute = false;   ///< `remote` is an address in the peer's process, with a remote_key, as a chunk names it
  std::uint32_t immediate = 0;  ///< write_with_immediate
  bool more = false;            ///< another request follows at once: may be held back until then
  bool signaled = true;         ///< ask for a `sent` completion
  /// Of memory that the connection has not registered itself (registrar()); empty: of what it has.
  std::optional<std::uint32_t> local_key = {};
  std::optional<std::uint32_t> remote_key = {};
  /// send: the peer's adapter closes its window with this key before the message is there. The peer must have windows.
  std::optional<std::uint32_t> closes = {};
};

/// Something that happened at this end. Receives complete in the order in which they were posted, reads too, and so do
/// all other requests; a read may complete after requests that were posted behind it (siw).
struct Completion {
  enum class Kind { sent, received, fetched } kind = Kind::sent;
  std::size_t length = 0;  ///< received: bytes of the message (of the write, for write_with_immediate)
};

/// Used by one thread. All but the constructor throw std::system_error when the connection is broken (the peer went,
/// the transport gave up); the text says what was attempted.
class Connection : public Waitable {
 public:
  virtual const std::vector<Capability>& capabilities() const = 0;
  /// Device, addresses, MTU, time-outs as they are now; in counters what is a state rather than a count (round trip
  /// ...).
  virtual TransportFacts facts() const = 0;
  /// Cumulative counters, for a difference: of this connection (TCP_INFO), or of its device (RDMA hardware counters)
  /// when counts_device().
  virtual std::map<std::string, double> counters() const = 0;
  virtual bool counts_device() const = 0;

  /// Why this connection's windows or buffers, rather than the path, limit the workload; empty: they do not.
  virtual std::vector<std::string> limits() const = 0;

  /// This end's memory. The peer may write into what the connection has registered of it (ConnectionPlan::memory) at
  /// any time when the transport has one-sided operations.
  virtual std::span<std::byte> memory() = 0;
  /// Registers memory() beyond that (ConnectionPlan::application), by address; null where the transport needs none.
  /// Its regions must go before the connection does.
  virtual registration::Registrar* registrar() { return nullptr; }

  /// Makes parts of memory(), all of which the connection has registered (ConnectionPlan::windows), usable by the peer
  /// for a while; null where the transport or the plan has no windows. As registrar(). A window that the peer has
  /// closed (Request::closes) needs no request of ours to be removed.
  virtual registration::Registrar* windows() { return nullptr; }

  /// The keys of what the connection has registered of it; none where the transport needs none.
  virtual registration::Keys keys() const { return {}; }

  /// Starts an operation; never blocks. Throws std::length_error when the queue is full.
  virtual void post(const Request& request) = 0;
  /// Makes [offset, offset + length) the place of a message to come. Over sockets the message ends when `length` bytes
  /// are there: they have no message boundaries.
  virtual void post_receive(std::size_t offset, std::size_t length) = 0;
  /// Makes progress and returns what has completed since the last call, at most out.size().
  virtual std::size_t poll(std::span<Completion> out) = 0;

  /// Throws when the connection is known to be broken. A system call: for once in a while, where poll() is not called.
  virtual void check_alive() = 0;
};

}  // namespace longhaul::workloads
