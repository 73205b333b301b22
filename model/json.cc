// The JSON of the small documents; records have their own file because they are versioned.
#include "model/codec.hh"
#include "model/event.hh"
#include "model/facts.hh"

namespace longhaul {

std::string to_json(const BenchEvent& event) {
  return codec::serialize(event);
}
Result<BenchEvent> bench_event_from_json(std::string_view text) {
  return codec::parse<BenchEvent>(text);
}

std::string to_json(const NodeFacts& facts) {
  return codec::serialize(facts);
}
Result<NodeFacts> node_facts_from_json(std::string_view text) {
  return codec::parse<NodeFacts>(text);
}

}  // namespace longhaul
