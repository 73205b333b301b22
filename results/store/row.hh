// A run as a row: its document, and what the index keeps of it.
#pragma once

#include "model/record.hh"
#include "results/store/backend.hh"

namespace longhaul::results {

/// A damaged histogram is an error that names the run and the node. Pure.
Result<StoredRun> row_of(const RunRecord& run);

}  // namespace longhaul::results
