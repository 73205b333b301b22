#include "workloads/bench/probe.hh"

#include <fmt/format.h>
#include <poll.h>

#include <cstdio>
#include <optional>
#include <span>

#include "model/histogram.hh"
#include "observe/probe.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kWaitForLast = 2s;

// The probe's socket must be bound to the attachment's address: when none is given, to the one that routes to the peer.
std::string source_towards(const SocketAddress& peer) {
  const OwnFd fd{::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  if (!fd || ::connect(fd.get(), peer.get(), peer.length) < 0) return {};
  return local_address(fd.get()).host();
}

}  // namespace

Attempt<void> probe_listen(const std::string& bind, std::uint16_t port, const Admission& admission, int stop) {
  std::optional<SocketAddress> wanted;
  if (!bind.empty()) {
    const auto named = parse_address(bind, port);
    if (!named) return failed_by(named.error());
    wanted = *named;
  }
  const auto address = listening_at(wanted, port, admission);
  if (!address) return tl::unexpected(address.error());
  auto echo = observe::ProbeEcho::open(address->host(), port);
  if (!echo) return failed_by(echo.error());
  fmt::print("probe: answering at {} port {}{}\n", address->host(), echo->port(), describe(admission));
  std::fflush(stdout);
  for (;;) {
    wait_for(echo->fd(), POLLIN, Patience::of(1s, stop));
    if (admission.token) {
      echo->answer(std::span{&*admission.token, 1});
    } else {
      echo->answer();
    }
  }
}

Attempt<void> probe_connect(const HostPort& peer, const ProbeOptions& options, int stop) {
  const auto address = resolve(peer.host, peer.port);
  if (!address) return failed_by(address.error());
  const auto source = options.bind.empty() ? source_towards(*address) : options.bind;
  auto sender = observe::ProbeSender::open(source, address->host(), peer.port, options.token);
  if (!sender) return failed_by(sender.error());
  auto next = observe::raw_time();
  for (std::uint32_t i = 0; i < options.count; ++i) {
    sender->send();
    next += options.interval;
    while (wait_for(sender->fd(), POLLIN, {next, stop})) sender->receive();
  }
  const auto patience = Patience::of(kWaitForLast, stop);
  while (!sender->all_returned() && wait_for(sender->fd(), POLLIN, patience)) sender->receive();

  Histogram histogram;
  for (const auto rtt : sender->round_trips()) histogram.record(rtt);
  const auto lost = sender->sent() - histogram.count();
  if (options.json) {
    fmt::print(
        "{{\"sent\":{},\"lost\":{},\"rtt_min_ns\":{},\"rtt_median_ns\":{:.0f},\"rtt_p99_ns\":{:.0f},\"rtt_max_ns\":{}}}"
        "\n",
        sender->sent(), lost, histogram.min(), histogram.quantile(0.5), histogram.quantile(0.99), histogram.max());
  } else {
    const auto us = [](double ns) { return ns / 1000; };
    fmt::print("{} -> {}: {} probes, {} lost; round trip min {:.1f}, median {:.1f}, p99 {:.1f}, max {:.1f} us\n",
               source, address->text(), sender->sent(), lost, us(static_cast<double>(histogram.min())),
               us(histogram.quantile(0.5)), us(histogram.quantile(0.99)), us(static_cast<double>(histogram.max())));
  }
  if (histogram.count() == 0)
    return failed(
        "no probe came back: does `longhaul-bench probe --listen` run at {}, with the same --token or --open?",
        address->text());
  return {};
}

}  // namespace longhaul::workloads
