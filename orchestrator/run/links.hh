// Chooses the attachments between which a cell runs. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/testbed.hh"
#include "orchestrator/campaign/cells.hh"

namespace longhaul::orchestrator {

/// The two ends of a cell's path, and those of further clients where a cell wants several. A workload that runs by
/// itself has one end, on the first client node: no server, no path.
struct Link {
  std::string client;  ///< node names
  std::string server;
  std::string path;
  Attachment from;                ///< the client's; of one by itself that of its provider, empty without a transport
  Attachment to;                  ///< the server's
  std::vector<Link> beside = {};  ///< from the further clients to the same server
  bool local() const { return server.empty(); }
  bool operator==(const Link& other) const {
    return client == other.client && server == other.server && from.address == other.from.address &&
           to.address == other.to.address && beside == other.beside;
  }
};

/// All paths that a link's traffic takes, one a client; none where its workload runs by itself.
std::vector<Link> paths_of(const Link& link);

/// The largest number of client nodes that a cell takes.
std::size_t most_clients(const std::vector<CampaignCell>& cells);

/// The link of every cell, in their order: between the first server and the first clients of the inventory that are
/// attached to its path by its provider. Refuses what the testbed does not have: a provider, a path, a router to
/// impair, as many client nodes as a cell asks for (client_nodes).
Result<std::vector<Link>> links_of(const Testbed& testbed, const std::vector<CampaignCell>& cells);

}  // namespace longhaul::orchestrator
