// A driver with all that it needs, in memory.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/run/drive.hh"
#include "tests/orchestrator/fake.hh"
#include "tests/orchestrator/fixture.hh"

namespace longhaul::orchestrator::testing {

inline const std::string kDriven =
    "name: n\nworkload: ping\nseries:\n  - {transport: rdma, provider: rxe}\n  - {transport: tcp, rival: siw}\n"
    "axes: {delay: [0, 5ms]}\nfixed: {duration: 100ms, warmup: 0}\nrepeat: {min: 2}\n";  // 4 cells, 8 runs

/// A campaign on a testbed in memory, session by session.
class Drive : public ::testing::Test {
 protected:
  Drive() : campaign_(*read(kDriven)), cells_(*expand(campaign_)) {
    options_.connect_timeout = options_.return_timeout = std::chrono::milliseconds{300};
    options_.setup_timeout = std::chrono::milliseconds{300};
    options_.window_grace = std::chrono::milliseconds{300};
  }

  virtual std::vector<TestbedAccess> testbeds() { return {{.name = {}, .testbed = world_.testbed, .dialer = world_}}; }

  // One session; what the journal holds is resumed.
  Result<void> session() {
    boost::asio::io_context io;
    Manifest manifest;
    manifest.seed = 7;
    manifest.wall = journal_.manifest.wall;
    manifest.version = version_;
    Driver driver{campaign_, cells_, testbeds(), manifest, [](const auto&) { return std::nullopt; },
                  journal_,  sink_,  options_};
    std::vector<EarlierRun> earlier;
    for (const auto& run : journal_.runs)
      earlier.push_back({run.cell_id, run.repetition, run.attempt, run.status,
                         headline(run, campaign_.experiments.front().workload)});
    driver.resume(earlier);
    interrupt_ = [&driver] { driver.interrupt(); };
    std::optional<Result<void>> outcome;
    over_ = false;
    boost::asio::co_spawn(io, driver.run(), [&](std::exception_ptr error, Result<void> value) {
      if (error) std::rethrow_exception(error);
      over_ = true;
      outcome = std::move(value);
    });
    if (beside_) boost::asio::co_spawn(io, beside_(), boost::asio::detached);
    io.run();
    return outcome.value_or(fail("the driver did not end"));
  }

  std::map<std::string, int> good_runs() const {
    std::map<std::string, int> counts;
    for (const auto& run : journal_.runs)
      if (longhaul::counts(run.status)) ++counts[run.cell_id];
    return counts;
  }

  void expect_complete() const {
    const auto counts = good_runs();
    EXPECT_EQ(counts.size(), cells_.size());
    for (const auto& [cell, count] : counts) EXPECT_EQ(count, 2) << cell;
    std::set<std::string> ids;
    for (const auto& run : journal_.runs) EXPECT_TRUE(ids.insert(run.run_id).second) << run.run_id << " twice";
  }

  Campaign campaign_;
  std::vector<CampaignCell> cells_;
  FakeTestbed world_;
  MemoryJournal journal_;
  MemorySink sink_;
  DriveOptions options_;
  std::string version_;  // of the manifest
  std::function<void()> interrupt_;
  std::function<Awaitable<void>()> beside_;  // runs on the same loop, until over_
  bool over_ = false;
  const std::thread::id test_ = std::this_thread::get_id();
};

}  // namespace longhaul::orchestrator::testing
