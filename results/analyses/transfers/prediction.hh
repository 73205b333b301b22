// Predicts the critical path of a transfer by the sequences that PAPERS.md (section F) fixes. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/summary/summary.hh"

namespace longhaul::results {

/// The parts of a critical path, ns.
struct TransferParts {
  double client = 0;  ///< registration there
  double server = 0;
  double start = 0;    ///< START from the client to the server: the delay, and what it costs to send and take it
  double key = 0;      ///< the key from the sink to the source: of a write that is back, of a read forward again
  double compute = 0;  ///< the source's application, while the key is on its way
  // The ends' own work; without delay it is a fifth of a path.
  double post = 0;        ///< at the client, overlapped: START is handed over before the registration begins
  double turn = 0;        ///< at the server: from START taken until its registration begins
  double submission = 0;  ///< at the source: from key and registration at hand until the write is posted
};

/// From the client's wish until the source posts its write. Empty for a protocol that is not known.
std::optional<double> critical_path(const std::string& protocol, bool write, const TransferParts& parts);

/// A cell of the workload `transfer` over RDMA, and what is predicted of its critical path.
struct Prediction {
  const CellSummary* cell = nullptr;
  const MetricSummary* measured = nullptr;  ///< critical_path
  /// From its own registrations and messages, as they were measured in it: whether the sequence is what it should be.
  std::optional<double> by_phases;
  /// From the registration workload's line, the achieved delay and the messages of the latency workload, none of which
  /// come from this cell: whether it can be known beforehand. Only where every transfer registers, or none does.
  std::optional<double> by_profile;
};

/// Of every measured cell.
std::vector<Prediction> predict_transfers(const Summary& summary, const Vocabulary& vocabulary);

/// A cell's parts as they were measured in it. Empty where a phase is missing.
std::optional<TransferParts> measured_parts(const CellSummary& cell);

/// As the workload's spec has them where they are not given.
std::string protocol_of(const CellSummary& cell);
bool is_write(const CellSummary& cell);

}  // namespace longhaul::results
