#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>

#include "common/printable.hh"
#include "common/signals.hh"
#include "degen/cli/commands.hh"
#include "degen/cli/in_place.hh"
#include "degen/cli/own_service.hh"
#include "degen/client/client.hh"
#include "degen/engines/planner.hh"
#include "degen/engines/tc/links.hh"
#include "degen/impairment/spec.hh"

namespace longhaul::degen {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::duration<int, std::milli> kWatch{1000};

Result<Reply> ask(Client& client, const Request& request) {
  auto reply = client.request(request);
  if (reply && !reply->ok) return fail("{}", reply->error.value_or("refused without a reason"));
  return reply;
}

void print(const Report& report, bool json) {
  fmt::print("{}{}", json ? to_json(report) : to_text(report), json ? "\n" : "");
}

std::string progress_line(const Report& report) {
  const auto part = [](const DirectionReport& r) {
    if (r.samples == 0) return std::string{"no probes"};
    return fmt::format("{} (p99 {}, {} probes, {} lost)", short_time(r.unimpaired_samples > 0 ? r.achieved : r.median),
                       short_time(r.p99), r.samples, r.lost);
  };
  return fmt::format("measured: forward {}, back {}", part(report.forward), part(report.back));
}

// The sides that are meant: towards the clients, towards the servers; none where a service is there.
Result<std::vector<std::string>> sides_asked(const ApplyOptions& options) {
  const auto& names = options.interfaces;
  if (!options.both_ways) {
    if (names.size() == 1)
      return refuse("{}: one interface: what is forwarded by it, in either direction, is --both-ways; or name two",
                    names.front());
    return names;
  }
  if (names.size() != 1) return refuse("--both-ways is for one interface: degen apply eth0 --both-ways");
  const auto others = others_of(names.front(), network_links());
  if (!others) return tl::unexpected(others.error());
  return std::vector<std::string>{fmt::format("{}", fmt::join(*others, ",")), names.front()};
}

// Of one interface only those that leave alone what passes between the others, and what this machine sends itself.
Result<std::vector<std::string>> engines_asked(const ApplyOptions& options, const Impairment& impairment) {
  if (!options.both_ways) return std::vector{options.engine};
  if (options.engine == "netem")
    return refuse(
        "--both-ways: engine netem holds all that leaves by the other interfaces, wherever it comes from; use engine "
        "edt or nfqueue");
  if (options.engine != kAutoEngine) return std::vector{options.engine};
  std::vector<std::string> able;
  std::string why;
  for (const std::string engine : {"edt", "nfqueue"}) {
    if (auto ok = check_engine(impairment, engine))
      able.push_back(engine);
    else
      why += fmt::format("{}{}", why.empty() ? "" : "; ", ok.error().message);
  }
  if (able.empty()) return refuse("--both-ways: {}", why);
  return able;
}

}  // namespace

Result<ExitCode> apply(const ApplyOptions& options) {
  const auto impairment = make_impairment(options.parameters);
  if (!impairment) return tl::unexpected(impairment.error());
  const auto sides = sides_asked(options);
  if (!sides) return tl::unexpected(sides.error());
  const auto engines = engines_asked(options, *impairment);
  if (!engines) return tl::unexpected(engines.error());

  const auto stop = signal_descriptor({SIGINT, SIGTERM, SIGHUP});
  std::optional<OwnService> service;
  if (!sides->empty()) {
    auto own = OwnService::start(sides->front(), sides->back(), options.socket);
    if (!own) return tl::unexpected(own.error());
    service.emplace(std::move(*own));
  }
  auto client = Client::connect(options.socket);
  if (!client) return tl::unexpected(client.error());
  Request request{.kind = RequestKind::apply,
                  .engine = engines->front(),
                  .parameters = options.parameters,
                  .force = {},
                  .client = "degen apply",
                  .seed = options.seed};
  auto reply = ask(*client, request);
  for (std::size_t i = 1; !reply && i < engines->size(); ++i) {
    fmt::print(stderr, "degen: not by engine {}: {}\n", (*engines)[i - 1], printable(reply.error().message));
    request.engine = (*engines)[i];
    reply = ask(*client, request);
  }
  if (!reply) return tl::unexpected(reply.error());
  if (!options.json) {
    print(*reply->report, false);
    fmt::print("applied; it is held {}\n",
               options.duration ? "for " + format_quantity(Kind::duration, options.duration->count()) : "until Ctrl-C");
    std::fflush(stdout);
  }

  const auto end = SteadyClock::now() + options.duration.value_or(Nanoseconds{0});
  const Request look{.kind = RequestKind::show, .engine = {}, .parameters = {}, .force = {}, .client = {}};
  bool interrupted = false;
  {
    InPlaceLine progress{options.json, InPlaceLine::End::stays};
    for (;;) {
      auto pause = kHeartbeat;
      if (options.duration) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now());
        if (left.count() <= 0) break;
        pause = std::min(pause, left);
      }
      pollfd wait{.fd = stop.get(), .events = POLLIN, .revents = 0};
      if (::poll(&wait, 1, static_cast<int>(pause.count())) > 0) {
        interrupted = true;
        break;
      }
      reply = ask(*client, look);  // renews the lease too
      if (!reply) return tl::unexpected(reply.error());
      if (!reply->held)
        return fail(
            "degen no longer applies it: {}",
            reply->report->problem.value_or("another client took the router, or this one was silent for too long"));
      if (reply->report->forward.samples + reply->report->back.samples > 0)
        progress.show(progress_line(*reply->report));
    }
  }
  // The last look before it goes; then clear, so that nothing is left when this program is gone.
  reply = ask(*client, look);
  if (!reply) return tl::unexpected(reply.error());
  print(*reply->report, options.json);
  const auto cleared =
      ask(*client, {.kind = RequestKind::clear, .engine = {}, .parameters = {}, .force = {}, .client = {}});
  if (!cleared) return tl::unexpected(cleared.error());
  return interrupted ? ExitCode::interrupted : ExitCode::ok;
}

Result<ExitCode> show(const std::string& socket, bool json, bool watch) {
  OwnFd stop;
  if (watch) stop = signal_descriptor({SIGINT, SIGTERM, SIGHUP});
  auto client = Client::connect(socket);
  if (!client) return tl::unexpected(client.error());
  // A picture in place for people, one document a line for programs.
  const bool in_place = watch && !json && ::isatty(STDOUT_FILENO) == 1;
  for (;;) {
    const auto reply =
        ask(*client, {.kind = RequestKind::show, .engine = {}, .parameters = {}, .force = {}, .client = "degen show"});
    if (!reply) return tl::unexpected(reply.error());
    if (in_place) fmt::print("\033[H\033[J");
    print(*reply->report, json);
    std::fflush(stdout);
    if (!watch) return ExitCode::ok;
    pollfd wait{.fd = stop.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, kWatch.count()) > 0) return ExitCode::interrupted;
  }
}

Result<ExitCode> clear(const std::string& socket, bool force, bool json) {
  auto client = Client::connect(socket);
  if (!client) return tl::unexpected(client.error());
  const auto reply = ask(
      *client, {.kind = RequestKind::clear, .engine = {}, .parameters = {}, .force = force, .client = "degen clear"});
  if (!reply) return tl::unexpected(reply.error());
  if (!reply->report->holder.empty())
    return fail("{} holds the router and is alive: end it, or use --force", reply->report->holder);
  print(*reply->report, json);
  return ExitCode::ok;
}

}  // namespace longhaul::degen
