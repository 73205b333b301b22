#include "registration/simulate/rows.hh"

#include "common/csv.hh"
#include "registration/simulate/sample.hh"

namespace longhaul::registration {
namespace {

Row row_of(const Tally& tally, bool batched, const CostProfile& profile) {
  const auto without = cost_without_cache(tally, profile);
  Row row{.cost_profile = profile.name,
          .requests = tally.requests,
          .hit_ratio = tally.hit_ratio(),
          .cost_us = cost(tally, profile, batched),
          .registrations = tally.registrations,
          .deregistrations = tally.deregistrations,
          .batches = batched ? tally.batches : tally.deregistrations};
  if (without > 0) {
    row.cost_saved = 1 - row.cost_us / without;
    row.cost_saved_unbatched = 1 - cost(tally, profile, false) / without;
  }
  return row;
}

// How far off the samples may be.
void add_errors(Row& row, const std::vector<Tally>& samples, bool batched, const CostProfile& profile) {
  if (samples.empty()) return;
  std::vector<double> hits, saved;
  for (const auto& sample : samples) {
    const auto one = row_of(sample, batched, profile);
    hits.push_back(one.hit_ratio);
    saved.push_back(one.cost_saved);
  }
  row.hit_ratio_error = estimate(hits).error;
  row.cost_saved_error = estimate(saved).error;
}

}  // namespace

std::vector<Row> rows_of(const Sweep& result, const SweepOptions& options, const std::vector<CostProfile>& profiles) {
  std::vector<Row> rows;
  for (const auto& outcome : result.outcomes) {
    const auto& strategy = options.strategies[outcome.strategy];
    for (const auto& profile : profiles) {
      if (!strategy.weighs.empty() && strategy.weighs != profile.name) continue;
      auto row = row_of(outcome.tally, strategy.batched, profile);
      add_errors(row, outcome.samples, strategy.batched, profile);
      row.policy = strategy.name;
      row.capacity_bytes = outcome.capacity.pages * kPageSize;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<Row> bound_rows(Sweep& result, const std::vector<Capacity>& capacities,
                            const std::vector<CostProfile>& profiles) {
  std::vector<Row> rows;
  if (result.requests == 0 || !result.future.prepare()) return rows;
  const auto all = static_cast<double>(result.requests);
  Tally everything;
  everything.requests = result.requests;
  everything.pages = result.pages;
  for (const auto& capacity : capacities) {
    const auto add = [&](Row row, const char* policy) {
      row.policy = policy;
      row.bound = true;
      row.capacity_bytes = capacity.pages * kPageSize;
      rows.push_back(std::move(row));
    };
    const auto belady = result.future.belady_size(capacity.pages);
    const auto hits = result.future.pfoo_hits(capacity.pages).hits;
    for (const auto& profile : profiles) {
      add(row_of(belady, false, profile), "belady-size");
      const auto without = cost_without_cache(everything, profile);
      const auto saved =
          result.future.pfoo_saved(capacity.pages, profile).saved + result.future.left_over(capacity.pages, profile);
      Row row{.cost_profile = profile.name,
              .requests = result.requests,
              .hit_ratio = hits / all,
              .cost_us = without - saved,
              .cost_saved = saved / without,
              .cost_saved_unbatched = saved / without};
      row.registrations = row.deregistrations = row.batches = result.requests - static_cast<std::uint64_t>(hits);
      add(std::move(row), "pfoo-l");
    }
  }
  return rows;
}

std::string csv_header() {
  return "trace,policy,capacity_bytes,cost_profile,requests,hit_ratio,cost_us,cost_saved,registrations,deregistrations,"
         "batches,hit_ratio_error,cost_saved_error\n";
}

std::string csv_of(const std::string& trace, const std::vector<Row>& rows) {
  std::string text;
  const auto error = [](const std::optional<double>& value) { return value ? fmt::format("{:.6f}", *value) : ""; };
  for (const auto& row : rows)
    text += fmt::format("{},{},{},{},{},{:.6f},{:.1f},{:.6f},{},{},{},{},{}\n", csv_field(trace), csv_field(row.policy),
                        row.capacity_bytes, csv_field(row.cost_profile), row.requests, row.hit_ratio, row.cost_us,
                        row.cost_saved, row.registrations, row.deregistrations, row.batches, error(row.hit_ratio_error),
                        error(row.cost_saved_error));
  return text;
}

}  // namespace longhaul::registration
