// A workload process under supervision: its events relayed, its end reported, its group killed when its session goes.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/limits.hh"
#include "agents/protocol/messages.hh"
#include "common/child.hh"

namespace longhaul::agents {

struct ProcessOptions {
  std::vector<int> cpus;  ///< where it runs; empty: anywhere
  ProcessLimits limits;
  std::int64_t padding = 0;                     ///< bytes that its environment is longer
  std::string token;                            ///< of its run, given by its environment; empty: none
  Nanoseconds grace = std::chrono::seconds{2};  ///< between SIGTERM and SIGKILL when its time is over
  /// Told how it ended, also where nobody wants its events any more.
  std::function<void(const ChildExit&)> on_exit;
};

/// One run of longhaul-bench by the child contract (model/event.hh). Owned by shared_ptr: it supervises itself to the
/// end of the process, whoever lets go of it.
class Process : public std::enable_shared_from_this<Process> {
 public:
  using Sink = std::function<void(RunEvent)>;

  static constexpr std::size_t kMaxEvent = std::size_t{12} << 20;  ///< bytes; leaves room for the message round it
  static constexpr std::size_t kKeptOutput = 2048;                 ///< bytes of its standard error, the last

  /// Starts it under its limits, in a process group of its own, with no privileges to gain. Throws std::system_error
  /// when it cannot be executed. `sink` gets every event; exactly one bench event of kind record, unsupported or
  /// failed, then `exit`.
  static std::shared_ptr<Process> start(boost::asio::any_io_executor executor, std::string run_id,
                                        std::vector<std::string> arguments, ProcessOptions options, Sink sink);

  /// Writes a line to its standard input, which ends with that. Throws std::system_error where it does not read any
  /// more or was told before.
  void tell(const std::string& line);

  const std::string& run_id() const { return run_id_; }
  bool finished() const { return finished_; }

  /// SIGTERM, after `grace` SIGKILL; returns when the process is gone and its last event is with the sink.
  boost::asio::awaitable<void> stop(Nanoseconds grace);
  /// Returns when it is gone.
  boost::asio::awaitable<void> wait();
  /// SIGKILL to the group; nothing more goes to the sink.
  void abandon();

 private:
  Process(boost::asio::any_io_executor executor, std::string run_id, ProcessOptions options, Sink sink);
  boost::asio::awaitable<void> supervise();
  boost::asio::awaitable<void> read_events();
  boost::asio::awaitable<void> read_output();
  void take_event(const std::string& frame);
  void end_when_overdue();
  void terminate(Nanoseconds grace);  ///< SIGTERM, then SIGKILL
  std::string explain(std::string failure, std::optional<int> signal = {}) const;
  void give_up(const std::exception_ptr& broken);
  void reader_ended();
  void emit(RunEvent event);
  void signal_group(int signal) const;

  boost::asio::any_io_executor executor_;
  std::string run_id_;
  std::string program_;
  ProcessOptions options_;
  Sink sink_;
  Child child_;
  OwnFd input_;
  boost::asio::posix::stream_descriptor ended_;  ///< a pidfd
  boost::asio::posix::stream_descriptor events_;
  boost::asio::posix::stream_descriptor output_;
  std::string output_tail_;
  std::string violation_;  ///< of the child contract
  int readers_ = 0;
  boost::asio::steady_timer drained_;
  boost::asio::steady_timer done_;
  boost::asio::steady_timer time_;  ///< until it is overdue; once it was told to end, until it must
  bool concluded_ = false;          ///< a record, unsupported or failed was relayed
  bool stopping_ = false;
  bool overdue_ = false;  ///< its time was over before it was
  bool finished_ = false;
};

}  // namespace longhaul::agents
