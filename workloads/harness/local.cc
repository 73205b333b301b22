#include "workloads/harness/local.hh"

#include "workloads/harness/runner.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

void LocalSession::check_stop() const {
  workloads::check_stop(stop_);
}

NodeRecord LocalSession::record(std::map<std::string, Metric> metrics) const {
  auto record = RunSide::record(std::move(metrics));
  record.transport = facts_;
  return record;
}

Attempt<NodeRecord> run_local(const LocalOptions& options, const WorkloadSpec& spec, const Runner& runner,
                              Events& events, int stop) {
  auto outcome = [&]() -> Attempt<NodeRecord> {
    try {
      auto parameters = complete(spec, options.parameters);
      if (!parameters) return failed_by(parameters.error());
      events.emit(BenchEventKind::ready);
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
