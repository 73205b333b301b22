// Which attachments of a testbed a cell runs between. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/testbed.hh"
#include "orchestrator/campaign/cells.hh"

namespace longhaul::orchestrator {

/// The two ends of a cell's path.
struct Link {
  std::string client;  ///< node names
  std::string server;
  std::string path;
  Attachment from;  ///< the client's
  Attachment to;    ///< the server's
  bool operator==(const Link& other) const {
    return client == other.client && server == other.server && from.address == other.from.address &&
           to.address == other.to.address;
  }
};

/// The link of every cell, in their order. Refuses what the testbed does not have: a provider, a path, a router to
/// impair.
Result<std::vector<Link>> links_of(const Testbed& testbed, const std::vector<CampaignCell>& cells);

}  // namespace longhaul::orchestrator
