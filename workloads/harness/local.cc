#include "workloads/harness/local.hh"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <limits>

#include "observe/clock.hh"
#include "workloads/harness/runner.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

void LocalSession::check_stop() const {
  workloads::check_stop(stop_);
}

void LocalSession::open_window() {
  if (options_.hold >= 0) {
    events_.emit(BenchEventKind::ready);
    wait_for_go();
  }
  Part::open_window();
}

void LocalSession::wait_for_go() {
  std::string line;
  while (!line.ends_with('\n')) {
    char buffer[64];
    (void)wait_for(options_.hold, POLLIN, {std::numeric_limits<std::int64_t>::max(), stop_});
    const auto got = ::read(options_.hold, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error("held: standard input ended before a line let it go");
    line.append(buffer, static_cast<std::size_t>(got));
    if (line.size() > sizeof buffer) throw WrongInput("held: expected 'go' or 'go TIME', got a line that is longer");
  }
  line.pop_back();
  if (line == "go") return;
  std::int64_t at = 0;
  const char* const end = line.data() + line.size();
  const auto parsed = line.starts_with("go ") ? std::from_chars(line.data() + 3, end, at)
                                              : std::from_chars_result{nullptr, std::errc::invalid_argument};
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    throw WrongInput(fmt::format("held: expected 'go' or 'go TIME' (ns since the epoch), got '{}'", line));
  // poll(2) can be ended by the user and is as coarse as a millisecond; the rest is slept exactly.
  constexpr std::int64_t kExact = 20'000'000;
  if (const auto left = at - observe::wall_time(); left > kExact)
    (void)wait_for(-1, 0, {observe::raw_time() + left - kExact, stop_});
  const timespec until{at / 1'000'000'000, at % 1'000'000'000};
  ::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr);
}

NodeRecord LocalSession::record(std::map<std::string, Metric> metrics) const {
  auto record = Part::record(std::move(metrics));
  record.transport = facts_;
  return record;
}

Attempt<NodeRecord> run_local(const LocalOptions& options, const WorkloadSpec& spec, const Runner& runner,
                              Events& events, int stop) {
  auto outcome = [&]() -> Attempt<NodeRecord> {
    try {
      auto parameters = complete(spec, options.parameters);
      if (!parameters) return failed_by(parameters.error());
      if (options.hold < 0) events.emit(BenchEventKind::ready);
      LocalSession session{options, spec, std::move(*parameters), events, stop};
      auto metrics = runner.local(session);
      return session.record(std::move(metrics));
    } catch (const Unsupported& error) {
      return unsupported("{}", error.what());
    } catch (const WrongInput& error) {
      return wrong_input("{}", error.what());
    } catch (const std::exception& error) {
      return failed("{}", error.what());
    } catch (const Interrupted&) {
      events.emit(BenchEventKind::failed, "interrupted");
      throw;
    }
  }();
  events.conclude(outcome);
  return outcome;
}

}  // namespace longhaul::workloads
