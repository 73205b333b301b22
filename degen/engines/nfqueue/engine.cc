#include "degen/engines/nfqueue/engine.hh"

#include <net/if.h>

#include <fstream>
#include <sstream>

#include "common/log.hh"

namespace longhaul::degen {
namespace {

const std::string kDeleteTable = fmt::format("delete table inet {}", kOwnTable);

}  // namespace

NfqueueEngine::~NfqueueEngine() {
  NfqueueEngine::clear();
}

Result<void> NfqueueEngine::check(const ImpairmentPlan& plan) {
  for (const auto& egress : plan.egresses)
    if (if_nametoindex(egress.interface.c_str()) == 0)
      return refuse("{}: there is no such network interface", egress.interface);
  return {};
}

Result<void> NfqueueEngine::apply(const ImpairmentPlan& plan) {
  if (auto ok = check(plan); !ok) return ok;
  clear();
  if (plan.empty()) return {};
  try {
    // Listeners first: a rule whose queue nobody holds lets packets pass unimpaired.
    for (const auto& queue : nfqueue::queues_of(plan))
      workers_.push_back(std::make_unique<QueueWorker>(queue, options_));
  } catch (const std::system_error& e) {
    clear();
    return fail("{}", e.what());
  }
  if (auto made = nft_.run(nfqueue::ruleset_of(plan)); !made) {
    clear();
    return fail("{} (does this kernel have nf_tables and nft_queue?)", made.error().message);
  }
  table_ = true;
  return {};
}

void NfqueueEngine::clear() noexcept {
  // The rules go first: what arrives from now on is not queued, what waits is let go by the workers.
  if (table_) {
    if (auto gone = nft_.run(kDeleteTable); !gone)
      log::error("cannot remove table inet {}: {}", kOwnTable, gone.error().message);
    table_ = false;
  }
  workers_.clear();
}

Counters NfqueueEngine::counters(Way way) {
  Counters counters;
  if (workers_.empty()) return counters;
  std::ostringstream text;
  text << std::ifstream{"/proc/net/netfilter/nfnetlink_queue"}.rdbuf();
  for (const auto& worker : workers_) {
    if (worker->way() != way) continue;
    counters.overflowed += worker->overflowed() + kernel_drops(text.str(), worker->number());
    counters.dropped += worker->lost();
  }
  counters.dropped += counters.overflowed;
  return counters;
}

std::vector<std::string> NfqueueEngine::sweep(const std::vector<std::string>&) {
  // A queue goes with its socket; the table is what a dead process leaves.
  if (auto present = nft_.run(fmt::format("list table inet {}", kOwnTable)); !present) return {};
  if (auto gone = nft_.run(kDeleteTable); !gone) {
    log::error("cannot remove table inet {}: {}", kOwnTable, gone.error().message);
    return {};
  }
  return {fmt::format("nft table inet {}", kOwnTable)};
}

std::unique_ptr<Engine> nfqueue::make_engine(const EngineOptions& options) {
  return std::make_unique<NfqueueEngine>(options);
}

std::uint64_t kernel_drops(const std::string& text, std::uint16_t queue) {
  // queue number, peer port, waiting, copy mode, copy range, dropped by a full queue, dropped by a full socket, ...
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields{line};
    std::uint64_t number = 0, skip = 0, queue_dropped = 0, user_dropped = 0;
    if (fields >> number >> skip >> skip >> skip >> skip >> queue_dropped >> user_dropped && number == queue)
      return queue_dropped + user_dropped;
  }
  return 0;
}

}  // namespace longhaul::degen
