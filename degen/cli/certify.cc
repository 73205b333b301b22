// degen certify: what the engines keep on this machine's kernel and processors, without a testbed.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>

#include "common/child.hh"
#include "common/error.hh"
#include "common/median.hh"
#include "common/printable.hh"
#include "common/replace_file.hh"
#include "common/signals.hh"
#include "common/version.hh"
#include "degen/certify/traffic.hh"
#include "degen/cli/commands.hh"
#include "degen/cli/own_service.hh"
#include "degen/client/client.hh"
#include "degen/engines/planner.hh"
#include "observe/clock.hh"
#include "observe/facts.hh"

namespace longhaul::degen {
namespace {

class Folder {
 public:
  Folder() {
    if (::mkdtemp(path_.data()) == nullptr) throw_errno("make the folder " + path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string socket() const { return path_ + "/degen.sock"; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "degen-certify-XXXXXX").string();
};

// What is shown of a measurement that takes minutes: on a terminal in place, elsewhere not at all.
class Progress {
 public:
  Progress(bool quiet, std::size_t points) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1), points_(points) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void on(const CertifyPoint& point, Nanoseconds left) {
    ++done_;
    if (!shown_) return;
    fmt::print(stderr, "\r[{}/{}] {}, delay {}, {:.0f} packets/s of {} B; about {} left\033[K", done_, points_,
               point.engine, short_time(point.delay.count()),
               static_cast<double>(point.pace.burst) * 1e9 / static_cast<double>(point.pace.interval.count()),
               point.pace.size, short_time(left.count()));
    std::fflush(stderr);
  }

 private:
  bool shown_;
  std::size_t points_;
  std::size_t done_ = 0;
};

// One point of one round, and what is known of the others.
struct Measured {
  std::vector<WayFound> found;
  std::string refusal;
};

class Measurement {
 public:
  Measurement(const PrivateNetwork& network, Client& client, int stop)
      : network_(network), client_(client), stop_(stop) {}

  bool interrupted() const { return interrupted_; }

  /// An error is a lost service.
  Result<void> measure(const CertifyPoint& point, Measured& measured) {
    const bool impaired = point.engine != kNoEngine;
    const bool raw = point.engine == kRawNetem;
    if (raw) {
      measured.refusal = tc(point);
      if (!measured.refusal.empty()) return {};
    } else if (impaired) {
      const auto reply = ask({.kind = RequestKind::apply,
                              .engine = point.engine,
                              .parameters = parameters_of(point),
                              .client = "degen certify"});
      if (!reply) return tl::unexpected(reply.error());
      if (!reply->ok) {
        measured.refusal = reply->error.value_or("refused without a reason");
        return {};
      }
    }
    try {
      for (const auto way : {Way::forward, Way::back}) {
        const auto observed = send_through(network_, way, point, [&] { return go_on(); });
        if (interrupted_) return {};
        auto& path = paths_[{way, point.pace}];
        const auto found = assess(point, observed, impaired ? path : 0);
        if (!impaired) path = found.path;
        measured.found.push_back(found);
      }
    } catch (const std::runtime_error& error) {
      measured.refusal = fmt::format("not measured: {}", error.what());
    }
    if (lost_) return tl::unexpected(*lost_);
    if (raw)
      for (const auto* interface : {PrivateNetwork::kClientSide, PrivateNetwork::kServerSide})
        static_cast<void>(run_command({"tc", "qdisc", "del", "dev", interface, "root"}));
    if (!impaired || raw) return {};
    const auto cleared = ask({.kind = RequestKind::clear});
    if (!cleared) return tl::unexpected(cleared.error());
    return {};
  }

 private:
  // Why not; empty: it is done.
  static std::string tc(const CertifyPoint& point) {
    for (const auto* interface : {PrivateNetwork::kClientSide, PrivateNetwork::kServerSide}) {
      std::string complaints;
      if (!run_command(raw_netem(point, interface), &complaints).exit.ok()) return "tc: " + complaints;
    }
    return {};
  }

  Result<Reply> ask(const Request& request) { return client_.request(request); }

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
  const Folder folder;
  auto service = OwnService::start(PrivateNetwork::kClientSide, PrivateNetwork::kServerSide, folder.socket());
  if (!service) return tl::unexpected(service.error());
  auto client = Client::connect(folder.socket());
  if (!client) return tl::unexpected(client.error());

  Measurement measurement{*network, *client, stop.get()};
  std::vector<Measured> measured(points->size());
  Nanoseconds left{0};
  for (const auto& point : *points) left += options.rounds * duration_of(point);
  {
    Progress progress{options.json, points->size() * static_cast<std::size_t>(options.rounds)};
    for (int round = 0; round < options.rounds; ++round)
      for (std::size_t i = 0; i < points->size(); ++i) {
        progress.on((*points)[i], left);
        if (auto ok = measurement.measure((*points)[i], measured[i]); !ok) return tl::unexpected(ok.error());
        if (measurement.interrupted()) return ExitCode::interrupted;
        left -= duration_of((*points)[i]);
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
