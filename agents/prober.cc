#include "agents/prober.hh"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "agents/probe_times.hh"
#include "agents/protocol/tuple.hh"
#include "common/error.hh"
#include "observe/probe.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

namespace {

using Clock = asio::steady_timer::clock_type;

/// Takes the echoes as they come, while the coroutine below sleeps between two probes.
struct Probing : std::enable_shared_from_this<Probing> {
  Probing(const asio::any_io_executor& executor, observe::ProbeSender with)
      : sender(std::move(with)),
        timer(executor),
        descriptor(executor, check(::fcntl(sender.fd(), F_DUPFD_CLOEXEC, 0), "duplicating a probe socket")) {}

  void listen() {
    descriptor.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](auto error) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->sender.receive();
      if (self->all_sent && self->sender.all_returned()) self->timer.cancel();
      self->listen();
    });
  }

  observe::ProbeSender sender;
  asio::steady_timer timer;
  asio::posix::stream_descriptor descriptor;
  bool all_sent = false;
};

}  // namespace

asio::awaitable<Result<ProbeResult>> send_probes(ProbeRequest request, std::weak_ptr<void> wanted) {
  const auto executor = co_await asio::this_coro::executor;
  auto sender = observe::ProbeSender::open(request.local, request.peer, observe::kProbePort, token_of(request.token));
  if (!sender) co_return tl::unexpected(sender.error());
  const auto probing = std::make_shared<Probing>(executor, std::move(*sender));
  probing->listen();

  auto start = Clock::now();
  for (const auto time : probe_times(request)) {
    start = std::max(start, Clock::now() - time);
    probing->timer.expires_at(start + time);
    (void)co_await probing->timer.async_wait(kTuple);
    if (wanted.expired()) break;
    probing->sender.send();
  }
  probing->all_sent = true;
  const auto deadline = Clock::now() + std::chrono::nanoseconds{request.timeout};
  while (!probing->sender.all_returned() && !wanted.expired() && Clock::now() < deadline) {
    // In slices, so that a session's end is noticed.
    probing->timer.expires_at(std::min(deadline, Clock::now() + std::chrono::milliseconds{200}));
    (void)co_await probing->timer.async_wait(kTuple);
  }
  ProbeResult result{.session = probing->sender.session(),
                     .sent = probing->sender.sent(),
                     .round_trips = probing->sender.round_trips()};
  co_return result;
}

}  // namespace longhaul::agents
