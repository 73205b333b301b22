// The order to a copy of a sealed lab, and its answer: one document in, lines out. Pure.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.hh"
#include "model/facts.hh"
#include "model/injection.hh"
#include "model/record.hh"
#include "model/units.hh"

namespace longhaul::orchestrator {

/// Conditions that must not matter to a result, varied between the repetitions of a cell: when a run begins, where its
/// processes' stacks lie (Mytkowicz and others, ASPLOS 2009), what is random, what bytes messages have. Cells of the
/// same repetition share it: what is compared is paired.
struct Variation {
  std::uint64_t seed = 0;    ///< of the kernel's random numbers: netem's, ports, hashes
  std::int64_t phase = 0;    ///< ns that the run begins later, against the kernel's tick
  std::int64_t padding = 0;  ///< bytes that the processes' environments are longer
  std::int64_t payload = 0;  ///< which pattern messages are filled with: the parameter `payload` of workloads
};
BOOST_DESCRIBE_STRUCT(Variation, (), (seed, phase, padding, payload))

/// Of a campaign's seed and what tells the repetition from others. The payload of repetition 0 is the parameter's
/// default.
Variation vary(std::uint64_t campaign_seed, int repetition, int attempt);

/// One run: a cell of a campaign, which the copy expands as we did. Nothing that may not matter to a result is in it:
/// its length alone moves what a copy does. So not what the campaign's file is called.
struct SealedOrder {
  std::string campaign_text;
  std::string clock;  ///< of the cells
  std::string cell_id;
  int repetition = 0;
  int attempt = 0;
  Variation variation;
  std::int64_t limit = 0;  ///< ns of virtual time after which the copy gives up
  /// Into the first attempt. The run is tried again in the same copy, as on a testbed that lives on; where no attempt
  /// counts, once more when the fault is over, as `--resume` does.
  std::optional<Injection> injection = {};
};
BOOST_DESCRIBE_STRUCT(SealedOrder, (),
                      (campaign_text, clock, cell_id, repetition, attempt, variation, limit, injection))

std::string to_json(const SealedOrder& order);
Result<SealedOrder> order_from_json(std::string_view text);

/// One line of a sealed guest's output: a word and a document behind it.
struct Saying {
  std::map<std::string, NodeFacts> facts;  ///< by node, before it was kept
  std::vector<std::string> remarks;        ///< for people, before it was kept
  std::vector<RunRecord> records;          ///< of a run: the last counts
  std::optional<std::size_t> resumed;      ///< so many of them are of the session before that
  std::string injected;  ///< kInjectionDone, or why the order's injection could not be; empty: not reached
  std::string trouble;   ///< why there is no record
};
std::string say_facts(const std::string& node, const NodeFacts& facts);
std::string say_remark(const std::string& what);
std::string say_record(const RunRecord& record);
std::string say_trouble(const std::string& why);
/// That the session ended without a run that counts, and another one begins.
std::string say_resumed();
std::string say_injected(const Result<void>& outcome);
Result<Saying> understand_saying(std::string_view said);

/// The run's parameters with that payload, where the workload has one and the campaign does not name it.
Parameters vary_payload(Parameters parameters, const WorkloadSpec& workload, std::int64_t payload);

/// Windows by a virtual clock are as short as their quantiles allow: nothing is noise, but every instruction is
/// emulated. kShortWindow and kShortWindowRoundTrips, never longer than the parameters say; of samples so few, unless
/// the parameters say how many. Not where the path changes with time.
inline constexpr std::chrono::milliseconds kShortWindow{64};
inline constexpr int kShortWindowRoundTrips = 5;
Parameters shorten_window(Parameters parameters, const WorkloadSpec& workload, Nanoseconds round_trip);

}  // namespace longhaul::orchestrator
