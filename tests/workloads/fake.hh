// Two connections in one process that copy between their memories: what lanes and loops need, without a network. Each
// end may have a thread of its own.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

#include "common/fd.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/memory.hh"

namespace longhaul::workloads {

/// Registers nothing, but knows what would be.
class FakeRegistrar final : public registration::Registrar {
 public:
  tl::expected<Registered, int> add(registration::Pages pages) override {
    if (on_add) on_add(pages);
    if (pages_ + pages.count > room) return tl::unexpected(ENOMEM);
    pages_ += pages.count;
    const auto key = ++last_;
    live[key] = pages;
    return Registered{key, {key, key}};
  }
  int remove(Handle handle) override {
    if (closed_.erase(static_cast<std::uint32_t>(handle)) == 1) {
      ++removed;
      ++closed_by_peer_;
      return 0;
    }
    const auto it = live.find(static_cast<std::uint32_t>(handle));
    if (it == live.end()) return EINVAL;
    pages_ -= it->second.count;
    live.erase(it);
    ++removed;
    return 0;
  }
  std::uint64_t removals() const override { return removed; }
  std::uint64_t completed_removals() override { return std::min(removed, completes); }
  std::uint64_t closed_by_peer() const override { return closed_by_peer_; }
  /// As a message of the peer's may (Request::closes). Throws where there is no such region.
  void close(std::uint32_t key) {
    const auto it = live.find(key);
    if (it == live.end()) throw std::logic_error(fmt::format("a message closes key {}, which is none", key));
    pages_ -= it->second.count;
    live.erase(it);
    closed_.insert(key);
  }
  /// Throws unless the bytes are registered under this key.
  void check(std::uint32_t key, const std::byte* data, std::size_t length) const {
    const auto asked =
        *registration::pages_of(reinterpret_cast<std::uintptr_t>(data), std::max<std::size_t>(length, 1));
    const auto it = live.find(key);
    if (it == live.end() || it->second.first > asked.first || it->second.end() < asked.end())
      throw std::logic_error(fmt::format("{} bytes are used by a key, {}, that does not cover them", length, key));
  }

  std::uint64_t room = ~std::uint64_t{0};  ///< pages
  std::uint64_t removed = 0;
  std::uint64_t completes = ~std::uint64_t{0};  ///< removals that are through, at the most
  std::map<std::uint32_t, registration::Pages> live;
  std::function<void(registration::Pages)> on_add;

 private:
  std::set<std::uint32_t> closed_;  // by the peer, and not removed yet
  std::uint64_t closed_by_peer_ = 0;
  std::uint64_t pages_ = 0;
  std::uint32_t last_ = 0;
};

class FakeConnection final : public Connection {
 public:
  /// `usable_without_key`: of the memory, what the connection has registered itself.
  explicit FakeConnection(std::size_t size, std::size_t usable_without_key = ~std::size_t{0})
      : memory_(size), registered_(usable_without_key), event_(::eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE)) {}
  void join(FakeConnection& peer) {
    peer_ = &peer;
    peer.peer_ = this;
    peer.mutex_ = mutex_;
  }

  /// Called with the bytes of every message on its way, which it may change.
  std::function<void(std::span<std::byte>)> tamper;
  std::int64_t queue_depth = 0;  ///< as facts() tells it
  /// Completions of this kind are not told as long as this is so.
  std::optional<Completion::Kind> hold;

  const std::vector<Capability>& capabilities() const override {
    static const std::vector<Capability> all{Capability::send_receive, Capability::write,
                                             Capability::write_with_immediate, Capability::read,
                                             Capability::event_completion};
    return all;
  }
  TransportFacts facts() const override {
    TransportFacts facts;
    facts.transport = "rdma";
    facts.queue_depth = queue_depth;
    return facts;
  }
  std::map<std::string, double> counters() const override { return {}; }
  bool counts_device() const override { return false; }
  std::vector<std::string> limits() const override { return {}; }
  std::span<std::byte> memory() override { return memory_.bytes(); }
  registration::Registrar* registrar() override { return &registered; }
  registration::Registrar* windows() override { return &registered; }
  registration::Keys keys() const override { return {kOwnKey, kOwnKey}; }

  void post(const Request& request) override {
    const std::lock_guard lock{*mutex_};
    posted.push_back(request);
    auto& target = *peer_;
    const auto local = usable(request.local, request.length, request.local_key);
    if (request.operation == Operation::read) {
      const auto source = target.usable(target.offset_of(request), request.length, request.remote_key);
      std::memcpy(local.data(), source.data(), source.size());
      complete({Completion::Kind::fetched, request.length});
      return;
    }
    auto offset = target.offset_of(request);
    if (request.operation != Operation::write) {
      if (target.receives_.empty()) throw std::runtime_error("receiver not ready");
      if (request.operation == Operation::send) offset = target.receives_.front();
      target.receives_.pop_front();
    }
    const auto remote = target.usable(offset, request.length, request.remote_key);
    std::copy(local.begin(), local.end(), remote.begin());
    if (tamper && !remote.empty()) tamper(remote);
    if (request.closes) target.registered.close(*request.closes);
    if (request.operation != Operation::write) target.complete({Completion::Kind::received, request.length});
    if (request.signaled) complete({Completion::Kind::sent, request.length});
  }
  void post_receive(std::size_t offset, std::size_t) override {
    const std::lock_guard lock{*mutex_};
    receives_.push_back(offset);
  }
  std::size_t poll(std::span<Completion> out) override {
    const std::lock_guard lock{*mutex_};
    std::size_t count = 0;
    for (auto next = ready_.begin(); count < out.size() && next != ready_.end();) {
      if (hold == next->kind) {
        ++next;
        continue;
      }
      out[count++] = *next;
      next = ready_.erase(next);
      std::uint64_t one = 0;
      [[maybe_unused]] const auto got = ::read(event_.get(), &one, sizeof one);
    }
    return count;
  }
  bool arm() override {
    const std::lock_guard lock{*mutex_};
    return ready_.empty();
  }
  int event_fd() const override { return event_.get(); }
  std::uint32_t wait_events() const override { return 1; }  // EPOLLIN
  void check_alive() override {}

  std::vector<Request> posted;
  FakeRegistrar registered;

 private:
  static constexpr std::uint32_t kOwnKey = 0xffff'ffff;
  std::size_t offset_of(const Request& request) {
    return request.absolute ? request.remote - reinterpret_cast<std::uintptr_t>(memory_.bytes().data())
                            : request.remote;
  }
  // Throws where an adapter would refuse.
  std::span<std::byte> usable(std::size_t offset, std::size_t length, std::optional<std::uint32_t> key) {
    if (offset > memory_.bytes().size() || length > memory_.bytes().size() - offset)
      throw std::logic_error("bytes outside of the memory are used");
    const auto bytes = memory_.bytes().subspan(offset, length);
    if (key && *key != kOwnKey)
      registered.check(*key, bytes.data(), bytes.size());
    else if (offset + length > registered_)
      throw std::logic_error("bytes that are not registered are used");
    return bytes;
  }
  void complete(Completion completion) {
    ready_.push_back(completion);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto put = ::write(event_.get(), &one, sizeof one);
  }
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();  // of both ends
  Memory memory_;
  std::size_t registered_;
  FakeConnection* peer_ = nullptr;
  std::deque<std::size_t> receives_;
  std::deque<Completion> ready_;
  OwnFd event_;
};

}  // namespace longhaul::workloads
