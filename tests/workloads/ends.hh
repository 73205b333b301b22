// A server in a thread, and a client's options for it: what tests of whole runs need.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/frame.hh"
#include "workloads/harness/client.hh"
#include "workloads/harness/server.hh"
#include "workloads/suite/catalog.hh"
#include "workloads/suite/runners.hh"

namespace longhaul::workloads {

/// A descriptor that a test makes readable as Ctrl-C would.
class StopSwitch {
 public:
  StopSwitch() : fd_(::eventfd(0, EFD_NONBLOCK)) {}
  int fd() const { return fd_.get(); }
  void press() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = ::write(fd_.get(), &one, sizeof one);
  }

 private:
  OwnFd fd_;
};

/// All events that were written to the other end of a pipe, which must be closed.
inline std::vector<BenchEvent> read_events(int fd) {
  FrameDecoder decoder;
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(fd, buffer, sizeof buffer)) > 0;)
    if (!decoder.feed({buffer, static_cast<std::size_t>(got)})) break;
  std::vector<BenchEvent> events;
  for (std::string frame; decoder.next(frame);) events.push_back(*bench_event_from_json(frame));
  return events;
}

/// A supervisor's end of a run's events, for tests that act when the run has come to a point.
class Watch {
 public:
  Watch() {
    int fds[2];
    if (::pipe(fds) != 0) throw std::runtime_error("no pipe");
    reader_ = OwnFd{fds[0]};
    events_ = Events{OwnFd{fds[1]}};
  }
  /// For the run's side.
  Events& events() { return events_; }
  /// Waits for such an event, 20 s at most; false where none came.
  bool saw(BenchEventKind kind) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    for (std::string frame;;) {
      while (decoder_.next(frame))
        if (const auto event = bench_event_from_json(frame); event && event->kind == kind) return true;
      pollfd fd{reader_.get(), POLLIN, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0 || ::poll(&fd, 1, static_cast<int>(left.count())) <= 0) return false;
      char buffer[4096];
      const auto got = ::read(reader_.get(), buffer, sizeof buffer);
      if (got <= 0 || !decoder_.feed({buffer, static_cast<std::size_t>(got)})) return false;
    }
  }

 private:
  OwnFd reader_;
  Events events_;
  FrameDecoder decoder_;
};

inline Parameters quick(Parameters more = {}) {
  more.try_emplace("duration", 20'000'000);
  more.try_emplace("warmup", 2'000'000);
  more.try_emplace("timeout", 2'000'000'000);
  return more;
}

/// Of the servers below, and of their clients.
inline const Token kToken = token_of("a word for tests");

inline ClientOptions towards(std::uint16_t port, Parameters parameters, std::string transport = "tcp") {
  ClientOptions options;
  options.server = {"127.0.0.1", port};
  options.transport = std::move(transport);
  options.parameters = std::move(parameters);
  options.token = kToken;
  return options;
}

inline Attempt<ClientResult> run_latency(const ClientOptions& options, Events& events, int stop = -1) {
  return run_client(options, *find_workload("latency"), *find_runner("latency"), events, stop);
}

/// Serves clients on a loopback port until it goes.
class ServerThread {
 public:
  explicit ServerThread(Admission admission = {.token = kToken})
      : server_(Server::open({"127.0.0.1", 0, "", admission}, runners())), thread_([this] { loop(); }) {}
  ~ServerThread() { end(); }
  std::uint16_t port() const { return server_->port(); }
  void interrupt() const { stop_.press(); }
  /// Ends it; then results() may be read.
  void end() {
    if (!thread_.joinable()) return;
    stop_.press();
    thread_.join();
  }
  std::vector<Attempt<Served>> results;

 private:
  void loop() {
    Events events;
    try {
      for (;;) results.push_back(server_->serve_one(events, stop_.fd()));
    } catch (const Interrupted&) {
    }
  }
  StopSwitch stop_;
  Attempt<Server> server_;
  std::thread thread_;
};

}  // namespace longhaul::workloads
