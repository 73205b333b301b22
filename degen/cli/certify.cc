// degen certify: what the engines keep on this machine's kernel and processors, without a testbed.
#include <poll.h>

#include <csignal>
#include <cstdio>
#include <map>

#include "common/child.hh"
#include "common/printable.hh"
#include "common/replace_file.hh"
#include "common/scratch_folder.hh"
#include "common/signals.hh"
#include "common/version.hh"
#include "degen/certify/traffic.hh"
#include "degen/cli/commands.hh"
#include "degen/cli/in_place.hh"
#include "degen/cli/own_service.hh"
#include "degen/client/client.hh"
#include "observe/clock.hh"
#include "observe/facts.hh"

namespace longhaul::degen {
namespace {

// What all rounds found of a point.
struct Measured {
  std::vector<WayFound> found;
  std::string refusal;
};

class Measurement {
 public:
  Measurement(const PrivateNetwork& network, Client& client, int stop)
      : network_(network), client_(client), stop_(stop) {}

  bool interrupted() const { return interrupted_; }

  /// Of one round. An error is a lost service.
  Result<void> measure(const CertifyPoint& point, Measured& measured) {
    const auto refusal = apply(point);
    if (!refusal) return tl::unexpected(refusal.error());
    if (!refusal->empty()) {
      measured.refusal = *refusal;
      return {};
    }
    try {
      for (const auto way : {Way::forward, Way::back}) {
        const auto observed = send_through(network_, way, point, [&] { return go_on(); });
        if (lost_) return tl::unexpected(*lost_);
        if (interrupted_) return {};
        auto& path = paths_[{way, point.pace}];
        const bool impaired = point.engine != kNoEngine;
        const auto found = assess(point, observed, impaired ? path : 0);
        if (!impaired) path = found.path;
        measured.found.push_back(found);
      }
    } catch (const std::runtime_error& error) {
      measured.refusal = fmt::format("not measured: {}", error.what());
    }
    return clear(point);
  }

 private:
  static constexpr const char* kInterfaces[] = {PrivateNetwork::kClientSide, PrivateNetwork::kServerSide};

  /// Why it is not in place; empty: it is.
  Result<std::string> apply(const CertifyPoint& point) {
    if (point.engine == kNoEngine) return {};
    if (point.engine == kRawNetem) {
      for (const auto* interface : kInterfaces) {
        std::string complaints;
        if (!run_command(raw_netem(point, interface), &complaints).exit.ok()) return "tc: " + complaints;
      }
      return {};
    }
    const auto reply = client_.request({.kind = RequestKind::apply,
                                        .engine = point.engine,
                                        .parameters = parameters_of(point),
                                        .client = "degen certify"});
    if (!reply) return tl::unexpected(reply.error());
    return reply->ok ? std::string{} : reply->error.value_or("refused without a reason");
  }

  Result<void> clear(const CertifyPoint& point) {
    if (point.engine == kRawNetem)
      for (const auto* interface : kInterfaces)
        static_cast<void>(run_command({"tc", "qdisc", "del", "dev", interface, "root"}));
    else if (point.engine != kNoEngine)
      if (const auto cleared = client_.request({.kind = RequestKind::clear}); !cleared)
        return tl::unexpected(cleared.error());
    return {};
  }

  // Renews the lease, and looks for Ctrl-C.
  bool go_on() {
    pollfd wait{.fd = stop_, .events = POLLIN, .revents = 0};
    interrupted_ = ::poll(&wait, 1, 0) > 0;
    if (auto beat = client_.heartbeat(); !beat) lost_ = beat.error();
    return !interrupted_ && !lost_;
  }

  const PrivateNetwork& network_;
  Client& client_;
  int stop_;
  bool interrupted_ = false;
  std::optional<Error> lost_;
  std::map<std::pair<Way, Pace>, double> paths_;  ///< median time without an impairment, ns; of this round
};

}  // namespace

Result<ExitCode> certify(const CertifyOptions& options) {
  auto grid = options.grid;
  if (grid.engines.empty()) grid.engines = certifiable();
  if (options.rounds < 1) return refuse("--rounds {}: at least 1", options.rounds);
  const auto points = points_of(grid);
  if (!points) return tl::unexpected(points.error());

  const auto stop = signal_descriptor({SIGINT, SIGTERM, SIGHUP});
  const auto network = PrivateNetwork::make();
  if (!network) return tl::unexpected(network.error());
  const ScratchFolder folder{"degen-certify"};
  const auto socket = (folder.path() / "degen.sock").string();
  auto service = OwnService::start(PrivateNetwork::kClientSide, PrivateNetwork::kServerSide, socket);
  if (!service) return tl::unexpected(service.error());
  auto client = Client::connect(socket);
  if (!client) return tl::unexpected(client.error());

  Measurement measurement{*network, *client, stop.get()};
  std::vector<Measured> measured(points->size());
  Nanoseconds left{0};
  for (const auto& point : *points) left += options.rounds * duration_of(point);
  {
    InPlaceLine progress{options.json, InPlaceLine::End::goes};
    const auto all = points->size() * static_cast<std::size_t>(options.rounds);
    std::size_t number = 0;
    for (int round = 0; round < options.rounds; ++round)
      for (std::size_t i = 0; i < points->size(); ++i) {
        const auto& point = (*points)[i];
        progress.show(fmt::format("[{}/{}] {}, delay {}, {} packets/s of {} B; about {} left", ++number, all,
                                  point.engine, short_time(point.delay.count()), packets_a_second(point.pace),
                                  point.pace.size, short_time(left.count())));
        if (auto ok = measurement.measure(point, measured[i]); !ok) return tl::unexpected(ok.error());
        if (measurement.interrupted()) return ExitCode::interrupted;
        left -= duration_of(point);
      }
  }

  const auto facts = observe::node_facts();
  Certificate certificate{.campaign = "degen certify",
                          .version = version_text(),
                          .clock = "host",
                          .emulated = facts.emulated,
                          .measured = observe::wall_time(),
                          .kernels = {{"router", facts.kernel}}};
  for (std::size_t i = 0; i < points->size(); ++i)
    certificate.engines[(*points)[i].engine].push_back(certified((*points)[i], measured[i].found, measured[i].refusal));
  for (auto& [engine, all] : certificate.engines) sort(all);
  if (!options.out.empty())
    if (auto written = replace_file(options.out, to_json(certificate)); !written)
      return tl::unexpected(written.error());
  fmt::print("{}", options.json ? to_json(certificate) : printable_document(to_text(certificate)));
  return ExitCode::ok;
}

}  // namespace longhaul::degen
