#include "orchestrator/sealed/kept.hh"

#include <boost/asio/detached.hpp>

#include "orchestrator/run/pending.hh"

namespace longhaul::orchestrator {
namespace {

constexpr Nanoseconds kIntoTheWindow = std::chrono::milliseconds{20};

}  // namespace

class KeptDialer::View : public NodeControl {
 public:
  View(KeptDialer& dialer, const Kept& kept) : dialer_(dialer), kept_(kept) {}

  bool connected() const override { return kept_.control->connected(); }
  Awaitable<Result<NodeFacts>> facts() override { co_return kept_.facts; }
  Awaitable<Result<agents::ClockOffset>> clock() override { return kept_.control->clock(); }
  Awaitable<Result<void>> start(agents::StartRequest request) override {
    const bool server = request.role == Role::server;
    auto started = co_await kept_.control->start(std::move(request));
    if (server) dialer_.reached("start");
    co_return started;
  }
  Awaitable<Result<void>> connect_client(agents::ConnectRequest request) override {
    dialer_.reached("connect");
    co_return co_await kept_.control->connect_client(std::move(request));
  }
  Awaitable<Result<void>> stop(std::string run_id) override { return kept_.control->stop(std::move(run_id)); }
  Awaitable<Result<agents::RunEvent>> next_event(std::string run_id, Nanoseconds timeout) override {
    auto event = co_await kept_.control->next_event(std::move(run_id), timeout);
    // A timer in the window of a run that nobody disturbs would be measured, too.
    if (event && event->bench && event->bench->kind == BenchEventKind::window_start && dialer_.moment_ == "window")
      boost::asio::co_spawn(co_await boost::asio::this_coro::executor, reach_the_window(dialer_),
                            boost::asio::detached);
    if (event && event->bench && event->bench->kind == BenchEventKind::window_stop) dialer_.reached("record");
    co_return event;
  }
  Awaitable<Result<void>> probe_echo(agents::EchoRequest request) override {
    return kept_.control->probe_echo(std::move(request));
  }
  Awaitable<Result<agents::ProbeResult>> probe(agents::ProbeRequest request) override {
    return kept_.control->probe(std::move(request));
  }
  Awaitable<Result<degen::Reply>> degen(degen::Request request) override {
    if (request.kind == degen::RequestKind::apply) dialer_.reached("apply");
    if (request.kind == degen::RequestKind::measure) dialer_.reached("survey");
    if (request.kind == degen::RequestKind::clear) dialer_.reached("clear");
    co_return co_await kept_.control->degen(std::move(request));
  }
  Awaitable<void> close() override { co_return; }

 private:
  static Awaitable<void> reach_the_window(KeptDialer& dialer) {
    co_await pause(kIntoTheWindow);
    dialer.reached("window");
  }

  KeptDialer& dialer_;
  Kept kept_;
};

void KeptDialer::interfere(std::string moment, std::function<void()> act) {
  repaired_ = true;
  closed_ = false;  // as those of the warm-up were
  moment_ = std::move(moment);
  act_ = std::move(act);
}

// degen is asked and cleared before a run, too: these moments are meant behind the run's window.
void KeptDialer::reached(std::string_view moment) {
  if (moment == "record") closed_ = true;
  const bool behind = moment == "survey" || moment == "clear";
  if (moment != moment_ || (behind && !closed_)) return;
  if (const auto act = std::exchange(act_, nullptr)) act();
}

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
  if (found == nodes_.end()) co_return fail("the agent of {} is lost", node.name);
  if (!found->second.control->connected()) {
    if (!repaired_) co_return fail("the agent of {} is lost", node.name);
    auto anew = co_await dialer_.connect(node);
    if (!anew) co_return tl::unexpected(anew.error());
    found->second.control = std::move(*anew);
  }
  std::unique_ptr<NodeControl> view = std::make_unique<View>(*this, found->second);
  co_return view;
}

std::string KeptDialer::hopeless() {
  if (repaired_) return {};
  for (const auto& [name, kept] : nodes_)
    if (!kept.control->connected()) return fmt::format("the agent of {} is lost", name);
  return {};
}

}  // namespace longhaul::orchestrator
