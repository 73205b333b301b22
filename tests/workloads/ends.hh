// A server in a thread, and a client's options for it: what tests of whole runs need.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <optional>
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

inline Parameters quick(Parameters more = {}) {
  more.try_emplace("duration", 20'000'000);
  more.try_emplace("warmup", 2'000'000);
  more.try_emplace("timeout", 2'000'000'000);
  return more;
}

inline ClientOptions towards(std::uint16_t port, Parameters parameters, std::string transport = "tcp") {
  ClientOptions options;
  options.server = {"127.0.0.1", port};
  options.transport = std::move(transport);
  options.parameters = std::move(parameters);
  return options;
}

inline Attempt<ClientResult> run_latency(const ClientOptions& options, Events& events, int stop = -1) {
  return run_client(options, *find_workload("latency"), *find_runner("latency"), events, stop);
}

/// Serves clients on a loopback port until it goes.
class ServerThread {
 public:
  ServerThread() : server_(Server::open({"127.0.0.1", 0, ""}, runners())), thread_([this] { loop(); }) {}
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
