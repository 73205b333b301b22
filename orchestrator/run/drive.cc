#include "orchestrator/run/drive.hh"

#include "orchestrator/run/pending.hh"
#include "orchestrator/run/testbeds.hh"

namespace longhaul::orchestrator {

Driver::Driver(const Campaign& campaign, const std::vector<CampaignCell>& cells,
               const std::vector<TestbedAccess>& testbeds, Manifest manifest, Precision precision, Journal& journal,
               Sink& sink, const DriveOptions& options)
    : sink_(sink),
      ledger_(campaign, cells, std::move(manifest), std::move(precision), journal, sink, options.attempts,
              testbeds.size()) {
  for (const auto& access : testbeds)
    testbeds_.push_back(
        std::make_unique<TestbedDriver>(campaign, cells, access, testbeds_.size(), options, ledger_, sink_, stopped_));
}

Awaitable<Result<void>> Driver::run() {
  auto outcome = co_await drive();
  for (const auto& testbed : testbeds_) co_await testbed->leave();
  if (outcome) ledger_.manifest().finished = wall_now();
  auto saved = ledger_.save();
  if (outcome && !saved) outcome = saved;
  for (const auto& testbed : testbeds_) co_await testbed->close();
  co_return outcome;
}

Awaitable<Result<void>> Driver::drive() {
  for (const auto& testbed : testbeds_)
    if (auto planned = testbed->plan(); !planned) co_return planned;
  if (auto opened = ledger_.open(); !opened) co_return opened;
  if (ledger_.schedule().remaining() == 0) co_return Result<void>{};
  sink_.on(StepEvent{"connecting to the agents"});
  auto connected = co_await connect();
  if (!connected) co_return connected;

  std::vector<Pending<bool>> parts;
  for (std::size_t i = 0; i < testbeds_.size(); ++i) {
    auto part = co_await Pending<bool>::start(make_runs(*testbeds_[i], i));
    parts.push_back(std::move(part));
  }
  for (auto& part : parts) co_await part.wait();
  if (end_) co_return tl::unexpected(*end_);
  // What one that was lost has left undone, the others have made.
  if (loss_ && ledger_.schedule().remaining() > 0) co_return tl::unexpected(*loss_);
  co_return Result<void>{};
}

Awaitable<Result<void>> Driver::connect() {
  std::vector<Pending<Result<void>>> parts;
  for (const auto& testbed : testbeds_) {
    auto part = co_await Pending<Result<void>>::start(testbed->connect());
    parts.push_back(std::move(part));
  }
  Result<void> outcome;
  for (auto& part : parts) {
    auto connected = co_await part.wait();
    if (!connected && outcome) outcome = connected;
  }
  const auto& first = *testbeds_.front();
  for (const auto& other : testbeds_)
    if (outcome)
      outcome = check_alike({.name = first.name(), .testbed = first.testbed(), .facts = first.facts()},
                            {.name = other->name(), .testbed = other->testbed(), .facts = other->facts()});
  co_return outcome;
}

Awaitable<bool> Driver::make_runs(TestbedDriver& testbed, std::size_t taker) {
  auto outcome = co_await testbed.make_runs();
  ledger_.schedule().leave(taker);
  if (outcome) co_return true;
  if (!testbed.lost()) {
    if (!end_) end_ = outcome.error();
    stopped_ = true;
    co_return false;
  }
  loss_ = outcome.error();
  if (testbeds_.size() > 1) {
    sink_.on(WarningEvent{fmt::format("testbed {} is lost, the others make what it has not: {}", testbed.name(),
                                      outcome.error().message)});
    co_await testbed.leave();
  }
  co_return false;
}

}  // namespace longhaul::orchestrator
