// longhaul-sealed: the driver inside a sealed lab. Connects the agents, makes the runs that settle the machine, has it
// kept, makes those that warm up QEMU, has it copied, and in every copy makes the one run that its order names, by the
// same driver that runs campaigns on real nodes.
#include <termios.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "agents/identity/pki.hh"
#include "common/log.hh"
#include "degen/engines/planner.hh"
#include "degen/impairment/spec.hh"
#include "model/testbed.hh"
#include "orchestrator/run/agents.hh"
#include "orchestrator/run/drive.hh"
#include "orchestrator/run/order.hh"
#include "orchestrator/run/pending.hh"
#include "orchestrator/sealed/inject.hh"
#include "orchestrator/sealed/kept.hh"
#include "orchestrator/sealed/ports.hh"
#include "orchestrator/sealed/warm_up.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::orchestrator {
namespace {

constexpr const char* kTestbed = "/etc/longhaul/testbed.json";
constexpr int kAttemptsAfterAFault = 3;

// The driver keeps its books outside, or not at all.
class NoBooks : public Journal {
 public:
  Result<std::string> add_facts(const NodeFacts&) override { return std::string{}; }  // they were said before
  Result<void> save_manifest(const Manifest&) override { return {}; }
};

// Writes a run's outcome at once.
class SayingJournal : public NoBooks {
 public:
  Result<void> add_run(const RunRecord& record) override {
    auto said = record;
    said.facts.clear();
    say(say_record(said));
    counts_ = counts_ || longhaul::counts(said.status);
    return {};
  }
  bool counts() const { return counts_; }

 private:
  bool counts_ = false;
};

// Nothing is told of the warm-up, but every run must be ok.
class WarmUpJournal : public NoBooks {
 public:
  Result<void> add_run(const RunRecord& record) override {
    if (record.status == Status::ok) return {};
    return fail("warming up: {}: {}", record.workload, record.message);
  }
};

// What an engine is of no use for is told: a campaign may do without it.
class EnginesJournal : public NoBooks {
 public:
  Result<void> add_run(const RunRecord& record) override {
    const auto engine = choice_of(record.parameters, "engine", degen::engine_names().front());
    if (record.status != Status::ok && told_.insert(engine).second)
      say(say_remark(fmt::format("its engine {} does not work: {}", engine, record.message)));
    return {};
  }

 private:
  std::set<std::string> told_;
};

class NoSink : public Sink {
 public:
  void on(const Event&) override {}
};

Result<Testbed> read_testbed() {
  std::ifstream file(kTestbed);
  std::stringstream text;
  text << file.rdbuf();
  return testbed_from_json(text.str());
}

struct Work {
  Campaign campaign;
  std::vector<CampaignCell> cells;
  Variation variation;
  Nanoseconds limit{};  // of virtual time
  int attempts = 1;     // the same again would end in the same way
};

Result<Work> work_of(const SealedOrder& order) {
  auto file = parse_campaign("the campaign", order.campaign_text);
  if (!file) return tl::unexpected(file.error());
  auto campaign =
      understand(std::move(*file),
                 {.common = common_axes(), .impairment = degen::impairment_axes(), .workloads = workloads::catalog()});
  if (!campaign) return tl::unexpected(campaign.error());
  auto cells = expand(*campaign);
  if (!cells) return tl::unexpected(cells.error());
  set_clock(*cells, order.clock);
  campaign->repeat = {.min = 1, .max = 1, .precision = {}};
  return Work{.campaign = std::move(*campaign),
              .cells = std::move(*cells),
              .variation = order.variation,
              .limit = Nanoseconds{order.limit}};
}

// Each of the cells once, in an order that the seed gives. Returns what the links were without impairment.
Awaitable<Result<Baseline>> make_runs(Work work, Testbed testbed, Dialer& dialer, Journal& journal,
                                      std::optional<Baseline> baseline) {
  seed_kernel(work.variation.seed);
  const auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::steady_timer limit{executor, work.limit};
  limit.async_wait([seconds = work.limit.count() / 1'000'000'000](boost::system::error_code cancelled) {
    if (cancelled) return;
    say(say_trouble(fmt::format("the run did not end within {} s of virtual time", seconds)));
    end_copy();
  });
  boost::asio::steady_timer phase{executor, Nanoseconds{work.variation.phase}};
  co_await phase.async_wait(boost::asio::use_awaitable);

  NoSink sink;
  Manifest manifest;
  manifest.seed = work.variation.seed;
  manifest.testbed = testbed;
  Driver driver{work.campaign,
                work.cells,
                {{.name = {}, .testbed = testbed, .dialer = dialer}},
                std::move(manifest),
                [](const std::vector<double>&) { return std::optional<double>{}; },
                journal,
                sink,
                {.attempts = work.attempts,
                 .short_windows = true,
                 .padding = work.variation.padding,
                 .payload = work.variation.payload,
                 .token_seed = work.variation.seed,
                 .baseline = std::move(baseline)}};
  if (auto made = co_await driver.run(); !made) co_return tl::unexpected(made.error());
  co_return driver.baseline();
}

Awaitable<Result<Baseline>> warm_up(SealedOrder order, Testbed testbed, KeptDialer& kept, Journal& journal,
                                    std::optional<Baseline> baseline) {
  auto work = work_of(order);
  if (!work) co_return tl::unexpected(work.error());
  co_return co_await make_runs(std::move(*work), std::move(testbed), kept, journal, std::move(baseline));
}

Awaitable<Result<void>> serve(Testbed testbed, KeptDialer& kept) {
  auto facts = co_await kept.connect_all(testbed);
  if (!facts) co_return tl::unexpected(facts.error());
  for (const auto& [node, one] : *facts) say(say_facts(node, one));
  WarmUpJournal silent;
  EnginesJournal engines;
  const auto settling = settling_order();
  auto settled = co_await warm_up(settling, testbed, kept, silent, std::nullopt);
  if (!settled) co_return tl::unexpected(settled.error());
  const auto by_every_engine = engines_order();
  settled = co_await warm_up(by_every_engine, testbed, kept, engines, std::move(*settled));
  if (!settled) co_return tl::unexpected(settled.error());
  stop_here();  // and be kept

  const auto rehearsal = rehearsal_order();
  auto warm = co_await warm_up(rehearsal, testbed, kept, silent, std::move(*settled));
  if (!warm) co_return tl::unexpected(warm.error());
  stop_here();  // and be copied

  const auto order = order_from_json(read_order());
  if (!order) co_return tl::unexpected(order.error());
  auto work = work_of(*order);
  if (!work) co_return tl::unexpected(work.error());
  std::erase_if(work->cells, [&](const CampaignCell& cell) { return cell.id != order->cell_id; });
  if (work->cells.size() != 1) co_return fail("the order's campaign has no cell {}", order->cell_id);
  if (order->injection) {
    work->attempts = kAttemptsAfterAFault;
    const auto executor = co_await boost::asio::this_coro::executor;
    kept.interfere(order->injection->moment, [injection = *order->injection, testbed, executor] {
      say(say_injected(inject(injection, testbed, executor)));
    });
  }
  SayingJournal journal;
  auto made = co_await make_runs(*work, testbed, kept, journal, std::move(*warm));
  if (order->injection && !journal.counts()) {
    const auto* fault = find_fault(order->injection->fault);
    co_await pause(fault == nullptr ? Nanoseconds{0} : fault->lasts);
    say(say_resumed());
    made = co_await make_runs(std::move(*work), std::move(testbed), kept, journal, std::nullopt);
  }
  if (!made) co_return tl::unexpected(made.error());
  co_return Result<void>{};
}

int serve() {
  open_ports();
  const auto testbed = read_testbed();
  if (!testbed) {
    fmt::print(stderr, "longhaul-sealed: {}: {}\n", kTestbed, testbed.error().message);
    return 1;
  }
  boost::asio::io_context io{1};
  const agents::Credentials own{.ca = testbed->ca, .cert = testbed->cert, .key = testbed->key};
  const auto agents = make_agent_dialer([&own](const std::string&) { return own; }, {});
  KeptDialer kept{*agents};
  boost::asio::co_spawn(io, serve(*testbed, kept), [](std::exception_ptr broken, const Result<void>& done) {
    std::string why = done ? std::string{} : done.error().message;
    try {
      if (broken) std::rethrow_exception(broken);
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (!why.empty()) {
      say(say_trouble(why));
      fmt::print(stderr, "longhaul-sealed: {}\n", why);
      ::tcdrain(STDERR_FILENO);  // the machine ends at once, whatever its serial line has still to send
    }
    end_copy();
  });
  io.run();
  return 1;
}

// In `directory`: an authority, a controller's certificate, an agent's for each node.
int make_identities(const std::string& directory, const std::vector<std::string>& nodes) {
  const auto complain = [](const Error& error) {
    fmt::print(stderr, "longhaul-sealed: {}\n", error.message);
    return 1;
  };
  if (auto made = agents::pki_init(directory, "longhaul sealed lab"); !made) return complain(made.error());
  std::vector<agents::Identity> identities{{.role = agents::PeerRole::controller, .name = "longhaul"}};
  for (const auto& node : nodes) identities.push_back({.role = agents::PeerRole::agent, .name = node});
  for (const auto& identity : identities)
    if (auto issued = agents::pki_issue(directory, identity); !issued) return complain(issued.error());
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[1] == "serve") return serve();
  if (words.size() > 3 && words[1] == "identities") return make_identities(words[2], {words.begin() + 3, words.end()});
  fmt::print(stderr,
             "longhaul-sealed is started inside a sealed lab (longhaul run --lab --clock virtual), not by hand.\n");
  return static_cast<int>(ExitCode::usage);
}

}  // namespace
}  // namespace longhaul::orchestrator

int main(int argc, char** argv) {
  try {
    longhaul::log_to_stderr("longhaul-sealed");
    return longhaul::orchestrator::run({argv, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "longhaul-sealed: {}\n", error.what());
    return static_cast<int>(longhaul::ExitCode::failure);
  }
}
