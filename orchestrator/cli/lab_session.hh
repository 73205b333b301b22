// A lab with its own certificate authority: what `lab up` and `run --lab` share.
#pragma once

#include <string>

#include "common/result.hh"
#include "lab/lab.hh"

namespace longhaul::orchestrator {

/// Boots a lab whose agents obey credentials that are made for it alone. The controller's are put into the lab's folder
/// and go with it; no key of the authority is kept. Fills in `files`, `ca`, `cert` and `key`.
Result<lab::Lab> start_lab(lab::UpOptions options);

}  // namespace longhaul::orchestrator
