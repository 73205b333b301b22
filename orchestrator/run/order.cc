#include "orchestrator/run/order.hh"

#include <algorithm>

#include "common/random.hh"
#include "model/codec.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kTick = 4'000'000;  // ns: Debian's kernel ticks at 250 Hz
constexpr std::int64_t kPage = 4096;       // a stack that is moved by a page lies as it did
constexpr std::int64_t kAlignment = 16;
constexpr std::int64_t kPayloads = 256;        // of the workloads' parameter
constexpr std::int64_t kFewestOperations = 5;  // of six repetitions each, which differ by what may not matter
constexpr int kWarmRoundTrips = 2;
constexpr Nanoseconds kWarmUp = std::chrono::milliseconds{8};

constexpr std::string_view kFacts = "facts ", kRecord = "record ", kRemark = "remark ", kTrouble = "trouble ",
                           kInjected = "injected ", kResumed = "resumed";

// What a sealed lab says is read whole: it must not be longer than an honest one can make it.
constexpr std::size_t kLongestLine = std::size_t{16} << 20;  // as an agent's message, which a record comes in elsewhere
constexpr std::size_t kMostNodes = 64;
constexpr std::size_t kMostRemarks = 16;
constexpr std::size_t kMostRecords = 16;       // attempts of two sessions
constexpr std::size_t kLongestReason = 16384;  // of words for people; the rest is cut

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void shorten(Parameters& parameters, const WorkloadSpec& workload, const char* name, Nanoseconds to) {
  const auto* spec = find_parameter(workload.parameters, name);
  if (spec == nullptr || spec->kind != Kind::duration) return;
  const auto found = parameters.find(name);
  const auto asked = found != parameters.end() ? found->second : spec->fallback.value_or(Value{to.count()});
  parameters.insert_or_assign(name,
                              Value{std::min(std::get<std::int64_t>(asked), static_cast<std::int64_t>(to.count()))});
}

}  // namespace

Variation vary(std::uint64_t campaign_seed, int repetition, int attempt) {
  Random random{campaign_seed ^ (0x766172696174U + 0x100000001b3U * static_cast<std::uint64_t>(repetition) +
                                 0x10000000233U * static_cast<std::uint64_t>(attempt))};
  Variation variation;
  variation.seed = random.next();
  variation.phase = static_cast<std::int64_t>(random.below(kTick));
  variation.padding = static_cast<std::int64_t>(random.below(kPage / kAlignment)) * kAlignment;
  if (repetition > 0) variation.payload = static_cast<std::int64_t>(random.below(kPayloads));
  return variation;
}

std::string to_json(const SealedOrder& order) {
  return codec::serialize(order);
}

Result<SealedOrder> order_from_json(std::string_view text) {
  auto order = codec::parse<SealedOrder>(text);
  if (!order || !order->injection) return order;
  if (const auto known = injection_from_words(to_words(*order->injection)); !known)
    return refuse("the order's injection: {}", known.error().message);
  return order;
}

std::string say_facts(const std::string& node, const NodeFacts& facts) {
  return fmt::format("{}{} {}\n", kFacts, node, to_json(facts));
}

std::string say_remark(const std::string& what) {
  return fmt::format("{}{}\n", kRemark, one_line(what));
}

std::string say_record(const RunRecord& record) {
  return fmt::format("{}{}\n", kRecord, to_json(record));
}

std::string say_trouble(const std::string& why) {
  return fmt::format("{}{}\n", kTrouble, one_line(why));
}

std::string say_resumed() {
  return fmt::format("{}\n", kResumed);
}

std::string say_injected(const Result<void>& outcome) {
  return fmt::format("{}{}\n", kInjected, outcome ? std::string{kInjectionDone} : one_line(outcome.error().message));
}

Result<Saying> understand_saying(std::string_view said) {
  Saying saying;
  while (!said.empty()) {
    const auto end = std::min(said.find('\n'), said.size());
    auto line = said.substr(0, end);
    said.remove_prefix(std::min(end + 1, said.size()));
    if (line.size() > kLongestLine)
      return fail("the sealed lab said a line of {} bytes, at most {} are read", line.size(), kLongestLine);
    if (line.starts_with(kFacts)) {
      line.remove_prefix(kFacts.size());
      const auto space = std::min(line.find(' '), line.size());
      auto facts = codec::parse<NodeFacts>(line.substr(space));
      if (!facts) return fail("the sealed lab's facts: {}", facts.error().message);
      saying.facts.emplace(line.substr(0, space), std::move(*facts));
      if (saying.facts.size() > kMostNodes)
        return fail("the sealed lab said the facts of more than {} nodes", kMostNodes);
    } else if (line.starts_with(kRemark)) {
      if (saying.remarks.size() < kMostRemarks)
        saying.remarks.emplace_back(line.substr(kRemark.size(), kLongestReason));
    } else if (line.starts_with(kRecord)) {
      auto record = run_record_from_json(line.substr(kRecord.size()));
      if (!record) return fail("the sealed lab's record: {}", record.error().message);
      if (saying.records.size() == kMostRecords)
        return fail("the sealed lab said more than {} records of one run, the last: {}", kMostRecords,
                    saying.records.back().message.substr(0, kLongestReason));
      saying.records.push_back(std::move(*record));
    } else if (line == kResumed) {
      saying.resumed = saying.records.size();
    } else if (line.starts_with(kInjected)) {
      saying.injected = line.substr(kInjected.size(), kLongestReason);
    } else if (line.starts_with(kTrouble)) {
      saying.trouble = line.substr(kTrouble.size(), kLongestReason);
    }
  }
  return saying;
}

Parameters vary_payload(Parameters parameters, const WorkloadSpec& workload, std::int64_t payload) {
  if (payload > 0 && find_parameter(workload.parameters, "payload") != nullptr)
    parameters.try_emplace("payload", Value{payload});
  return parameters;
}

Parameters shorten_window(Parameters parameters, const WorkloadSpec& workload, Nanoseconds round_trip) {
  if (!workload.window_may_shrink) return parameters;
  shorten(parameters, workload, "duration", kShortWindow + kShortWindowRoundTrips * round_trip);
  shorten(parameters, workload, "warmup", kWarmUp + kWarmRoundTrips * round_trip);
  if (find_parameter(workload.parameters, "min_samples") != nullptr)
    parameters.try_emplace("min_samples", Value{kFewestOperations});
  return parameters;
}

}  // namespace longhaul::orchestrator
