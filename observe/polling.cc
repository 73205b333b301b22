#include "observe/polling.hh"

#include <algorithm>

#include "observe/clock.hh"

namespace longhaul::observe {

void Polling::time_it() {
  const auto now = raw_time();
  if (row_ == kFrom) {
    begun_ = now;
    return;
  }
  const auto took = std::max<std::int64_t>((now - begun_).count(), 1);
  fastest_ = timed_ == 0 ? took : std::min(fastest_, took);
  ++timed_;
}

Polling& polling() {
  static thread_local Polling mine;
  return mine;
}

}  // namespace longhaul::observe
