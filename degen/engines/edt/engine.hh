// Engine edt: earliest departure times. A program in the kernel sets each packet's delivery time from its arrival, and
// fq, the root qdisc where it leaves the router, holds it until then. (E. Dumazet and V. Jacobson, "Evolving from AFAP:
// Teaching NICs about time", netdev 0x12, 2018.)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "degen/engines/edt/messages.hh"
#include "degen/engines/edt/programs.hh"
#include "degen/engines/engine.hh"
#include "degen/engines/tc/root_qdiscs.hh"

namespace longhaul::degen {

class EdtEngine : public Engine {
 public:
  explicit EdtEngine(const EngineOptions& options) : alive_(options.alive) {}
  ~EdtEngine() override;

  std::string_view name() const override { return "edt"; }
  Result<void> check(const ImpairmentPlan& plan) override;
  Result<void> apply(const ImpairmentPlan& plan) override;
  bool clear() noexcept override;
  std::optional<std::string> missing() override;
  Counters counters(Way way) override;
  std::optional<Nanoseconds> renew() override;
  Swept sweep(const std::vector<std::string>& interfaces) override;

 private:
  struct Applied {
    EdtLink link;
    EdtPrograms programs;
  };
  Result<void> check_filters(const std::string& interface);
  Result<void> hold(const EdtLink& link);
  void extend();
  Result<void> attach(const std::string& interface, Hook hook, int program);
  std::vector<FilterFacts> filters(int index, Hook hook);
  std::optional<QdiscFacts> clsact(int index);
  bool has_own_filter(int index, Hook hook);
  /// Removes degen's filters, and their clsact where it is degen's and nobody else uses it.
  Swept detach(const std::string& interface) noexcept;
  Swept remove_filters(const std::string& interface);

  std::function<void()> alive_;
  RootQdiscs roots_;
  std::vector<Applied> applied_;
  std::vector<std::string> touched_;   ///< interfaces with filters of ours
  std::vector<std::string> arrivals_;  ///< those of them by which packets come in
  Nanoseconds until_{0};               ///< end of the lease
  std::uint32_t generation_ = 0;       ///< of terms
};

namespace edt {

std::unique_ptr<Engine> make_engine(const EngineOptions& options);

}

}  // namespace longhaul::degen
