// Engine netem: the kernel's network emulator as root qdisc of the interfaces by which packets leave the router.
#pragma once

#include <string>
#include <vector>

#include "degen/engines/engine.hh"
#include "degen/engines/netem/qdisc_message.hh"
#include "degen/engines/tc/root_qdiscs.hh"

namespace longhaul::degen {

class NetemEngine : public Engine {
 public:
  NetemEngine();
  ~NetemEngine() override;

  std::string_view name() const override { return "netem"; }
  Result<void> check(const ImpairmentPlan& plan) override;
  Result<void> apply(const ImpairmentPlan& plan) override;
  bool clear() noexcept override;
  std::optional<std::string> missing() override;
  Counters counters(Way way) override;
  bool draws_by_seed() const override;
  std::optional<Nanoseconds> renew() override;
  Swept sweep(const std::vector<std::string>& interfaces) override;

 private:
  Result<void> put(const std::vector<NetemQdisc>& qdiscs);

  std::string release_;
  RootQdiscs roots_;
  ImpairmentPlan plan_;
  Nanoseconds begin_{0};  ///< of its schedules
  std::vector<NetemQdisc> applied_;
};

namespace netem {

std::unique_ptr<Engine> make_engine(const EngineOptions& options);

}

}  // namespace longhaul::degen
