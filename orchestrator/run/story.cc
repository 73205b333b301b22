#include "orchestrator/run/story.hh"

#include <utility>

namespace longhaul::orchestrator {
namespace {

// Of a whole run. Smaller ones add up to one in time, so that a process that creeps can prolong its run a thousand
// times.
constexpr double kSmallestStep = 1e-3;

}  // namespace

Story::News Story::take(agents::RunEvent event) {
  auto news = News::nothing;
  if (event.bench && !over()) news = take_bench(std::move(*event.bench));
  if (event.exit && !exit) {
    exit = std::move(event.exit);
    news = News::end;
  }
  return news;
}

Story::News Story::take_bench(BenchEvent bench) {
  switch (bench.kind) {
    case BenchEventKind::ready:
      if (std::exchange(ready_, true)) return News::nothing;
      port = bench.port.value_or(0);
      ready_at_ = bench.time;
      return News::ready;
    case BenchEventKind::window_start:
      return std::exchange(opened_, true) ? News::nothing : News::window_opened;
    case BenchEventKind::window_stop:
      if (!opened_ || std::exchange(closed_, true)) return News::nothing;
      window_stop_ = bench.time;
      return News::window_closed;
    case BenchEventKind::progress:
      if (bench.done.value_or(0) < done_ + kSmallestStep || *bench.done > 1) return News::nothing;
      done_ = *bench.done;
      return News::progress;
    case BenchEventKind::record:
      record = std::move(bench.record);
      return record ? News::end : News::nothing;
    case BenchEventKind::unsupported:
      unsupported = bench.message.value_or("without a reason");
      return News::end;
    case BenchEventKind::failed:
      failed = bench.message.value_or("without a reason");
      return News::end;
  }
  return News::nothing;
}

void Story::give_up(std::string why) {
  if (over()) return;
  failed = std::move(why);
  given_up = true;
}

std::string Story::trouble() const {
  if (unsupported) return *unsupported;
  if (failed) return *failed;
  if (record) return {};
  return exit ? fmt::format("ended without a record, {}", *exit) : "no record";
}

}  // namespace longhaul::orchestrator
