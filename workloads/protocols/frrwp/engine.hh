// A progress engine: a thread of its own owns the connection and stands where the paper's driver stands. It takes what
// the application posts, matches keys with conditional writes and submits these while the application does something
// else.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <variant>

#include "common/fd.hh"
#include "workloads/protocols/frrwp/endpoint.hh"

namespace longhaul::workloads::frrwp {

/// Commands one way, events the other: whoever waits sleeps on a descriptor, whoever gives wakes it only then.
template <typename T>
class Mailbox {
 public:
  Mailbox();
  void put(T item);
  std::optional<T> get();
  /// False: something is there. True: wake_fd() becomes readable as soon as there is.
  bool arm();
  int wake_fd() const { return wake_.get(); }
  void wake();

 private:
  std::mutex mutex_;
  std::deque<T> items_;                 // guarded by mutex_
  std::atomic<std::size_t> count_ = 0;  // of them: looked at without the lock
  std::atomic<bool> asleep_ = false;
  OwnFd wake_;
};

class Engine final : public Port {
 public:
  enum class Waiting { spin, sleep };
  /// Drives `connection` from now on, and nobody else does. `spin` wants a processor for itself.
  Engine(Connection& connection, const Layout& layout, Nanoseconds patience, Waiting waiting);
  /// Whatever is held is dropped.
  ~Engine() override;

  void send(Message message) override { commands_.put(std::move(message)); }
  void write(WriteOrder order, std::vector<Segment> segments) override {
    commands_.put(Submit{std::move(order), std::move(segments), kNever});
  }
  void hold(WriteOrder order) override { commands_.put(std::move(order)); }
  void cancel(Tag tag) override { commands_.put(tag); }
  std::optional<Event> next() override;
  Waitable& waitable() override { return bell_; }

 private:
  using Command = std::variant<Message, Submit, WriteOrder, Tag>;
  using Happening = std::variant<Event, std::exception_ptr>;
  /// The descriptor that the application sleeps on.
  class Bell final : public Waitable {
   public:
    explicit Bell(Mailbox<Happening>& box) : box_(box) {}
    bool arm() override { return box_.arm(); }
    int event_fd() const override { return box_.wake_fd(); }
    std::uint32_t wait_events() const override;

   private:
    Mailbox<Happening>& box_;
  };

  void run(const std::stop_token& stop);
  void drive(const std::stop_token& stop);
  bool work();
  void sleep(int epoll);

  Connection& connection_;
  Endpoint endpoint_;
  Waiting waiting_;
  Mailbox<Command> commands_;
  Mailbox<Happening> happenings_;
  Bell bell_{happenings_};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace longhaul::workloads::frrwp
