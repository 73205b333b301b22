#include "degen/engines/nfqueue/engine.hh"

#include <net/if.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "common/log.hh"
#include "degen/engines/clock.hh"
#include "degen/engines/tc/links.hh"

namespace longhaul::degen {
namespace {

const std::string kDeleteTable = fmt::format("delete table inet {}", kOwnTable);
const std::string kListTable = fmt::format("list table inet {}", kOwnTable);

constexpr const char* kQueueFile = "/proc/net/netfilter/nfnetlink_queue";

// By what nft lists of a table.
bool owned(const std::string& listing) {
  return listing.find("flags owner") != std::string::npos;
}

}  // namespace

NfqueueEngine::~NfqueueEngine() {
  NfqueueEngine::clear();
}

Result<void> NfqueueEngine::check(const ImpairmentPlan& plan) {
  for (const auto& egress : plan.egresses)
    if (if_nametoindex(egress.interface.c_str()) == 0)
      return refuse("{}: there is no such network interface", egress.interface);
  for (const auto& link : network_links()) {
    if (link.port_kind != "bridge") continue;
    for (const auto& egress : plan.egresses)
      if (link.name == egress.interface)
        return refuse(
            "{}: a port of a bridge: what is bridged does not pass the hook of engine nfqueue, and would not be "
            "impaired; use engine edt or netem",
            link.name);
  }
  if (!table_ && nft_.run(kListTable))
    return refuse(
        "table inet {} is in this network namespace already: another degen impairs by engine nfqueue here; end it, or "
        "use engine netem",
        kOwnTable);
  return {};
}

Result<void> NfqueueEngine::apply(const ImpairmentPlan& plan) {
  if (auto ok = check(plan); !ok) return ok;
  clear();
  if (plan.empty()) return {};
  // Schedules of both ways begin together.
  const auto begin = read_clock(CLOCK_MONOTONIC);
  try {
    // Listeners first: a rule whose queue nobody holds lets packets pass unimpaired.
    for (const auto& queue : nfqueue::queues_of(plan))
      workers_.push_back(std::make_unique<QueueWorker>(queue, options_, begin));
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

bool NfqueueEngine::clear() noexcept {
  // The rules go first: what arrives from now on is not queued, what waits is let go by the workers.
  bool gone = true;
  if (table_) {
    if (auto deleted = nft_.run(kDeleteTable); !deleted) {
      log::error("cannot remove table inet {}: {}", kOwnTable, deleted.error().message);
      gone = false;
    }
    table_ = false;
  }
  workers_.clear();
  return gone;
}

// The table is not looked for: it belongs to our socket, so nobody else can remove it.
std::optional<std::string> NfqueueEngine::missing() {
  for (const auto& worker : workers_) {
    if (worker->failed()) return fmt::format("{}: the thread of its netfilter queue has stopped", worker->interface());
    if (if_nametoindex(worker->interface().c_str()) == 0)
      return fmt::format("{}: the interface is gone", worker->interface());
  }
  return {};
}

Counters NfqueueEngine::counters(Way way) {
  Counters counters;
  if (workers_.empty()) return counters;
  std::ostringstream text;
  if (std::ifstream file{kQueueFile}) {
    text << file.rdbuf();
  } else if (!std::exchange(uncounted_, true)) {
    log::warn("what full netfilter queues drop is not counted: {} cannot be read: {}", kQueueFile, errno_text(errno));
  }
  for (const auto& worker : workers_) {
    if (worker->way() != way) continue;
    counters.overflowed += worker->overflowed() + kernel_drops(text.str(), worker->number());
    counters.dropped += worker->lost();
    counters.numbered += worker->numbered();
  }
  counters.dropped += counters.overflowed;
  return counters;
}

std::vector<Lack> NfqueueEngine::lacks() {
  std::vector<Lack> found;
  const auto note = [&](Need need, int error) {
    if (error != 0) found.push_back({.need = need, .why = errno_text(error)});
  };
  const int queues = queues_refused();
  note(Need::queues, queues);
  // Its file is there once the kernel has loaded them.
  if (queues == 0) note(Need::queue_counters, std::ifstream{kQueueFile} ? 0 : errno);
  note(Need::real_time, real_time_refused());
  return found;
}

Swept NfqueueEngine::sweep(const std::vector<std::string>&) {
  // Queues and table go with the sockets of a dead process. A table that has an owner is that of another degen, which
  // lives.
  const auto present = nft_.run(kListTable);
  if (!present || owned(*present)) return {};
  if (auto gone = nft_.run(kDeleteTable); !gone) {
    log::error("cannot remove table inet {}: {}", kOwnTable, gone.error().message);
    return {.removed = {}, .clean = false};
  }
  return {.removed = {fmt::format("nft table inet {}", kOwnTable)}, .clean = true};
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
