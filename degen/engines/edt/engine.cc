#include "degen/engines/edt/engine.hh"

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "common/log.hh"
#include "degen/engines/clock.hh"
#include "degen/engines/tc/kernel_release.hh"

namespace longhaul::degen {
namespace {

constexpr Hook kHooks[] = {Hook::ingress, Hook::egress};

// As bpf_ktime_get_ns().
Nanoseconds now() {
  return read_clock(CLOCK_MONOTONIC);
}

std::string_view name_of(Hook hook) {
  return hook == Hook::ingress ? "ingress" : "egress";
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

EdtEngine::~EdtEngine() {
  EdtEngine::clear();
}

std::vector<FilterFacts> EdtEngine::filters(int index, Hook hook) {
  std::vector<FilterFacts> filters;
  try {
    roots_.socket().dump(dump_filters_message(index, hook), [&](const nlmsghdr& message) {
      if (auto facts = parse_filter(message)) filters.push_back(std::move(*facts));
    });
  } catch (const std::system_error& e) {
    if (e.code().value() != EOPNOTSUPP) throw;  // a kernel that knows no filters has none
  }
  return filters;
}

std::optional<QdiscFacts> EdtEngine::clsact(int index) {
  std::optional<QdiscFacts> found;
  roots_.socket().dump(dump_qdiscs_message(), [&](const nlmsghdr& message) {
    if (auto facts = parse_qdisc(message); facts && facts->index == index && holds_filters(*facts)) found = *facts;
  });
  return found;
}

Result<void> EdtEngine::check(const ImpairmentPlan& plan) {
  if (auto ok = edt::check_kernel(kernel_release()); !ok) return ok;
  if (auto ok = roots_.check(plan); !ok) return ok;
  for (const auto& interface : planner(name()).footprint(plan).interfaces)
    if (auto ok = check_filters(interface); !ok) return ok;
  return {};
}

Result<void> EdtEngine::check_filters(const std::string& interface) {
  const int index = index_of(interface);
  if (index == 0) return refuse("{}: there is no such network interface", interface);
  if (const auto holder = clsact(index); holder && holder->kind != "clsact")
    return refuse(
        "{}: a qdisc {} that is not degen's stands where engine edt needs clsact; it is left alone. Remove it (tc "
        "qdisc "
        "del dev {} {}) or use engine netem or nfqueue",
        interface, holder->kind, interface, holder->kind);
  for (const auto hook : kHooks)
    for (const auto& filter : filters(index, hook))
      if (filter.in_the_way())
        return refuse(
            "{}: a filter that is not degen's stands at {} with degen's priority {}: {} {}; it is left alone. Give it "
            "another priority (tc filter show dev {} {}) or use engine netem or nfqueue",
            interface, name_of(hook), kOwnPriority, filter.kind, filter.name, interface, name_of(hook));
  return {};
}

Result<void> EdtEngine::apply(const ImpairmentPlan& plan) {
  if (auto ok = check(plan); !ok) return ok;
  const auto links = edt::links_of(plan);
  const auto arrivals = edt::arrivals_of(plan);
  std::vector<Applied> next;
  ++generation_;
  const auto begin = now();  // of the schedules of both ways
  try {
    for (const auto& link : links) {
      if (alive_) alive_();  // the kernel looks at each program for a while
      std::vector<std::uint32_t> origins;
      for (const auto& origin : link.origins) origins.push_back(static_cast<std::uint32_t>(index_of(origin)));
      until_ = now() + kEdtLease;
      next.push_back({.link = link,
                      .programs = EdtPrograms{edt::terms_of(link, origins, link.seed, generation_, begin),
                                              edt::moments_of(link), edt::faults_of(link), until_}});
    }
  } catch (const std::system_error& e) {
    clear();
    return fail("{}", e.what());
  }
  // Objects that the plan no longer names go first; the others are changed in place and keep their packets.
  const auto stays = planner(name()).footprint(plan).interfaces;
  for (const auto& interface : touched_)
    if (!contains(stays, interface) && !detach(interface).clean)
      return fail("{}: degen's filters could not be removed (see degen's log)", interface);
  for (const auto& old : applied_) {
    const bool kept =
        std::any_of(links.begin(), links.end(), [&](const auto& l) { return l.interface == old.link.interface; });
    if (!kept && roots_.remove(old.link.interface).outcome == Removal::failed)
      return fail("{}: degen's qdisc could not be removed (see degen's log)", old.link.interface);
  }
  // The old programs serve until the filters have the new ones.
  const auto old = std::exchange(applied_, std::move(next));
  touched_ = stays;
  arrivals_ = arrivals;
  Result<void> done;
  for (const auto& [link, programs] : applied_) {
    if (done) done = hold(link);
    if (done) done = attach(link.interface, Hook::egress, programs.depart());
  }
  for (const auto& interface : arrivals)
    if (done) done = attach(interface, Hook::ingress, applied_.front().programs.arrive());
  // A filter of the plan before may stand where this one needs none.
  for (const auto& interface : touched_) {
    if (!done) break;
    const bool leaves =
        std::any_of(links.begin(), links.end(), [&](const auto& link) { return link.interface == interface; });
    if (!leaves) roots_.socket().request(delete_filter_message(index_of(interface), Hook::egress));
    if (!contains(arrivals, interface))
      roots_.socket().request(delete_filter_message(index_of(interface), Hook::ingress));
  }
  if (done)
    extend();
  else
    clear();
  return done;
}

// From when it is in force, however long that took.
void EdtEngine::extend() {
  until_ = now() + kEdtLease;
  for (auto& one : applied_) one.programs.renew(until_);
}

Result<void> EdtEngine::hold(const EdtLink& link) {
  const int index = index_of(link.interface);
  const auto root = RootQdiscs::find(roots_.present(), index);
  const bool ours = judge_root(root) == RootState::ours;
  const int error =
      roots_.socket().request(fq_message(index, link.fq, ours ? QdiscRequest::change : QdiscRequest::create));
  if (error == 0) return {};
  if (error == ENOENT) return fail("{}: this kernel has no fq (module sch_fq)", link.interface);
  return fail("{}: the kernel refused fq: {}", link.interface, errno_text(error));
}

Result<void> EdtEngine::attach(const std::string& interface, Hook hook, int program) {
  const int index = index_of(interface);
  auto name = kOwnFilter;
  if (!clsact(index)) {
    if (const int error = roots_.socket().request(clsact_message(index)); error != 0) {
      if (error == ENOENT) return fail("{}: this kernel has no clsact (module sch_ingress)", interface);
      return fail("{}: the kernel refused clsact: {}", interface, errno_text(error));
    }
    name = kOwnFilterAndClsact;
  }
  // Both filters of an interface tell the same, and a new one what the old one told.
  for (const auto each : kHooks)
    for (const auto& filter : filters(index, each))
      if (filter.ours() && filter.name == kOwnFilterAndClsact) name = kOwnFilterAndClsact;
  const int error = roots_.socket().request(filter_message(index, hook, program, name));
  if (error == 0) return {};
  // A clsact without a filter could not be told from somebody else's.
  if (name == kOwnFilterAndClsact && filters(index, Hook::ingress).empty() && filters(index, Hook::egress).empty())
    roots_.socket().request(delete_clsact_message(index));
  if (error == ENOENT) return fail("{}: this kernel has no filters by BPF (module cls_bpf)", interface);
  return fail("{}: the kernel refused the filter at {}: {}", interface, name_of(hook), errno_text(error));
}

Swept EdtEngine::detach(const std::string& interface) noexcept {
  try {
    return remove_filters(interface);
  } catch (const std::exception& e) {
    log::error("{}: cannot remove what engine edt made: {}", interface, e.what());
    return {.removed = {}, .clean = false};
  }
}

Swept EdtEngine::remove_filters(const std::string& interface) {
  Swept swept;
  const int index = index_of(interface);
  if (index == 0) return swept;  // it went, and its filters with it
  bool own_clsact = false;
  bool others = false;
  for (const auto hook : kHooks) {
    for (const auto& filter : filters(index, hook)) {
      // Each priority is described by itself, too, without a handle.
      if (!filter.ours()) {
        others |= filter.priority != kOwnPriority || filter.handle != 0;
        continue;
      }
      const int error = roots_.socket().request(delete_filter_message(index, hook));
      if (error != 0 && error != ENOENT) {
        log::error("{}: cannot remove degen's filter at {}: {}", interface, name_of(hook), errno_text(error));
        others = true;
        swept.clean = false;
        continue;
      }
      own_clsact |= filter.name == kOwnFilterAndClsact;
      swept.removed.push_back(fmt::format("BPF filter {} at {} of {}", filter.name, name_of(hook), interface));
    }
  }
  if (!own_clsact || others) return swept;
  if (const int error = roots_.socket().request(delete_clsact_message(index)); error != 0 && error != ENOENT) {
    log::error("{}: cannot remove degen's clsact: {}", interface, errno_text(error));
    swept.clean = false;
  } else {
    swept.removed.push_back(fmt::format("clsact on {}", interface));
  }
  return swept;
}

bool EdtEngine::clear() noexcept {
  // The programs go first: what arrives from now on waits for nothing.
  bool gone = true;
  for (const auto& interface : touched_) gone = detach(interface).clean && gone;
  for (const auto& one : applied_) gone = roots_.remove(one.link.interface).outcome != Removal::failed && gone;
  touched_.clear();
  arrivals_.clear();
  applied_.clear();
  return gone;
}

bool EdtEngine::has_own_filter(int index, Hook hook) {
  const auto all = filters(index, hook);
  return std::any_of(all.begin(), all.end(), [](const FilterFacts& filter) { return filter.ours(); });
}

std::optional<std::string> EdtEngine::missing() {
  std::vector<std::string> leaving;
  for (const auto& one : applied_) leaving.push_back(one.link.interface);
  if (auto what = roots_.missing(leaving)) return what;
  const auto gone = [&](const std::string& interface, Hook hook) -> std::optional<std::string> {
    const int index = index_of(interface);
    if (index == 0) return fmt::format("{}: the interface is gone", interface);
    if (has_own_filter(index, hook)) return {};
    return fmt::format("{}: degen's filter at {} is gone: somebody removed it, or made the interface anew", interface,
                       name_of(hook));
  };
  for (const auto& interface : leaving)
    if (auto what = gone(interface, Hook::egress)) return what;
  for (const auto& interface : arrivals_)
    if (auto what = gone(interface, Hook::ingress)) return what;
  return {};
}

Counters EdtEngine::counters(Way way) {
  Counters counters;
  if (applied_.empty()) return counters;
  const auto present = roots_.present();
  for (const auto& [link, programs] : applied_) {
    if (link.way != way) continue;
    const auto state = programs.state();
    counters.overflowed += state.overflowed;
    counters.dropped += state.lost;
    counters.numbered += state.numbered;
    // What fq itself dropped was too much for it.
    const auto root = RootQdiscs::find(present, index_of(link.interface));
    if (judge_root(root) == RootState::ours) counters.overflowed += root->drops;
  }
  counters.dropped += counters.overflowed;
  return counters;
}

std::optional<Nanoseconds> EdtEngine::renew() {
  if (applied_.empty()) return {};
  const auto time = now();
  // What was measured meanwhile counts for nothing, so whoever measures has to hear of it.
  if (time > until_)
    throw std::runtime_error(fmt::format("degen was held up: packets passed unimpaired for {} ms",
                                         std::chrono::ceil<std::chrono::milliseconds>(time - until_).count()));
  extend();
  return kEdtRenewal;
}

Swept EdtEngine::sweep(const std::vector<std::string>& interfaces) {
  Swept swept;
  for (const auto& interface : interfaces) {
    auto filters = detach(interface);
    for (auto& what : filters.removed) swept.removed.push_back(std::move(what));
    const auto root = roots_.remove(interface);
    if (root.outcome == Removal::removed)
      swept.removed.push_back(fmt::format("{} qdisc {:x}: on {}", root.kind, kOwnHandle, interface));
    swept.clean = swept.clean && filters.clean && root.outcome != Removal::failed;
  }
  return swept;
}

std::unique_ptr<Engine> edt::make_engine(const EngineOptions& options) {
  return std::make_unique<EdtEngine>(options);
}

}  // namespace longhaul::degen
