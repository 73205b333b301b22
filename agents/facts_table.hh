// A node's facts for people.
#pragma once

#include <string>

#include "model/facts.hh"

namespace longhaul::agents {

std::string facts_table(const NodeFacts& facts);

}  // namespace longhaul::agents
