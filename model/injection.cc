#include "model/injection.hh"

#include <fmt/format.h>

#include <algorithm>

namespace longhaul {
namespace {

using namespace std::chrono_literals;

const std::vector<std::string> kPrograms = {"agent@client", "agent@server", "agent@router",
                                            "bench@client", "bench@server", "degen"};
// Longer than any program waits for another one without a word (agents' and degen's leases: 5 s).
constexpr Nanoseconds kLasts = 10s;

template <typename Specs, typename Name>
std::string list(const Specs& specs, Name name) {
  std::string text;
  for (const auto& spec : specs) text += (text.empty() ? "" : ", ") + name(spec);
  return text;
}

}  // namespace

const std::vector<FaultSpec>& fault_specs() {
  static const std::vector<FaultSpec> specs{
      {.name = "kill", .targets = kPrograms, .text = "SIGKILL; the node's supervisor starts agents and degen again"},
      {.name = "oom",
       .targets = kPrograms,
       .text = "the kernel's OOM killer, made to choose this process (oom_score_adj, sysrq f)"},
      {.name = "stop", .targets = kPrograms, .lasts = kLasts, .text = "SIGSTOP, and SIGCONT after 10 s"},
      {.name = "partition",
       .targets = {"agent@client", "agent@server", "agent@router"},
       .lasts = kLasts,
       .text = "no packet passes between the controller and this agent, for 10 s"},
      {.name = "power-off",
       .targets = {"node@client", "node@server", "node@router"},
       .lasts = kLasts,
       .text =
           "all programs of the node are gone at once, and no packet passes to it, from it or through it, for 10 s"},
      {.name = "disk-full", .targets = {"/run", "/"}, .lasts = kLasts, .text = "not a byte is left there, for 10 s"},
      {.name = "clock-step", .targets = {"forward", "back"}, .text = "CLOCK_REALTIME of all nodes steps by an hour"},
      {.name = "reset",
       .targets = {"machine", "driver"},
       .fatal = true,
       .text = "the machine (sysrq b), or the driver in it (SIGKILL), is gone from one instruction to the next"},
  };
  return specs;
}

const std::vector<MomentSpec>& run_moments() {
  static const std::vector<MomentSpec> moments{
      {"apply", "degen is about to be told the impairment"},
      {"start", "the run's processes are started and wait for each other"},
      {"connect", "the client is about to be told where its server is"},
      {"window", "in the measured window, 20 ms after it has opened"},
      {"record", "the window has just closed: records are on their way"},
      {"survey", "the path is about to be measured once more"},
      {"clear", "the run is over and kept, degen is about to be told to clear the impairment"},
  };
  return moments;
}

InjectionTarget target_of(const Injection& injection) {
  const auto at = injection.target.find('@');
  if (at == std::string::npos) return {.program = injection.target, .role = {}};
  return {.program = injection.target.substr(0, at), .role = injection.target.substr(at + 1)};
}

std::vector<Injection> all_injections() {
  std::vector<Injection> all;
  for (const auto& fault : fault_specs())
    for (const auto& target : fault.targets)
      for (const auto& moment : run_moments())
        all.push_back({.fault = fault.name, .target = target, .moment = moment.name});
  return all;
}

std::string to_words(const Injection& injection) {
  return fmt::format("{} {} at {}", injection.fault, injection.target, injection.moment);
}

Result<Injection> injection_from_words(std::string_view words) {
  const auto first = words.find(' ');
  const auto at = words.rfind(" at ");
  if (first == std::string_view::npos || at == std::string_view::npos || at <= first)
    return refuse("'{}': expected FAULT TARGET at MOMENT, such as 'kill bench@client at window'", words);
  Injection injection{.fault = std::string{words.substr(0, first)},
                      .target = std::string{words.substr(first + 1, at - first - 1)},
                      .moment = std::string{words.substr(at + 4)}};
  const auto name = [](const auto& spec) { return spec.name; };
  const auto* fault = find_fault(injection.fault);
  if (fault == nullptr)
    return refuse("'{}': there is no fault '{}'; there are {}", words, injection.fault, list(fault_specs(), name));
  if (std::ranges::find(fault->targets, injection.target) == fault->targets.end())
    return refuse("'{}': {} hits {}, not '{}'", words, injection.fault,
                  list(fault->targets, [](const std::string& target) { return target; }), injection.target);
  if (std::ranges::find(run_moments(), injection.moment, &MomentSpec::name) == run_moments().end())
    return refuse("'{}': a run has no moment '{}'; it has {}", words, injection.moment, list(run_moments(), name));
  return injection;
}

const FaultSpec* find_fault(std::string_view name) {
  const auto found = std::ranges::find(fault_specs(), name, &FaultSpec::name);
  return found == fault_specs().end() ? nullptr : &*found;
}

}  // namespace longhaul
