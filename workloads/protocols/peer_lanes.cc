#include "workloads/protocols/peer_lanes.hh"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "common/error.hh"
#include "common/median.hh"
#include "common/memory_file.hh"
#include "observe/clock.hh"
#include "workloads/protocols/stream.hh"

namespace longhaul::workloads::peer {
namespace {

using namespace std::chrono_literals;

constexpr int kWarmUp = 1;
constexpr std::int64_t kWarmUpMessages = 32;
constexpr std::int64_t kFewestMessages = 200;  // of a window: perftest counts its ramp, from the first post on
constexpr std::int64_t kLatencyMessages = 500;
constexpr int kTries = 30;  // the tool's server may just be starting
constexpr Nanoseconds kBetweenTries = 100ms;
constexpr int kMostFailures = 10;  // fewer than the client's tries: it is told why

OwnFd nothing() {
  return OwnFd{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null")};
}

Child spawn(const std::vector<std::string>& command, int output) {
  const auto input = nothing();
  try {
    return Child{{.arguments = command, .descriptors = {{input.get(), 0}, {output, 1}, {output, 2}}}};
  } catch (const std::system_error& error) {
    throw std::runtime_error(fmt::format("{} cannot be started here ({})", command.front(), error.code().message()));
  }
}

PeerRun between(const PairedSession& session, Measure measure, const SocketAddress& server) {
  const auto facts = session.connections().front()->facts();
  return {.measure = measure,
          .op = session.streams() ? "stream" : session.word("op"),
          .device = facts.device,
          .iwarp = stream::is_iwarp(facts),
          .local = session.here().host(),
          .server = server.host(),
          .port = static_cast<std::uint16_t>(server.port() + 1),
          .size = session.number("size"),
          .duration = session.duration("duration")};
}

// Both ends of a latency count the same messages.
PeerRun with_messages(PeerRun run) {
  run.messages = run.measure == Measure::latency ? kLatencyMessages : kWarmUpMessages;
  return run;
}

}  // namespace

PeerRun run_of(const ClientSession& session, Measure measure) {
  return between(session, measure, session.there());
}

PeerRun run_of(const ServerSession& session, Measure measure) {
  return between(session, measure, session.here());
}

Tool::Tool(const std::vector<std::string>& command)
    : output_(memory_file("longhaul-peer")), child_(spawn(command, output_.get())) {}

std::string Tool::output() const {
  return file_content(output_.get());
}

PeerServer::PeerServer(Connection& connection, PeerRun run)
    : connection_(connection), run_(with_messages(std::move(run))) {}

bool PeerServer::advance() {
  if (tool_) {
    const auto ended = tool_->poll();
    if (!ended) return false;
    failures_ = ended->ok() ? 0 : failures_ + 1;
    if (failures_ >= kMostFailures)
      throw std::runtime_error(fmt::format("{} of the server, port {}, ended with {}: {}", peer_server(run_).front(),
                                           run_.port, ended->text(), tool_->output().substr(0, 400)));
    if (failures_ > 0) not_before_ = observe::raw_time() + kBetweenTries;
    tool_.reset();
  }
  if (observe::raw_time() < not_before_) return false;
  tool_.emplace(peer_server(run_));
  return false;
}

PeerClient::PeerClient(Connection& connection, PeerRun run)
    : connection_(connection), run_(with_messages(std::move(run))) {}

void PeerClient::start() {
  tries_ = 0;
  not_before_ = {};
}

bool PeerClient::advance() {
  const bool counts = !run_.timed() && run_.measure == Measure::throughput;
  if (!counts && phase_ == kWarmUp) return true;
  if (!tool_) {
    if (observe::raw_time() < not_before_) return false;
    tool_.emplace(peer_client(run_));
    ++tries_;
    return false;
  }
  const auto ended = tool_->poll();
  if (!ended) return false;
  const auto output = tool_->output();
  tool_.reset();
  const auto value = read_peer(run_, output);
  if (!ended->ok() || !value) {
    if (tries_ >= kTries)
      throw std::runtime_error(fmt::format("{} ended with {}: {}", peer_client(run_).front(), ended->text(),
                                           value ? output.substr(0, 400) : value.error().message));
    not_before_ = observe::raw_time() + kBetweenTries;
    return false;
  }
  if (phase_ == kWarmUp) {
    const auto wanted = *value / 8 * ratio(run_.duration, 1s) /
                        static_cast<double>(run_.size * std::max<std::int64_t>(run_.streams, 1));
    run_.messages = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), kFewestMessages, 10'000'000);
  } else {
    values_.push_back(*value);
  }
  return true;
}

std::pair<double, std::uint64_t> PeerClient::median() const {
  return {upper_median(values_), values_.size()};
}

Metric measure(ClientSession& session, PeerRun run) {
  auto lane = std::make_unique<PeerClient>(*session.connections().front(), std::move(run));
  const auto* tool = lane.get();
  Lanes lanes;
  lanes.push_back(std::move(lane));
  // A second processor's worth of spinning beside the tool would be ours, not the tool's.
  session.measure(lanes, {.sleeping = true, .fewest = 1});
  const auto [value, runs] = tool->median();
  return to_metric(value, runs);
}

void serve(ServerSession& session, PeerRun run) {
  Lanes lanes;
  lanes.push_back(std::make_unique<PeerServer>(*session.connections().front(), std::move(run)));
  session.serve(lanes, true);
}

}  // namespace longhaul::workloads::peer
