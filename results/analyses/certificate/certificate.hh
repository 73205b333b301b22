// The certificate of what degen's engines did in a campaign. Pure.
#pragma once

#include <string>

#include "model/certificate.hh"
#include "results/summary/summary.hh"

namespace longhaul::results {

/// Of the cells of the workload `packets`. Refuses a campaign without such cells.
Result<Certificate> certify(const Summary& summary, const Vocabulary& vocabulary);

/// The error over the delay, a line for each engine, of the packet rate and size that have the most delays: SVG.
std::string to_svg(const Certificate& certificate);

}  // namespace longhaul::results
