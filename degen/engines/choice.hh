// Engine `auto`: which engine is taken where nobody names one. Pure.
#pragma once

#include <map>
#include <string>

#include "common/result.hh"
#include "degen/impairment/spec.hh"
#include "model/cell.hh"

namespace longhaul::degen {

struct EngineChoice {
  std::string engine;
  std::string why;  ///< for people: what kept the engines that come before it from being taken
};

/// By engine: why this router cannot do it (kernel, qdiscs of others).
using Unable = std::map<std::string, std::string>;

/// The first engine that can do what is asked, and that this router does not refuse, by Planner::preference: edt
/// (counts from the arrival, draws by a seed, ends by itself), netem (in the kernel, too, and can do nearly all),
/// nfqueue (a thread of degen sees every packet). Refuses what no engine can do, with the reason of each.
Result<EngineChoice> choose_engine(const Impairment& impairment, const Unable& unable = {});

}  // namespace longhaul::degen
