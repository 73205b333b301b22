#include "orchestrator/run/links.hh"

#include <algorithm>
#include <optional>

namespace longhaul::orchestrator {
namespace {

std::size_t client_nodes(const Parameters& parameters) {
  return static_cast<std::size_t>(integer_of(parameters, "client_nodes", 1));
}

Result<Attachment> attachment(const Node& node, const std::string& path, const std::string& provider) {
  if (!provider.empty()) return find_attachment(node, path, provider);
  // tcp without a rival: any interface on that path will do.
  const auto it =
      std::find_if(node.attachments.begin(), node.attachments.end(), [&](const auto& a) { return a.path == path; });
  if (it == node.attachments.end()) return refuse("node {} is not attached to path {}", node.name, path);
  return *it;
}

std::string provider_of(const Parameters& parameters) {
  const auto* transport = find_transport(choice_of(parameters, "transport"));
  const bool any_link = transport != nullptr && !transport->provider.empty();
  return choice_of(parameters, any_link ? "rival" : "provider");
}

struct End {
  const Node* node = nullptr;
  Attachment attachment;
};

// Those that a cell can use, in the inventory's order. None: why the first cannot be.
Result<std::vector<End>> ends_on(const std::vector<const Node*>& nodes, const std::string& path,
                                 const std::string& provider) {
  std::vector<End> ends;
  std::optional<Error> why;
  for (const auto* node : nodes) {
    auto found = attachment(*node, path, provider);
    if (found)
      ends.push_back({node, std::move(*found)});
    else if (!why)
      why = found.error();
  }
  if (ends.empty()) return tl::unexpected(*why);
  return ends;
}

// For a local workload: any attachment will do that has the device to measure.
Result<Link> local_link(const Node& node, const Parameters& parameters) {
  Link link{.client = node.name, .server = {}, .path = {}, .from = {}, .to = {}};
  if (choice_of(parameters, "transport").empty()) return link;
  const auto provider = provider_of(parameters);
  const auto it = std::find_if(node.attachments.begin(), node.attachments.end(),
                               [&](const auto& a) { return provider.empty() || a.provider == provider; });
  if (it != node.attachments.end()) {
    link.from = *it;
    return link;
  }
  const auto missing = find_attachment(node, "wan", provider);
  return tl::unexpected(missing.error());
}

}  // namespace

std::vector<Link> paths_of(const Link& link) {
  if (link.local()) return {};
  std::vector<Link> paths{link};
  paths.front().beside.clear();
  paths.insert(paths.end(), link.beside.begin(), link.beside.end());
  return paths;
}

std::size_t most_clients(const std::vector<CampaignCell>& cells) {
  std::size_t most = 1;
  for (const auto& cell : cells) most = std::max(most, client_nodes(cell.cell.parameters));
  return most;
}

Result<std::vector<Link>> links_of(const Testbed& testbed, const std::vector<CampaignCell>& cells) {
  const auto clients = testbed.with_role(Role::client);
  const auto servers = testbed.with_role(Role::server);
  const bool all_local = std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.local; });
  if (clients.empty() || (servers.empty() && !all_local)) return refuse("the testbed needs a client and a server");
  const auto routers = testbed.with_role(Role::router);
  std::vector<Link> links;
  for (const auto& cell : cells) {
    const auto& parameters = cell.cell.parameters;
    if (cell.local) {
      auto link = local_link(*clients.front(), parameters);
      if (!link) return tl::unexpected(link.error());
      links.push_back(std::move(*link));
      continue;
    }
    const auto path = choice_of(parameters, "path", "wan");
    const auto provider = provider_of(parameters);
    if (path == "wan" && routers.empty())
      return refuse("the testbed has no router, which path wan crosses; say 'path: lan' in the campaign");
    const auto serving = ends_on(servers, path, provider);
    if (!serving) return tl::unexpected(serving.error());
    const auto sending = ends_on(clients, path, provider);
    if (!sending) return tl::unexpected(sending.error());
    const auto wanted = client_nodes(parameters);
    if (wanted > sending->size())
      return refuse("client_nodes: a cell of {} wants {} client nodes, the testbed has {} (a lab: --nodes {})",
                    cell.cell.workload, wanted, sending->size(), wanted + servers.size() + routers.size());
    const auto& to = serving->front();
    std::vector<Link> ends;
    for (std::size_t i = 0; i < wanted; ++i) {
      const auto& from = (*sending)[i];
      ends.push_back({.client = from.node->name,
                      .server = to.node->name,
                      .path = path,
                      .from = from.attachment,
                      .to = to.attachment});
    }
    auto link = ends.front();
    link.beside.assign(ends.begin() + 1, ends.end());
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace longhaul::orchestrator
