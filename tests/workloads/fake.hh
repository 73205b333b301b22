// Two connections in one process that copy between their memories: what lanes and loops need, without a network.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <stdexcept>

#include "common/fd.hh"
#include "workloads/transport/connection.hh"

namespace longhaul::workloads {

class FakeConnection final : public Connection {
 public:
  explicit FakeConnection(std::size_t size) : memory_(size), event_(::eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE)) {}
  void join(FakeConnection& peer) {
    peer_ = &peer;
    peer.peer_ = this;
  }

  /// Called with the bytes of every message on its way, which it may change.
  std::function<void(std::span<std::byte>)> tamper;

  const std::vector<Capability>& capabilities() const override {
    static const std::vector<Capability> all{Capability::send_receive, Capability::write,
                                             Capability::write_with_immediate, Capability::read,
                                             Capability::event_completion};
    return all;
  }
  TransportFacts facts() const override {
    TransportFacts facts;
    facts.transport = "rdma";
    return facts;
  }
  std::map<std::string, double> counters() const override { return {}; }
  bool counts_device() const override { return false; }
  std::vector<std::string> limits() const override { return {}; }
  std::span<std::byte> memory() override { return memory_; }

  void post(const Request& request) override {
    posted.push_back(request);
    auto& target = *peer_;
    const std::span<std::byte> local{memory_.data() + request.local, request.length};
    if (request.operation == Operation::read) {
      std::memcpy(local.data(), target.memory_.data() + request.remote, request.length);
      complete({Completion::Kind::fetched, request.length});
      return;
    }
    auto offset = request.remote;
    if (request.operation != Operation::write) {
      if (target.receives_.empty()) throw std::runtime_error("receiver not ready");
      if (request.operation == Operation::send) offset = target.receives_.front();
      target.receives_.pop_front();
    }
    const std::span<std::byte> remote{target.memory_.data() + offset, request.length};
    std::copy(local.begin(), local.end(), remote.begin());
    if (tamper && !remote.empty()) tamper(remote);
    if (request.operation != Operation::write) target.complete({Completion::Kind::received, request.length});
    if (request.signaled) complete({Completion::Kind::sent, request.length});
  }
  void post_receive(std::size_t offset, std::size_t) override { receives_.push_back(offset); }
  std::size_t poll(std::span<Completion> out) override {
    std::size_t count = 0;
    while (count < out.size() && !ready_.empty()) {
      out[count++] = ready_.front();
      ready_.pop_front();
      std::uint64_t one = 0;
      [[maybe_unused]] const auto got = ::read(event_.get(), &one, sizeof one);
    }
    return count;
  }
  bool arm() override { return ready_.empty(); }
  int event_fd() const override { return event_.get(); }
  std::uint32_t wait_events() const override { return 1; }  // EPOLLIN
  void check_alive() override {}

  std::vector<Request> posted;

 private:
  void complete(Completion completion) {
    ready_.push_back(completion);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = ::write(event_.get(), &one, sizeof one);
  }
  std::vector<std::byte> memory_;
  FakeConnection* peer_ = nullptr;
  std::deque<std::size_t> receives_;
  std::deque<Completion> ready_;
  OwnFd event_;
};

}  // namespace longhaul::workloads
