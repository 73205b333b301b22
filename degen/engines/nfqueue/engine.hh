// Engine nfqueue: packets are queued by netfilter's forward hook and held here until arrival + delay (the way of the
// paper's degen, section 3, from user space). Needs no module beyond nft_queue and works on any interface.
#pragma once

#include <memory>
#include <vector>

#include "degen/engines/engine.hh"
#include "degen/engines/nfqueue/nft.hh"
#include "degen/engines/nfqueue/queue_worker.hh"

namespace longhaul::degen {

class NfqueueEngine : public Engine {
 public:
  explicit NfqueueEngine(const EngineOptions& options) : options_(options) {}
  ~NfqueueEngine() override;

  std::string_view name() const override { return "nfqueue"; }
  Result<void> check(const ImpairmentPlan& plan) override;
  Result<void> apply(const ImpairmentPlan& plan) override;
  bool clear() noexcept override;
  std::optional<std::string> missing() override;
  Counters counters(Way way) override;
  std::vector<Lack> lacks() override;
  Swept sweep(const std::vector<std::string>& interfaces) override;

 private:
  EngineOptions options_;
  Nft nft_;
  std::vector<std::unique_ptr<QueueWorker>> workers_;
  bool table_ = false;
  bool uncounted_ = false;  // said that the kernel's drops cannot be read
};

namespace nfqueue {

std::unique_ptr<Engine> make_engine(const EngineOptions& options);

}

/// Packets that the kernel dropped before user space saw them, by queue number: text of
/// /proc/net/netfilter/nfnetlink_queue. Pure.
std::uint64_t kernel_drops(const std::string& text, std::uint16_t queue);

}  // namespace longhaul::degen
