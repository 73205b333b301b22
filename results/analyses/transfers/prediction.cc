#include "results/analyses/transfers/prediction.hh"

#include <algorithm>

#include "results/analyses/costs/costs.hh"

namespace longhaul::results {
namespace {

std::optional<double> value_of(const CellSummary& cell, const char* metric) {
  const auto* found = cell.metric(metric);
  return found == nullptr ? std::nullopt : std::optional{found->median};
}

// Of two moments of one end; 0 where its clock is not known well enough to tell them.
double between(const CellSummary& cell, const char* from, const char* to) {
  const auto begin = value_of(cell, from);
  const auto end = value_of(cell, to);
  return begin && end ? std::max(0.0, *end - *begin) : 0;
}

std::string word(const CellSummary& cell, const Vocabulary& vocabulary, const char* name) {
  return vocabulary.spelt(cell.workload, cell.parameters, name);
}

// Time of a message beyond the delay: half of the latency of a send without any.
std::optional<double> message_cost(const Summary& summary, const std::string& provider, const Vocabulary& vocabulary) {
  for (const auto& cell : summary.cells)
    if (cell.workload == "latency" && cell.usable > 0 && cell.provider == provider && cell.forward.asked == 0 &&
        cell.back.asked == 0 && word(cell, vocabulary, "op") == "send")
      return value_of(cell, "latency");
  return std::nullopt;
}

std::optional<double> by_profile(const CellSummary& cell, const std::vector<FittedCosts>& costs, const Summary& summary,
                                 const Vocabulary& vocabulary) {
  const auto strategy = word(cell, vocabulary, "strategy");
  if (strategy != "each-time" && strategy != "preregistered") return std::nullopt;
  if (word(cell, vocabulary, "reuse") != "same") return std::nullopt;
  const auto message = message_cost(summary, cell.provider, vocabulary);
  const auto fitted = std::find_if(costs.begin(), costs.end(), [&](const FittedCosts& one) {
    return one.name == cell.provider && one.virtual_clock == cell.virtual_clock;
  });
  if (!message || (strategy == "each-time" && fitted == costs.end())) return std::nullopt;
  const auto parameters = vocabulary.completed(cell.workload, cell.parameters);
  const auto pages = std::max(1.0, static_cast<double>(integer_of(parameters, "size")) / kPageSize);
  const double registration =
      strategy == "each-time" ? fitted->registering.slope * pages + fitted->registering.intercept : 0;
  const auto forward = cell.forward.achieved.value_or(static_cast<double>(cell.forward.asked)) + *message;
  const auto back = cell.back.achieved.value_or(static_cast<double>(cell.back.asked)) + *message;
  return critical_path(protocol_of(cell), is_write(cell),
                       {.client = registration,
                        .server = registration,
                        .start = forward,
                        .key = is_write(cell) ? back : forward,
                        .compute = static_cast<double>(integer_of(parameters, "compute"))});
}

}  // namespace

std::optional<double> critical_path(const std::string& protocol, bool write, const TransferParts& parts) {
  const auto& [client, server, start, key, compute, post, turn, submission] = parts;
  const double ready = start + turn + server;  // from START sent until the server's buffer is usable
  if (write) {
    const double answered = ready + key;
    if (protocol == "typical") return client + std::max(compute, answered) + submission;
    if (protocol == "frrwp") return std::max(post + client + compute, answered) + submission;
    if (protocol == "frrwp+crw") return std::max(post + client, answered) + submission;
    if (protocol == "advertised") return client + submission;
    return std::nullopt;
  }
  if (protocol == "typical") return client + ready + submission;
  if (protocol == "frrwp") return std::max(ready + compute, post + client + key) + submission;
  if (protocol == "frrwp+crw") return std::max(ready, post + client + key) + submission;
  if (protocol == "advertised") return ready + submission;
  return std::nullopt;
}

std::string protocol_of(const CellSummary& cell) {
  return choice_of(cell.parameters, "protocol", "typical");
}

bool is_write(const CellSummary& cell) {
  return choice_of(cell.parameters, "direction", "write") == "write";
}

std::optional<TransferParts> measured_parts(const CellSummary& cell) {
  const auto protocol = protocol_of(cell);
  const bool write = is_write(cell);
  const auto start = value_of(cell, "start_trip");
  const auto key = value_of(cell, "key_trip");
  const bool ahead = protocol == "advertised";
  if ((!start && !(ahead && write)) || (!key && !ahead)) return std::nullopt;
  // The application's computation hides when the key came, but from an engine.
  const auto compute = value_of(cell, "computation").value_or(0);
  if (compute > 0 && protocol != "frrwp+crw") return std::nullopt;
  // Where START goes behind the registration, this is the application's own and part of it.
  const auto before = value_of(cell, "at_client_registering").value_or(0);
  const bool overlapped = protocol == "frrwp" || protocol == "frrwp+crw";
  return TransferParts{.client = value_of(cell, "client_registration").value_or(0) + (overlapped ? 0 : before),
                       .server = value_of(cell, "server_registration").value_or(0),
                       .start = start.value_or(0),
                       .key = key.value_or(0),
                       .compute = compute,
                       .post = overlapped ? before : 0,
                       .turn = between(cell, "at_started", "at_server_registering"),
                       .submission = value_of(cell, "submission").value_or(0)};
}

std::vector<Prediction> predict_transfers(const Summary& summary, const Vocabulary& vocabulary) {
  const auto costs = fit_costs(summary, vocabulary);
  std::vector<Prediction> all;
  for (const auto& cell : summary.cells) {
    if (cell.workload != "transfer" || cell.transport != "rdma" || cell.usable == 0) continue;
    const auto* measured = cell.metric("critical_path");
    if (measured == nullptr) continue;
    Prediction prediction{.cell = &cell, .measured = measured};
    if (const auto parts = measured_parts(cell))
      prediction.by_phases = critical_path(protocol_of(cell), is_write(cell), *parts);
    prediction.by_profile = by_profile(cell, costs, summary, vocabulary);
    all.push_back(prediction);
  }
  return all;
}

}  // namespace longhaul::results
