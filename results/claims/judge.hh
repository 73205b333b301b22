// What an interval says, and what several say together. Pure.
#pragma once

#include <string>
#include <vector>

#include "results/claims/claim.hh"

namespace longhaul::results {

enum class Judgement { yes, no, unsure };

/// The ratio is 1 within a factor: yes when its whole interval is, no when its whole interval is not.
Judgement equal_within(const Ratio& ratio, double factor);
/// Its whole interval is above the bound (yes), below it (no), or neither.
Judgement above(const Ratio& ratio, double bound);
Judgement below(const Ratio& ratio, double bound);
/// The first is smaller than the second: their intervals do not overlap.
Judgement smaller(const Ratio& first, const Ratio& second);

Judgement all_of(const std::vector<Judgement>& judgements);

/// Ahead somewhere and nowhere behind: `no` also where all ratios are 1 within 5 %.
Judgement leads(const std::vector<Ratio>& ratios);

/// yes: holds; no: does not hold; unsure: not decidable, since the intervals are too wide.
Finding conclude(Judgement judgement, std::string reason, std::vector<Evidence> evidence);

}  // namespace longhaul::results
