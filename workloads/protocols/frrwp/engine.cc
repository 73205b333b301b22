#include "workloads/protocols/frrwp/engine.hh"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/error.hh"
#include "observe/clock.hh"

namespace longhaul::workloads::frrwp {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kPeerGlance = 50ms;  // between looks whether the peer is still there

}  // namespace

template <typename T>
Mailbox<T>::Mailbox() : wake_(check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "create an event descriptor")) {}

template <typename T>
void Mailbox<T>::put(T item) {
  {
    const std::lock_guard lock{mutex_};
    items_.push_back(std::move(item));
    count_ = items_.size();
  }
  // The sleeper says so first and looks then: one of the two sees the other.
  if (asleep_.exchange(false)) wake();
}

template <typename T>
std::optional<T> Mailbox<T>::get() {
  if (count_ == 0) return std::nullopt;
  const std::lock_guard lock{mutex_};
  std::optional<T> item{std::move(items_.front())};
  items_.pop_front();
  count_ = items_.size();
  return item;
}

template <typename T>
bool Mailbox<T>::arm() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto got = ::read(wake_.get(), &rings, sizeof rings);
  asleep_ = true;
  if (count_ == 0) return true;
  asleep_ = false;
  return false;
}

template <typename T>
void Mailbox<T>::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(wake_.get(), &one, sizeof one);
}

Engine::Engine(Connection& connection, const Layout& layout, Nanoseconds patience, Waiting waiting)
    : connection_(connection),
      endpoint_(connection, layout, patience),
      waiting_(waiting),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Engine::~Engine() {
  thread_.request_stop();
  commands_.wake();
}

std::uint32_t Engine::Bell::wait_events() const {
  return EPOLLIN;
}

std::optional<Event> Engine::next() {
  auto happening = happenings_.get();
  if (!happening) return std::nullopt;
  if (const auto* const broken = std::get_if<std::exception_ptr>(&*happening)) std::rethrow_exception(*broken);
  return std::get<Event>(std::move(*happening));
}

void Engine::run(const std::stop_token& stop) {
  try {
    drive(stop);
  } catch (const std::exception&) {
    happenings_.put(std::current_exception());
  }
}

void Engine::drive(const std::stop_token& stop) {
  const OwnFd epoll{check(::epoll_create1(EPOLL_CLOEXEC), "create an epoll descriptor")};
  const auto watch = [&](int fd, std::uint32_t events) {
    epoll_event event{};
    event.events = events;
    check(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event), "watch a descriptor");
  };
  watch(commands_.wake_fd(), EPOLLIN);
  watch(connection_.event_fd(), connection_.wait_events());
  auto glance = observe::raw_time() + kPeerGlance;
  while (!stop.stop_requested()) {
    if (work()) continue;
    if (waiting_ == Waiting::sleep) sleep(epoll.get());
    if (const auto now = observe::raw_time(); now >= glance) {
      glance = now + kPeerGlance;
      connection_.check_alive();
    }
  }
}

bool Engine::work() {
  bool busy = false;
  while (auto command = commands_.get()) {
    busy = true;
    if (auto* const message = std::get_if<Message>(&*command)) {
      endpoint_.send(std::move(*message));
    } else if (auto* const submit = std::get_if<Submit>(&*command)) {
      endpoint_.write(std::move(submit->order), std::move(submit->segments));
    } else if (auto* const order = std::get_if<WriteOrder>(&*command)) {
      endpoint_.hold(std::move(*order));
    } else {
      endpoint_.cancel(std::get<Tag>(*command));
    }
  }
  while (auto event = endpoint_.next()) {
    busy = true;
    happenings_.put(std::move(*event));
  }
  return busy;
}

void Engine::sleep(int epoll) {
  if (!commands_.arm() || !connection_.arm()) return;
  auto wait = kPeerGlance;
  if (const auto deadline = endpoint_.deadline())
    wait = std::clamp<Nanoseconds>(*deadline - observe::raw_time(), 0ns, kPeerGlance);
  std::array<epoll_event, 2> found{};
  const int milliseconds = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
  if (::epoll_wait(epoll, found.data(), static_cast<int>(found.size()), milliseconds) < 0 && errno != EINTR)
    throw_errno("wait for events");
}

}  // namespace longhaul::workloads::frrwp
