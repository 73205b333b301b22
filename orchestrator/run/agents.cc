#include "orchestrator/run/agents.hh"

#include "agents/protocol/controller.hh"

namespace longhaul::orchestrator {
namespace {

class AgentControl : public NodeControl {
 public:
  explicit AgentControl(agents::Controller controller) : controller_(std::move(controller)) {}

  bool connected() const override { return controller_.connected(); }
  agents::Term certificate() const override { return controller_.agent().term; }
  Awaitable<Result<NodeFacts>> facts() override { return controller_.facts(); }
  Awaitable<Result<agents::ClockOffset>> clock() override { return controller_.clock(); }
  Awaitable<Result<void>> start(agents::StartRequest request) override { return controller_.start(std::move(request)); }
  Awaitable<Result<void>> connect_client(agents::ConnectRequest request) override {
    return controller_.connect_client(std::move(request));
  }
  Awaitable<Result<void>> stop(std::string run_id) override { return controller_.stop(std::move(run_id)); }
  Awaitable<Result<agents::RunEvent>> next_event(std::string run_id, Nanoseconds timeout) override {
    return controller_.next_event(std::move(run_id), timeout);
  }
  Awaitable<Result<void>> probe_echo(agents::EchoRequest request) override {
    return controller_.probe_echo(std::move(request));
  }
  Awaitable<Result<agents::ProbeResult>> probe(agents::ProbeRequest request) override {
    return controller_.probe(std::move(request));
  }
  Awaitable<Result<degen::Reply>> degen(degen::Request request) override {
    return controller_.degen(std::move(request));
  }
  Awaitable<void> close() override { return controller_.close(); }

 private:
  agents::Controller controller_;
};

class AgentDialer : public Dialer {
 public:
  AgentDialer(CredentialsOf credentials, std::function<std::string()> hopeless)
      : credentials_(std::move(credentials)), hopeless_(std::move(hopeless)) {}

  Awaitable<Result<std::unique_ptr<NodeControl>>> connect(Node node) override {
    const auto credentials = credentials_(node.name);
    auto controller = co_await agents::Controller::connect(std::move(node), credentials);
    if (!controller) co_return tl::unexpected(controller.error());
    std::unique_ptr<NodeControl> control = std::make_unique<AgentControl>(std::move(*controller));
    co_return control;
  }

  std::string hopeless() override { return hopeless_ ? hopeless_() : std::string{}; }

 private:
  CredentialsOf credentials_;
  std::function<std::string()> hopeless_;
};

}  // namespace

std::unique_ptr<Dialer> make_agent_dialer(CredentialsOf credentials, std::function<std::string()> hopeless) {
  return std::make_unique<AgentDialer>(std::move(credentials), std::move(hopeless));
}

}  // namespace longhaul::orchestrator
