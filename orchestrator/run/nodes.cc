#include "orchestrator/run/nodes.hh"

#include <algorithm>

#include "orchestrator/run/pending.hh"

namespace longhaul::orchestrator {
namespace {

constexpr Nanoseconds kRetry = std::chrono::milliseconds{100};

}  // namespace

Awaitable<Result<void>> Nodes::connect(const Node& node, Nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  Error last;
  for (;;) {
    if (stopped_()) co_return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    auto control = co_await dialer_.connect(node);
    if (control) {
      std::shared_ptr<NodeControl> shared = std::move(*control);
      auto facts = co_await shared->facts();
      auto echoing = Result<void>{};
      if (facts) {
        for (const auto& address : echoes_[node.name]) {
          agents::EchoRequest echo{.address = address, .on = true, .token = token_};
          echoing = co_await shared->probe_echo(std::move(echo));
          if (!echoing) break;
        }
      }
      if (facts && echoing) {
        controls_[node.name] = std::move(shared);
        facts_[node.name] = std::move(*facts);
        co_return Result<void>{};
      }
      last = facts ? echoing.error() : facts.error();
    } else {
      last = control.error();
      if (last.exit_code == ExitCode::usage) co_return tl::unexpected(last);  // a wrong certificate stays wrong
    }
    if (const auto reason = dialer_.hopeless(); !reason.empty()) co_return fail("{}: {}", last.message, reason);
    if (std::chrono::steady_clock::now() + kRetry >= deadline) co_return tl::unexpected(last);
    co_await pause(kRetry);
  }
}

Awaitable<Result<std::vector<std::string>>> Nodes::ensure(Nanoseconds timeout) {
  std::vector<std::string> names;
  std::vector<Pending<Result<void>>> tasks;
  for (const auto& node : testbed_.nodes) {
    const auto it = controls_.find(node.name);
    if (it != controls_.end() && it->second->connected()) continue;
    names.push_back(node.name);
    auto task = co_await Pending<Result<void>>::start(connect(node, timeout));
    tasks.push_back(std::move(task));
  }
  Result<void> outcome;
  for (auto& task : tasks) {
    auto one = co_await task.wait();
    if (!one && outcome) outcome = one;
  }
  if (!outcome) co_return tl::unexpected(outcome.error());
  co_return names;
}

bool Nodes::connected(const std::string& node) const {
  const auto it = controls_.find(node);
  return it != controls_.end() && it->second->connected();
}

bool Nodes::all_connected() const {
  return std::all_of(testbed_.nodes.begin(), testbed_.nodes.end(),
                     [this](const Node& node) { return connected(node.name); });
}

Awaitable<Result<agents::ProbeResult>> Nodes::probe(const Link& link, std::int64_t count, Nanoseconds interval,
                                                    Nanoseconds timeout) {
  agents::ProbeRequest request{.local = link.from.address,
                               .peer = link.to.address,
                               .token = token_,
                               .count = count,
                               .interval = interval.count(),
                               .timeout = timeout.count(),
                               .seed = probings_++};
  // The coroutine holds the connection, which may be lost and made anew meanwhile.
  return
      [](std::shared_ptr<NodeControl> control, agents::ProbeRequest asked) -> Awaitable<Result<agents::ProbeResult>> {
        co_return co_await control->probe(std::move(asked));
      }(at(link.client), std::move(request));
}

Awaitable<void> Nodes::close() {
  for (auto& [name, control] : controls_)
    if (control->connected()) co_await control->close();
  controls_.clear();
}

}  // namespace longhaul::orchestrator
