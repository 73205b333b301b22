#include "common/sha256.hh"
#include "model/codec.hh"
#include "model/record.hh"

namespace longhaul {
namespace {

namespace json = boost::json;

// JSON gives one double in ten back with another last bit (Boost.JSON 1.81), so that a record that was stored would
// have another digest than the one that was measured. What is counted or timed is an integer, and exact.
void spell(const json::value& value, std::string& text);

void spell(const json::object& object, std::string& text) {
  text += '{';
  for (const auto& member : object) {
    text += json::serialize(json::value(member.key()));
    text += ':';
    spell(member.value(), text);
    text += ',';
  }
  text += '}';
}

void spell(const json::value& value, std::string& text) {
  if (const auto* object = value.if_object()) return spell(*object, text);
  if (const auto* array = value.if_array()) {
    text += '[';
    for (const auto& item : *array) {
      spell(item, text);
      text += ',';
    }
    text += ']';
  } else if (const auto* number = value.if_double()) {
    text += fmt::format("{:.9g}", *number);
  } else {
    text += json::serialize(value);
  }
}

}  // namespace

std::string samples_digest(const RunRecord& run) {
  std::string text;
  for (const auto& [name, record] : run.nodes) {
    auto node = codec::encode(record).as_object();
    for (const auto* when : {"window_start", "window_stop"}) node.erase(when);
    text += name + " ";
    spell(node, text);
    text += "\n";
  }
  return Sha256{}.add(text).hex();
}

}  // namespace longhaul
