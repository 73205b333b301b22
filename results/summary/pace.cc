#include "results/summary/pace.hh"

#include "model/cell.hh"

namespace longhaul::results {

bool is_pace(std::string_view axis) {
  return axis == kClockAxis || axis == "duration" || axis == "warmup" || axis == "min_samples" || axis == "timeout";
}

}  // namespace longhaul::results
