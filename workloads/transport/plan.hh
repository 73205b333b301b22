// A workload's needs of each of its connections, decided before anything is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "common/result.hh"
#include "model/record.hh"

namespace longhaul::workloads {

/// Why a run ends without a result: Status::unsupported (the transport, the device or the combination cannot do it) or
/// Status::failed.
struct RunFailure {
  Status status = Status::failed;
  std::string message;
  ExitCode exit_code = ExitCode::failure;
};

template <typename T>
using Attempt = tl::expected<T, RunFailure>;

template <typename... Args>
tl::unexpected<RunFailure> unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<RunFailure>(
      RunFailure{Status::unsupported, fmt::format(format, std::forward<Args>(args)...), ExitCode::failure});
}

template <typename... Args>
tl::unexpected<RunFailure> failed(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<RunFailure>(
      RunFailure{Status::failed, fmt::format(format, std::forward<Args>(args)...), ExitCode::failure});
}

/// An expected failure as the end of a run.
inline tl::unexpected<RunFailure> failed_by(const Error& error) {
  return tl::unexpected<RunFailure>(RunFailure{Status::failed, error.message, error.exit_code});
}

/// The user's input cannot be right.
template <typename... Args>
tl::unexpected<RunFailure> wrong_input(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<RunFailure>(
      RunFailure{Status::failed, fmt::format(format, std::forward<Args>(args)...), ExitCode::usage});
}

/// What a peer that has the key may do by RDMA to the memory that an end registers.
enum class Rights { none, read, write, all };

struct ConnectionPlan {
  std::vector<Capability> needs;
  std::size_t connections = 1;
  std::size_t memory = 0;       ///< bytes at either end that the connection makes usable
  std::size_t application = 0;  ///< bytes behind them, from the next page on, that the workload makes usable itself
  std::size_t message = 0;      ///< the largest
  std::size_t in_flight = 0;    ///< bytes that the workload has under way at a time
  std::uint32_t sends = 16;     ///< least entries of the send queue
  std::uint8_t reads = 16;      ///< RDMA reads that either end may have under way
  Rights rights = Rights::all;  ///< of all that this end registers
  /// What the peer may reach are windows of this end's memory (Connection::windows), with those rights; of what is
  /// registered it reaches nothing otherwise.
  bool windows = false;
  /// One protection domain for all such connections of this process over a device: a key is good on each of them.
  bool shared_domain = false;
  std::uint32_t receives = 0;  ///< receives that are posted before the peer may send
  std::size_t receive_offset = 0;
  std::size_t receive_length = 0;
  std::size_t receive_stride = 0;  ///< from one receive's place to the next's; 0: all share one
  /// Fills either end's memory before the peer can see it.
  std::function<void(std::span<std::byte>)> prepare;
  std::vector<std::string> unused;  ///< parameters that mean nothing on this transport: left out of the record
  bool sleeping = false;            ///< completions are waited for, not polled
  std::string congestion_control;   ///< tcp; empty: the system's
  bool starts_tool = false;         ///< the server starts a program that is not ours: only for whoever has its token
};

/// As many bytes, up to whole pages of 4 KiB.
std::size_t whole_pages(std::size_t bytes);
/// The bytes of memory() that such a plan has.
std::size_t total_memory(const ConnectionPlan& plan);
/// The offset of the application's part.
std::size_t application_offset(const ConnectionPlan& plan);

/// The capabilities that `plan` needs and `has` lacks, by name; empty: none.
std::vector<std::string> missing(const ConnectionPlan& plan, const std::vector<Capability>& has);

}  // namespace longhaul::workloads
