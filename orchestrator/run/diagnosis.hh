// Diagnoses a testbed from its nodes' answers, before any cell runs. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/identity/expiry.hh"
#include "degen/impairment/lack.hh"
#include "model/facts.hh"
#include "model/testbed.hh"

namespace longhaul::orchestrator {

/// A node's answer.
struct Examined {
  std::optional<std::string> unreachable;  ///< why; then nothing else is known
  NodeFacts facts;
  agents::Term certificate = {};          ///< of its agent
  std::optional<std::string> degen = {};  ///< of a router: why its degen does not answer
  std::vector<degen::Lack> lacks = {};    ///< of a router: what its degen cannot have
};

/// True if packets go from a client's attachment to a server's and back.
struct TriedPath {
  std::string client;  ///< node names
  std::string server;
  std::string path;
  std::string from;  ///< addresses
  std::string to;
  std::uint64_t sent = 0;
  std::uint64_t came = 0;
  std::string error;  ///< why it could not be tried; empty: it was
};

struct Complaint {
  bool serious = true;  ///< cells will fail, or mean something else; otherwise advice
  std::string node;     ///< empty: the testbed as a whole
  std::string what;
  std::string remedy;
};

/// Who asks, and when.
struct Asker {
  std::string version;            ///< version_text()
  std::string name;               ///< as in its certificate
  agents::Term certificate = {};  ///< of the controller
  agents::WallTime now{};
};

/// By node, serious ones first.
std::vector<Complaint> diagnose(const Testbed& testbed, const std::map<std::string, Examined>& nodes,
                                const std::vector<TriedPath>& paths, const Asker& asker);

}  // namespace longhaul::orchestrator
