#include "agents/process.hh"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <tuple>
#include <utility>

#include "agents/affinity.hh"
#include "agents/broken.hh"
#include "agents/protocol/tuple.hh"
#include "common/error.hh"
#include "common/frame.hh"
#include "common/log.hh"
#include "common/token.hh"
#include "observe/clock.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

namespace {

constexpr int kEventFd = 3;
/// When the process has ended, all its output is in the pipes; only a grandchild that holds them open makes us wait.
constexpr std::chrono::milliseconds kDrain{500};

// A socket, because writing to a process that is gone must not send a signal.
Pipe make_input() {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "creating a socket pair");
  return {OwnFd{ends[0]}, OwnFd{ends[1]}};
}

bool readable(int fd) {
  pollfd now{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&now, 1, 0) != 0;  // an error is an end, too
}

// Our end must never hold up the agent.
void unblock(const OwnFd& end) {
  const int flags = check(::fcntl(end.get(), F_GETFL), "reading a pipe's flags");
  check(::fcntl(end.get(), F_SETFL, flags | O_NONBLOCK), "making a pipe non-blocking");
}

}  // namespace

Process::Process(asio::any_io_executor executor, std::string run_id, ProcessOptions options, Sink sink)
    : executor_(executor),
      run_id_(std::move(run_id)),
      options_(std::move(options)),
      sink_(std::move(sink)),
      ended_(executor),
      events_(executor),
      output_(executor),
      drained_(executor, asio::steady_timer::time_point::max()),
      done_(executor, asio::steady_timer::time_point::max()),
      time_(executor) {}

std::shared_ptr<Process> Process::start(asio::any_io_executor executor, std::string run_id,
                                        std::vector<std::string> arguments, ProcessOptions options, Sink sink) {
  std::shared_ptr<Process> process{new Process{executor, std::move(run_id), std::move(options), std::move(sink)}};
  process->program_ = arguments.at(0);
  auto events = make_pipe();
  auto output = make_pipe();
  auto input = make_input();
  unblock(events.read_end);
  unblock(output.read_end);
  std::vector<std::string> environment{fmt::format("LONGHAUL_EVENT_FD={}", kEventFd)};
  if (!process->options_.token.empty())
    environment.push_back(fmt::format("{}={}", kTokenVariable, process->options_.token));
  if (process->options_.padding > 0)
    environment.push_back("LONGHAUL_PADDING=" + std::string(static_cast<std::size_t>(process->options_.padding), 'x'));
  {
    const ScopedAffinity confined{process->options_.cpus};
    process->child_ = Child{{.arguments = std::move(arguments),
                             .descriptors = {{input.read_end.get(), STDIN_FILENO},
                                             {output.write_end.get(), STDOUT_FILENO},
                                             {output.write_end.get(), STDERR_FILENO},
                                             {events.write_end.get(), kEventFd}},
                             .environment = std::move(environment),
                             .working_directory = {},
                             .die_with_parent = true,
                             .new_process_group = true,
                             .limits = child_limits(process->options_.limits),
                             .gains_nothing = true,
                             .expendable = true}};
  }
  process->input_ = std::move(input.write_end);
  process->events_.assign(events.read_end.release());
  process->output_.assign(output.read_end.release());
  process->ended_.assign(check(::fcntl(process->child_.pidfd(), F_DUPFD_CLOEXEC, 0), "duplicating a pidfd"));
  process->readers_ = 2;
  process->end_when_overdue();
  asio::co_spawn(
      executor, [process] { return process->read_events(); },
      [process](const std::exception_ptr& broken) { process->give_up(broken); });
  asio::co_spawn(
      executor, [process] { return process->read_output(); }, asio::detached);
  asio::co_spawn(
      executor, [process] { return process->supervise(); }, asio::detached);
  return process;
}

asio::awaitable<void> Process::supervise() {
  const auto self = shared_from_this();
  // Asio may say so before it is so: it reuses the state of a descriptor that was closed while an event of it was still
  // queued, and a wait believes that event. It happens when strangers come and go by the thousand.
  boost::system::error_code broken;
  do {
    std::tie(broken) = co_await ended_.async_wait(asio::posix::stream_descriptor::wait_read, kTuple);
  } while (!broken && !readable(ended_.native_handle()));
  // Its own children would outlive it and hold the pipes open. Before it is reaped, because afterwards the group's
  // number may be another's.
  signal_group(SIGKILL);
  time_.cancel();
  const auto exit = child_.poll().value_or(ChildExit{.code = {}, .signal = SIGKILL});
  if (readers_ > 0) {
    drained_.expires_after(kDrain);
    (void)co_await drained_.async_wait(kTuple);
  }
  boost::system::error_code ignored;
  events_.close(ignored);
  output_.close(ignored);
  if (!concluded_) {
    BenchEvent failed{.kind = BenchEventKind::failed, .time = observe::wall_time()};
    auto text = fmt::format("{} ended without a record: {}", program_, exit.text());
    if (overdue_) text = fmt::format("{} ({})", overdue(options_.limits), exit.text());
    if (stopping_) text = fmt::format("stopped ({})", exit.text());
    if (!violation_.empty()) text = fmt::format("{} broke the child contract: {}", program_, violation_);
    if (!output_tail_.empty()) text += fmt::format("; it said: {}", output_tail_);
    failed.message = explain(std::move(text), exit.signal);
    emit({.run_id = run_id_, .bench = std::move(failed), .exit = {}});
  }
  emit({.run_id = run_id_, .bench = {}, .exit = exit.text()});
  if (options_.on_exit) options_.on_exit(exit);
  finished_ = true;
  sink_ = nullptr;
  done_.cancel();
}

asio::awaitable<void> Process::read_events() {
  const auto self = shared_from_this();
  FrameDecoder decoder{kMaxEvent};
  std::string buffer(65536, '\0');
  std::string frame;
  for (;;) {
    const auto target = asio::buffer(buffer);
    const auto [error, size] = co_await events_.async_read_some(target, kTuple);
    if (error) break;
    const auto fed = decoder.feed({buffer.data(), size});
    while (violation_.empty() && decoder.next(frame)) take_event(frame);
    if (!fed && violation_.empty()) violation_ = fed.error().message;
    if (!violation_.empty()) {
      signal_group(SIGKILL);
      break;
    }
  }
  reader_ended();
}

void Process::take_event(const std::string& frame) {
  auto event = bench_event_from_json(frame);
  if (!event) {
    violation_ = fmt::format("an event that is none: {}", event.error().message);
    return;
  }
  const bool last = event->kind == BenchEventKind::record || event->kind == BenchEventKind::unsupported ||
                    event->kind == BenchEventKind::failed;
  if (event->kind == BenchEventKind::record && !event->record) {
    violation_ = "an event of kind record without a record";
    return;
  }
  if (concluded_) {
    if (last) log::warn("run {}: a second end of the run is dropped", run_id_);
    if (last) return;
  }
  concluded_ = concluded_ || last;
  if (event->kind == BenchEventKind::failed) {
    // It was told to end: what it says of that is not why.
    if (overdue_) event->message = overdue(options_.limits);
    event->message = explain(event->message.value_or(""));
  }
  emit({.run_id = run_id_, .bench = std::move(*event), .exit = {}});
}

asio::awaitable<void> Process::read_output() {
  const auto self = shared_from_this();
  std::string buffer(4096, '\0');
  for (;;) {
    const auto target = asio::buffer(buffer);
    const auto [error, size] = co_await output_.async_read_some(target, kTuple);
    if (error) break;
    output_tail_.append(buffer, 0, size);
    if (output_tail_.size() > kKeptOutput) {
      output_tail_.erase(0, output_tail_.size() - kKeptOutput);
      // From the start of a line, where there is one.
      if (const auto line = output_tail_.find('\n'); line + 1 < output_tail_.size()) output_tail_.erase(0, line + 1);
    }
  }
  output_tail_.erase(output_tail_.find_last_not_of(" \t\r\n") + 1);
  // It goes into a JSON document: whatever is not plain text would make that invalid.
  for (char& c : output_tail_)
    if ((c < ' ' && c != '\n' && c != '\t') || c == '\x7f' || (static_cast<unsigned char>(c) & 0x80) != 0) c = '?';
  reader_ended();
}

// Its events cannot be read any more (out of memory): it would wait for us for ever.
void Process::give_up(const std::exception_ptr& broken) {
  if (!broken) return;
  violation_ = message_of(broken);
  log::error("run {}: {}", run_id_, violation_);
  signal_group(SIGKILL);
  reader_ended();
}

void Process::reader_ended() {
  if (--readers_ == 0) drained_.cancel();
}

void Process::end_when_overdue() {
  if (!options_.limits.time) return;
  time_.expires_after(*options_.limits.time);
  time_.async_wait([weak = weak_from_this()](auto error) {
    const auto process = weak.lock();
    if (error || !process || process->finished_ || process->stopping_) return;
    process->overdue_ = true;
    log::warn("run {} {}", process->run_id_, overdue(process->options_.limits));
    process->terminate(process->options_.grace);
  });
}

void Process::terminate(Nanoseconds grace) {
  signal_group(SIGTERM);
  time_.expires_after(grace);
  time_.async_wait([weak = weak_from_this()](auto error) {
    if (const auto process = weak.lock(); !error && process && !process->finished_) process->signal_group(SIGKILL);
  });
}

std::string Process::explain(std::string failure, std::optional<int> signal) const {
  if (const auto limit = limit_met(options_.limits, failure, signal); !limit.empty()) failure += "; " + limit;
  return failure;
}

void Process::tell(const std::string& line) {
  const auto end = std::move(input_);
  check(::send(end.get(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT), "telling the process");
}

asio::awaitable<void> Process::stop(Nanoseconds grace) {
  const auto self = shared_from_this();
  if (finished_) co_return;
  if (!std::exchange(stopping_, true)) terminate(grace);
  co_await wait();
}

asio::awaitable<void> Process::wait() {
  const auto self = shared_from_this();
  if (!finished_) (void)co_await done_.async_wait(kTuple);
}

void Process::abandon() {
  sink_ = nullptr;
  if (!finished_) signal_group(SIGKILL);
}

void Process::emit(RunEvent event) {
  // A copy: whoever hears it may let go of this process, and so of the sink.
  if (const auto sink = sink_) sink(std::move(event));
}

void Process::signal_group(int signal) const {
  if (child_.running()) ::kill(-child_.pid(), signal);
}

}  // namespace longhaul::agents
