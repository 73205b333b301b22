#include "orchestrator/run/examination.hh"

#include "orchestrator/run/tokens.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kProbes = 10;
constexpr Nanoseconds kInterval = std::chrono::milliseconds{20};
constexpr Nanoseconds kPatience = std::chrono::seconds{1};

using Controls = std::map<std::string, std::unique_ptr<NodeControl>>;

// A node's answer, and the connection to it if it answered.
struct Asked {
  Examined examined;
  std::unique_ptr<NodeControl> control;
};

Awaitable<Asked> ask(Node node, Dialer& dialer) {
  Asked asked;
  auto control = co_await dialer.connect(node);
  if (!control) {
    asked.examined.unreachable = control.error().message;
    co_return asked;
  }
  auto facts = co_await (*control)->facts();
  if (!facts) {
    asked.examined.unreachable = facts.error().message;
    co_return asked;
  }
  asked.examined.facts = std::move(*facts);
  asked.examined.certificate = (*control)->certificate();
  if (node.role == Role::router) {
    degen::Request request;
    request.kind = degen::RequestKind::show;
    const auto reply = co_await (*control)->degen(std::move(request));
    if (!reply)
      asked.examined.degen = reply.error().message;
    else if (reply->report)
      asked.examined.lacks = reply->report->lacks;
  }
  asked.control = std::move(*control);
  co_return asked;
}

Awaitable<TriedPath> try_path(TriedPath path, NodeControl& client, NodeControl& server) {
  agents::EchoRequest echo{.address = path.to, .on = true, .token = random_token()};
  agents::ProbeRequest probes{.local = path.from,
                              .peer = path.to,
                              .token = echo.token,
                              .count = kProbes,
                              .interval = kInterval.count(),
                              .timeout = kPatience.count()};
  const auto echoing = co_await server.probe_echo(echo);
  if (!echoing) {
    path.error = echoing.error().message;
    co_return path;
  }
  const auto result = co_await client.probe(std::move(probes));
  if (result) {
    path.sent = result->sent;
    path.came = result->round_trips.size();
  } else {
    path.error = result.error().message;
  }
  echo.on = false;
  co_await server.probe_echo(std::move(echo));
  co_return path;
}

}  // namespace

Awaitable<Examination> examine(const Testbed& testbed, Dialer& dialer) {
  Examination examination;
  Controls controls;
  for (const auto& node : testbed.nodes) {
    auto asked = co_await ask(node, dialer);
    examination.nodes.emplace(node.name, std::move(asked.examined));
    if (asked.control) controls.emplace(node.name, std::move(asked.control));
  }
  for (const auto* client : testbed.with_role(Role::client)) {
    for (const auto* server : testbed.with_role(Role::server)) {
      const auto from = controls.find(client->name);
      const auto to = controls.find(server->name);
      if (from == controls.end() || to == controls.end()) continue;
      for (const auto& near : client->attachments) {
        for (const auto& far : server->attachments) {
          if (near.path != far.path || near.provider != far.provider) continue;
          TriedPath path{.client = client->name,
                         .server = server->name,
                         .path = near.path,
                         .from = near.address,
                         .to = far.address};
          auto tried = co_await try_path(std::move(path), *from->second, *to->second);
          examination.paths.push_back(std::move(tried));
        }
      }
    }
  }
  for (auto& [name, control] : controls) co_await control->close();
  co_return examination;
}

}  // namespace longhaul::orchestrator
