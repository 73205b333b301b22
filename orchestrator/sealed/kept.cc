#include "orchestrator/sealed/kept.hh"

namespace longhaul::orchestrator {

class KeptDialer::View : public NodeControl {
 public:
  explicit View(const Kept& kept) : kept_(kept) {}

  bool connected() const override { return kept_.control->connected(); }
  Awaitable<Result<NodeFacts>> facts() override { co_return kept_.facts; }
  Awaitable<Result<agents::ClockOffset>> clock() override { return kept_.control->clock(); }
  Awaitable<Result<void>> start(agents::StartRequest request) override {
    return kept_.control->start(std::move(request));
  }
  Awaitable<Result<void>> connect_client(agents::ConnectRequest request) override {
    return kept_.control->connect_client(std::move(request));
  }
  Awaitable<Result<void>> stop(std::string run_id) override { return kept_.control->stop(std::move(run_id)); }
  Awaitable<Result<agents::RunEvent>> next_event(std::string run_id, Nanoseconds timeout) override {
    return kept_.control->next_event(std::move(run_id), timeout);
  }
  Awaitable<Result<void>> probe_echo(agents::EchoRequest request) override {
    return kept_.control->probe_echo(std::move(request));
  }
  Awaitable<Result<agents::ProbeResult>> probe(agents::ProbeRequest request) override {
    return kept_.control->probe(std::move(request));
  }
  Awaitable<Result<degen::Reply>> degen(degen::Request request) override {
    return kept_.control->degen(std::move(request));
  }
  Awaitable<void> close() override { co_return; }

 private:
  Kept kept_;
};

Awaitable<Result<std::map<std::string, NodeFacts>>> KeptDialer::connect_all(Testbed testbed) {
  std::map<std::string, NodeFacts> all;
  for (const auto& node : testbed.nodes) {
    auto control = co_await dialer_.connect(node);
    if (!control) co_return tl::unexpected(control.error());
    Kept kept{.control = std::move(*control), .facts = {}};
    auto facts = co_await kept.control->facts();
    if (!facts) co_return tl::unexpected(facts.error());
    kept.facts = *facts;
    all.emplace(node.name, std::move(*facts));
    nodes_.emplace(node.name, std::move(kept));
  }
  co_return all;
}

Awaitable<Result<std::unique_ptr<NodeControl>>> KeptDialer::connect(Node node) {
  const auto found = nodes_.find(node.name);
  if (found == nodes_.end() || !found->second.control->connected())
    co_return fail("the agent of {} is lost", node.name);
  std::unique_ptr<NodeControl> view = std::make_unique<View>(found->second);
  co_return view;
}

std::string KeptDialer::hopeless() {
  for (const auto& [name, kept] : nodes_)
    if (!kept.control->connected()) return fmt::format("the agent of {} is lost", name);
  return {};
}

}  // namespace longhaul::orchestrator
