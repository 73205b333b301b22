#include "results/store/row.hh"

#include <boost/describe.hpp>
#include <boost/json.hpp>

#include "model/codec.hh"
#include "results/metrics/metrics.hh"

namespace longhaul::results {

Result<StoredRun> row_of(const RunRecord& run) {
  const auto metrics = run_metrics(run);
  if (!metrics) return tl::unexpected(metrics.error());
  StoredRun row{.run_id = run.run_id,
                .cell_id = run.cell_id,
                .repetition = run.repetition,
                .attempt = run.attempt,
                .status = boost::describe::enum_to_string(run.status, "?"),
                .started = run.started,
                .finished = run.finished,
                .digest = run.virtual_clock ? run.virtual_clock->digest : std::string{},
                .workload = run.workload,
                .parameters = boost::json::serialize(codec::encode(run.parameters)),
                .document = to_json(run)};
  for (const auto& [name, metric] : *metrics)
    row.metrics.push_back({name, metric.value, static_cast<std::int64_t>(metric.samples)});
  return row;
}

}  // namespace longhaul::results
