// A coroutine that runs beside its starter and is waited for later.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>

#include "orchestrator/run/control.hh"

namespace longhaul::orchestrator {

/// Started by start(); wait() gives its value, or throws what it threw. One waiter. It runs to its end also when nobody
/// waits, so what it uses must live as long as the io_context runs.
template <typename T>
class Pending {
 public:
  Pending() = default;

  static Awaitable<Pending> start(Awaitable<T> task) {
    const auto executor = co_await boost::asio::this_coro::executor;
    co_return launch(executor, std::move(task));
  }

  /// The same from a plain function.
  static Pending launch(const boost::asio::any_io_executor& executor, Awaitable<T> task) {
    Pending pending;
    pending.state_ = std::make_shared<State>(executor);
    boost::asio::co_spawn(executor, std::move(task), [state = pending.state_](std::exception_ptr error, T value) {
      state->error = error;
      state->value = std::move(value);
      state->done.cancel();
    });
    return pending;
  }

  explicit operator bool() const { return state_ != nullptr; }

  Awaitable<T> wait() {
    auto state = std::move(state_);
    if (!state->value) {
      boost::system::error_code cancelled;
      co_await state->done.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
    }
    if (state->error) std::rethrow_exception(state->error);
    co_return std::move(*state->value);
  }

 private:
  struct State {
    explicit State(const boost::asio::any_io_executor& executor)
        : done(executor, boost::asio::steady_timer::time_point::max()) {}
    boost::asio::steady_timer done;
    std::exception_ptr error;
    std::optional<T> value;
  };
  std::shared_ptr<State> state_;
};

/// Sleeps.
inline Awaitable<void> pause(Nanoseconds time) {
  boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
  timer.expires_after(time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

}  // namespace longhaul::orchestrator
