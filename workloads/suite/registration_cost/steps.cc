#include "workloads/suite/registration_cost/steps.hh"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <sstream>

#include "common/error.hh"
#include "common/log.hh"
#include "common/median.hh"
#include "common/well_known.hh"
#include "workloads/harness/helper.hh"

namespace longhaul::workloads::registration_cost {
namespace {

constexpr Nanoseconds kHelperTime = std::chrono::seconds{10};

// A provider's names for the same: the call that registers, what lists the pages within it, what pins them within that.
struct Names {
  const char* whole;
  const char* listing;
  const char* pinning;
};
constexpr Names kProviders[] = {{"rxe_reg_user_mr", "ib_umem_get", "pin_user_pages_fast"},
                                {"siw_reg_user_mr", "siw_umem_get", "pin_user_pages"},
                                // Linux 6.12: within ib_umem_get, which siw_umem_get calls there.
                                {"siw_reg_user_mr", "siw_umem_get", "pin_user_pages_fast"}};

}  // namespace

Calls read_calls(std::string_view text) {
  struct Probe {
    std::string function;
    bool enters;
  };
  std::map<int, Probe> probes;
  std::map<std::string, std::int64_t> entered;
  Calls calls;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    if (line.starts_with("enter ") || line.starts_with("leave ")) {
      std::string way, function;
      int id = 0;
      if (words >> way >> id >> function) probes[id] = {function, way == "enter"};
      continue;
    }
    std::int64_t thread = 0, processor = 0, time = 0;
    int id = 0;
    std::string type;
    if (!(words >> thread >> processor >> time >> type >> id) || type != "type:") continue;
    const auto probe = probes.find(id);
    if (probe == probes.end()) continue;
    const auto& function = probe->second.function;
    if (probe->second.enters) {
      entered[function] = time;
    } else if (const auto begun = entered.extract(function)) {
      calls[function].emplace_back(time - begun.mapped());
    }
  }
  return calls;
}

const std::vector<std::string>& traced_functions() {
  static const std::vector<std::string> all = [] {
    // A function with two probes would be seen to enter twice.
    std::set<std::string> names;
    for (const auto& provider : kProviders) names.insert({provider.whole, provider.listing, provider.pinning});
    return std::vector<std::string>{names.begin(), names.end()};
  }();
  return all;
}

std::optional<Steps> steps_of(const Calls& calls, std::vector<Nanoseconds> registering) {
  for (const auto& provider : kProviders) {
    const auto whole = calls.find(provider.whole);
    const auto listing = calls.find(provider.listing);
    const auto pinning = calls.find(provider.pinning);
    if (whole == calls.end() || listing == calls.end() || pinning == calls.end() || registering.empty()) continue;
    // Large memory is pinned in several calls.
    const auto pinned = std::accumulate(pinning->second.begin(), pinning->second.end(), Nanoseconds{0}) /
                        static_cast<std::int64_t>(whole->second.size());
    const auto pins_each = pinning->second.size() / std::max<std::size_t>(whole->second.size(), 1);
    const auto pin = pins_each == 1 ? upper_median(pinning->second) : pinned;
    const auto all = upper_median(whole->second);
    const auto list = upper_median(listing->second);
    return Steps{.pinning = pin,
                 .translating = list - pin,
                 .handing_over = all - list,
                 .rest = upper_median(std::move(registering)) - all};
  }
  return std::nullopt;
}

bool Trace::possible() {
  return has_helper(kTracingPipe);
}

Trace::Trace(const std::vector<std::string>& functions) : name_(fmt::format("bench-{}", ::getpid())) {
  tell_helper(kTracingPipe, fmt::format("start {} {} {}", name_, ::gettid(), fmt::join(functions, " ")));
  await_helper(fmt::format("{}-{}.on", kTracingPipe, name_), kHelperTime);
}

Trace::~Trace() {
  if (!on_) return;
  try {
    tell_helper(kTracingPipe, "stop " + name_);
  } catch (const std::system_error& error) {
    log::warn("the kernel may still be traced: {}", error.what());
  }
}

std::string Trace::end() {
  tell_helper(kTracingPipe, "stop " + name_);
  on_ = false;
  return await_helper(fmt::format("{}-{}.txt", kTracingPipe, name_), kHelperTime);
}

}  // namespace longhaul::workloads::registration_cost
