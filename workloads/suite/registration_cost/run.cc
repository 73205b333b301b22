#include "workloads/suite/registration_cost/run.hh"

#include <algorithm>

#include "common/log.hh"
#include "common/median.hh"
#include "observe/clock.hh"
#include "workloads/harness/local.hh"
#include "workloads/harness/session.hh"
#include "workloads/suite/registration_cost/kernel.hh"
#include "workloads/suite/registration_cost/method.hh"
#include "workloads/suite/registration_cost/steps.hh"

namespace longhaul::workloads::registration_cost {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHuge = std::size_t{2} << 20;
constexpr std::uint32_t kPartIterations = 20;  // of what is measured beside
constexpr int kTraced = 20;

Presence presence_of(const std::string& word) {
  if (word == "absent") return Presence::absent;
  return word == "file" ? Presence::file : Presence::present;
}

struct Collected {
  Samples mapping;
  Samples registering;
  Samples deregistering;
};

// Until `duration` is over and `fewest` are done.
Collected collect(LocalSession& session, Method& method, Nanoseconds duration, std::uint64_t fewest) {
  Collected all;
  const auto began = observe::raw_time();
  for (std::uint64_t done = 0;; ++done) {
    const auto elapsed = observe::raw_time() - began;
    if (elapsed >= duration && done >= fewest) return all;
    session.check_stop();
    if (duration > Nanoseconds{0}) session.progress(std::min(1.0, ratio(elapsed, duration)));
    const auto times = method.once();
    all.mapping.add(times.mapping, kRawSamples);
    all.registering.add(times.registering, kRawSamples);
    all.deregistering.add(times.deregistering, kRawSamples);
  }
}

// The median of times (ns) for all pages as ns a page.
Metric per_page(const std::vector<std::uint64_t>& all, std::size_t pages) {
  return to_metric(static_cast<double>(upper_median(all)) / static_cast<double>(pages), all.size());
}

// Costs of a page's steps by themselves (paper R, table 2), where they can be had.
void add_parts(LocalSession& session, Mapping& mapping, Presence presence, std::size_t page,
               std::map<std::string, Metric>& metrics) {
  const auto pages = (mapping.size() + page - 1) / page;
  if (presence == Presence::absent) {
    std::vector<std::uint64_t> touching;
    for (std::uint32_t i = 0; i < kPartIterations; ++i) {
      session.check_stop();
      mapping.renew();
      const auto began = observe::raw_time();
      mapping.touch(page);
      touching.push_back(static_cast<std::uint64_t>((observe::raw_time() - began).count()));
    }
    metrics["fault"] = per_page(touching, pages);
  }
  const auto module = KernelModule::open();
  if (!module || page != kPage || presence == Presence::file) return;
  metrics["zero"] = per_page(module->run(LONGHAUL_REG_ZERO, pages * page, kPartIterations).first, pages);
  if (presence != Presence::present) return;
  const auto pinned = module->run(LONGHAUL_REG_PIN, pages * page, kPartIterations, {}, mapping.data());
  metrics["pin"] = per_page(pinned.first, pages);
  metrics["unpin"] = per_page(pinned.second, pages);
}

void add_steps(LocalSession& session, Method& method, std::map<std::string, Metric>& metrics) {
  if (session.number("trace") == 0) return;
  if (!Trace::possible()) {
    log::warn("totals only, without their steps: nobody here may trace the kernel, only a lab's nodes have a helper");
    return;
  }
  std::vector<Nanoseconds> registering;
  Trace trace{traced_functions()};
  for (int i = 0; i < kTraced; ++i) {
    session.check_stop();
    registering.push_back(method.once().registering);
  }
  const auto steps = steps_of(read_calls(trace.end()), std::move(registering));
  if (!steps) return;
  const auto add = [&](const char* name, Nanoseconds value) {
    metrics[name] = to_metric(static_cast<double>(std::max(value, Nanoseconds{0}).count()), kTraced);
  };
  add("step_pinning", steps->pinning);
  add("step_translating", steps->translating);
  add("step_handing_over", steps->handing_over);
  add("step_rest", steps->rest);
}

std::map<std::string, Metric> local(LocalSession& session) {
  const auto size = static_cast<std::size_t>(session.number("size"));
  const auto page = static_cast<std::size_t>(session.number("page_size"));
  const auto how = session.word("method");
  const auto presence = presence_of(session.word("pages"));
  if (page != kPage && page != kHuge) throw WrongInput("--page-size is 4KiB or 2MiB");
  if (how != "reg_mr" && (presence != Presence::present || page != kPage))
    throw Unsupported(how +
                      " takes memory that is there already, in pages of 4 KiB: leave --pages and --page-size out");
  const Adapter adapter{session.device()};
  session.set_transport({.transport = "rdma",
                         .provider = adapter.device.provider,
                         .device = adapter.device.name,
                         .netdev = adapter.device.netdev,
                         .local_address = adapter.device.address});
  Mapping mapping{size, presence, page == kHuge};
  const auto method = how == "window" ? make_window(adapter, mapping)
                      : how == "reg_mr"
                          ? make_reg_mr(adapter, mapping)
                          : make_kernel(adapter, (size + kPage - 1) / kPage * kPage, how == "kernel_fast");
  collect(session, *method, session.duration("warmup"), 1);
  session.open_window();
  const auto samples = collect(session, *method, session.duration("duration"),
                               static_cast<std::uint64_t>(session.number("min_samples")));
  session.close_window();

  std::map<std::string, Metric> metrics{{"register", to_metric(samples.registering)},
                                        {"deregister", to_metric(samples.deregistering)}};
  if (how != "reg_mr") return metrics;
  if (presence == Presence::absent) metrics["map"] = to_metric(samples.mapping);
  add_parts(session, mapping, presence, page, metrics);
  add_steps(session, *method, metrics);
  return metrics;
}

}  // namespace

Runner runner() {
  return {.workload = "registration", .local = local};
}

}  // namespace longhaul::workloads::registration_cost
