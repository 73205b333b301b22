#include "orchestrator/run/links.hh"

#include <algorithm>

namespace longhaul::orchestrator {
namespace {

std::string choice(const Parameters& parameters, const char* name, const char* fallback) {
  const auto it = parameters.find(name);
  return it == parameters.end() ? std::string{fallback} : std::get<std::string>(it->second);
}

Result<Attachment> attachment(const Node& node, const std::string& path, const std::string& provider) {
  if (!provider.empty()) return find_attachment(node, path, provider);
  // tcp without a rival: any interface on that path will do.
  const auto it =
      std::find_if(node.attachments.begin(), node.attachments.end(), [&](const auto& a) { return a.path == path; });
  if (it == node.attachments.end()) return refuse("node {} is not attached to path {}", node.name, path);
  return *it;
}

}  // namespace

Result<std::vector<Link>> links_of(const Testbed& testbed, const std::vector<CampaignCell>& cells) {
  const auto clients = testbed.with_role(Role::client);
  const auto servers = testbed.with_role(Role::server);
  if (clients.empty() || servers.empty()) return refuse("the testbed needs a client and a server");
  const auto routers = testbed.with_role(Role::router);
  std::vector<Link> links;
  for (const auto& cell : cells) {
    const auto& parameters = cell.cell.parameters;
    const auto path = choice(parameters, "path", "wan");
    const auto provider = choice(parameters, "transport", "") == "tcp" ? choice(parameters, "rival", "")
                                                                       : choice(parameters, "provider", "");
    if (path == "wan" && routers.empty())
      return refuse("the testbed has no router, which path wan crosses; say 'path: lan' in the campaign");
    auto from = attachment(*clients.front(), path, provider);
    if (!from) return tl::unexpected(from.error());
    auto to = attachment(*servers.front(), path, provider);
    if (!to) return tl::unexpected(to.error());
    links.push_back(
        {.client = clients.front()->name, .server = servers.front()->name, .path = path, .from = *from, .to = *to});
  }
  return links;
}

}  // namespace longhaul::orchestrator
